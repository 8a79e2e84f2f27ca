/** What leaves the API: answers, refusals and failures, their headers and their log lines. */
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import Koa from "koa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { docsRoutes } from "../../src/api/routes/service/docs.ts";
import { defineRoute } from "../../src/api/route.ts";
import { listen } from "../../src/api/server.ts";
import { THING_ROUTES, ask as askAt, json, waitsWasAborted } from "../support/app/thing-routes.ts";
import { startTinyApp, type TinyApp } from "../support/app/tiny-app.ts";

const begun = Promise.withResolvers<void>();
const leftRoute = defineRoute("GET /left", {
  access: "public",
  status: 200,
  summary: "Works until its client leaves.",
  async handle({ request: { signal } }) {
    begun.resolve();
    await sleep(60_000, undefined, { signal });
  },
});

let app: TinyApp;
beforeAll(async () => {
  app = await startTinyApp([...THING_ROUTES, leftRoute, ...docsRoutes(THING_ROUTES)]);
});
afterAll(() => app.close());

const ask = (method: string, path: string, init?: RequestInit) => askAt(app.url, method, path, init);

test("credentials are checked before anything else", async () => {
  const answer = await ask("GET", "/v1/locked/no-id");
  expect(answer.status).toBe(401);
  expect(answer.headers.get("www-authenticate")).toBe("Bearer");
  expect(await ask("GET", "/v1/download")).toMatchObject({ status: 403 });
});

test("a client that is still sending reads an early refusal", async () => {
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(65_536));
    },
  });
  const answer = await ask("POST", "/v1/upload", { body, duplex: "half" } as RequestInit);
  expect(answer.status).toBe(401);
  expect(answer.headers.get("connection")).toBe("close");
});

test("a refusal of a short request leaves the connection open", async () => {
  const answer = await ask("POST", "/v1/upload", json({ name: "a" }));
  expect([answer.status, answer.headers.get("connection")]).toEqual([401, "keep-alive"]);
});

test("an unexpected failure hides its cause, and the log says under the request's id where it was", async () => {
  const answer = await ask("GET", "/v1/fails", { headers: { "x-request-id": "trace-42" } });
  expect(answer).toMatchObject({ status: 500, body: { detail: "Internal Server Error" } });
  expect(answer.headers.get("x-request-id")).toBe("trace-42");
  const line = app.logged.find(
    (entry) => entry.includes("failed unexpectedly") && entry.includes("trace-42"),
  );
  expect(line).toContain("thing-routes.ts");
  expect(line).not.toContain("select * from secrets");
});

test("an answer that breaks its own contract is a 500, not a leak", async () => {
  const answer = await ask("GET", "/v1/leaks");
  expect(answer).toMatchObject({ status: 500, body: { detail: "Internal Server Error" } });
});

test("a request id that is not a sane token is replaced", async () => {
  const answer = await ask("GET", "/v1/text", { headers: { "x-request-id": "a b;{}" } });
  expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
});

test("an outage says when to try again, and whether it helps", async () => {
  expect((await ask("GET", "/v1/busy")).headers.get("retry-after")).toBe("7");
  const down = await ask("GET", "/v1/down");
  expect(down).toMatchObject({ status: 503, body: { detail: "The database is not reachable." } });
  expect(Number(down.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await ask("GET", "/v1/rejected")).headers.get("x-should-retry")).toBe("false");
});

