import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineRoute } from "../../src/api/route.ts";
import { startTinyApp, type TinyApp } from "../support/app/tiny-app.ts";

const route = defineRoute("GET /thing", {
  access: "public",
  status: 200,
  summary: "A test.",
  response: z.object({ ok: z.boolean() }),
  handle: async () => ({ ok: true }),
});
const APP = "https://app.example.org";

let open: TinyApp;
let shut: TinyApp;
beforeAll(async () => {
  open = await startTinyApp([route], {
    settings: { CORS_ORIGINS: APP },
  });
  shut = await startTinyApp([route]);
});
afterAll(() => Promise.all([open.close(), shut.close()]));

const ask = (app: TinyApp, origin: string, method = "GET") =>
  fetch(`${app.url}/v1/thing`, {
    method,
    headers: { origin, ...(method === "OPTIONS" ? { "access-control-request-method": "GET" } : {}) },
  });

test("a page of an allowed origin may read answers and send preflights", async () => {
  const answer = await ask(open, APP);
  expect([
    answer.status,
    answer.headers.get("access-control-allow-origin"),
    answer.headers.get("vary"),
  ]).toEqual([200, APP, "Origin"]);
  expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
  const preflight = await ask(open, APP, "OPTIONS");
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get("access-control-allow-headers")).toContain("Authorization");
});

test("the headers of OpenAI's clients pass, and no others that a page asks for", async () => {
  const asked = "authorization,x-stainless-os,X-Stainless-Retry-Count, x-evil, x-stainless-\u00e9";
  const preflight = await fetch(`${open.url}/v1/thing`, {
    method: "OPTIONS",
    headers: {
      origin: APP,
      "access-control-request-method": "POST",
      "access-control-request-headers": asked,
    },
  });
  const allowed = preflight.headers.get("access-control-allow-headers")!.split(", ");
  expect(allowed).toEqual(expect.arrayContaining(["x-stainless-os", "x-stainless-retry-count"]));
  expect(allowed.filter((name) => /evil|\u00e9/.test(name))).toEqual([]);
});

test("a page may read every header of ours", async () => {
  const shown = (await ask(open, APP)).headers.get("access-control-expose-headers")!.toLowerCase();
  for (const name of ["retry-after", "ratelimit-remaining", "warning", "x-request-id", "x-dropped-messages"])
    expect(shown.split(", ")).toContain(name);
});

test("other origins may not, nor any by default", async () => {
  for (const answer of [await ask(open, "https://evil.example.org"), await ask(shut, APP)]) {
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, null]);
    expect(answer.headers.get("cross-origin-resource-policy")).toBe("same-origin");
  }
  expect((await ask(shut, APP, "OPTIONS")).status).toBe(405);
});
