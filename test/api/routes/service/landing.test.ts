/** The page at `/`. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { landingRoute } from "../../../../src/api/routes/service/landing.ts";
import { type TinyApp, startTinyApp } from "../../../support/app/tiny-app.ts";

let app: TinyApp;

beforeAll(async () => {
  app = await startTinyApp([landingRoute]);
});

afterAll(() => app?.close());

const page = (language: string): Promise<Response> =>
  fetch(`${app.url}/`, { headers: { "Accept-Language": language } });

test.each([
  ["en-GB, de;q=0.5", "en", "Open the console"],
  ["de-AT, en;q=0.5", "de", "Konsole öffnen"],
  ["fr", "en", "Open the console"],
])("Accept-Language: %s is answered in %s", async (accepted, language, text) => {
  const answer = await page(accepted);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(answer.headers.get("vary")).toContain("Accept-Language");
  const body = await answer.text();
  expect(body).toContain(`<html lang="${language}">`);
  expect(body).toContain(`<a href="/console">${text}</a>`);
  expect(body).toContain('<a href="/docs">');
});

test("it runs nothing, loads nothing, and its policy allows its one style", async () => {
  const answer = await page("en");
  const body = await answer.text();
  expect(body).not.toMatch(/<script|src=|@import|url\(/);
  const style = /<style>([\s\S]*)<\/style>/.exec(body)![1]!;
  const hash = createHash("sha256").update(style).digest("base64");
  const policy = answer.headers.get("content-security-policy")!;
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain(`style-src 'sha256-${hash}'`);
  expect(policy).not.toContain("unsafe");
});