test("raw and streamed answers are sent as they are", async () => {
  const text = await ask("GET", "/v1/text");
  expect(text).toMatchObject({ status: 200, text: "# Hi" });
  expect(text.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
  expect(text.headers.get("etag")).toBe('"1"');
  expect((await ask("GET", "/v1/events")).text).toBe("data: 1\n\n");
});

test("the signal of a request is aborted when its client goes away", async () => {
  const stop = new AbortController();
  const response = await fetch(`${app.url}/v1/waits`, { signal: stop.signal });
  expect(response.status).toBe(200);
  stop.abort();
  await waitsWasAborted;
});

test("work that ends because its client left is no failure in the log, and has no stack there", async () => {
  const stop = new AbortController();
  const asked = fetch(`${app.url}/v1/left`, { signal: stop.signal, headers: { "x-request-id": "left-1" } });
  await begun.promise;
  stop.abort();
  await expect(asked).rejects.toThrow("aborted");
  const lines = () =>
    app.logged
      .filter((line) => line.includes('"left-1"'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  await expect.poll(lines).toHaveLength(2);
  expect(new Set(lines().map(({ msg }) => msg))).toEqual(
    new Set(["request", "a client disconnected before its response"]),
  );
  const [left] = lines().filter(({ msg }) => msg !== "request");
  expect(left).toMatchObject({ level: "debug" });
  expect(left).not.toHaveProperty("err");
  expect(left).not.toHaveProperty("status");
});

test("every answer forbids browsers to sniff its type", async () => {
  const answer = await ask("GET", "/v1/nothing");
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
});

test("the request log has no query strings and no bodies", async () => {
  await ask("POST", "/v1/things/search?page=1&secret=queryword", json({ name: "bodyword" }));
  await expect.poll(() => app.logged.some((line) => line.includes("/v1/things/search"))).toBe(true);
  expect(app.logged.join("")).not.toMatch(/queryword|bodyword/);
});

test("the page to try the API from loads nothing from other servers", async () => {
  const page = await ask("GET", "/docs/try");
  expect(page.status).toBe(200);
  expect(page.text).not.toMatch(/https?:\/\//);
  expect(page.headers.get("content-security-policy")).not.toContain("unsafe");
  for (const [file, type] of [
    ["swagger-ui.css", "text/css"],
    ["swagger-ui-bundle.js", "text/javascript"],
    ["start.js", "text/javascript"],
    ["start.css", "text/css"],
  ]) {
    const answer = await ask("GET", `/docs/try/${file}`);
    expect([answer.status, answer.headers.get("content-type")?.startsWith(type!)]).toEqual([200, true]);
  }
  expect((await ask("GET", "/docs/try/package.json")).status).toBe(404);
  expect((await ask("GET", "/openapi.json")).body).toMatchObject({ openapi: "3.1.0" });
});

test("the API document is sent again only if it has changed", async () => {
  const etag = (await ask("GET", "/openapi.json")).headers.get("etag")!;
  const again = await ask("GET", "/openapi.json", { headers: { "if-none-match": etag } });
  expect([again.status, again.text]).toEqual([304, ""]);
  expect((await ask("GET", "/openapi.json", { headers: { "if-none-match": '"old"' } })).status).toBe(200);
});

test("headers over their limit are 431 in the format of all errors", async () => {
  const response = await sendRaw(`GET /v1/text HTTP/1.1\r\nHost: x\r\nX-Long: ${"a".repeat(40_000)}\r\n\r\n`);
  expect(response).toContain("431");
  expect(response).toContain('{"detail":');
});

test("a request that is not HTTP is 400", async () => {
  expect(await sendRaw("nonsense\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 .*"code":"malformed_request"/s);
});

test("a request without a host is 400 with a body, and one with an odd expectation is answered", async () => {
  expect(await sendRaw("GET /v1/text HTTP/1.1\r\n\r\n")).toMatch(
    /^HTTP\/1\.1 400 .*"code":"malformed_request"/s,
  );
  const odd = "GET /nowhere HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nConnection: close\r\n\r\n";
  expect(await sendRaw(odd)).toMatch(/^HTTP\/1\.1 404 .*"code":"route_not_found"/s);
});

test("a port in use is reported with the setting to change", async () => {
  await expect(listen(new Koa(), { host: "127.0.0.1", port: app.port })).rejects.toThrow(/is in use.*PORT/);
});

function sendRaw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(app.port, "127.0.0.1", () => socket.write(text));
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk.toString();
    });
    socket.on("close", () => resolve(received));
    socket.on("error", reject);
  });
}
