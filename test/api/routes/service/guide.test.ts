/** How the files of a built guide are served: types, tags, caching, and nothing that is not listed. */
import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { guideRoutes } from "../../../../src/api/routes/service/guide.ts";
import type { Listing } from "../../../../src/api/site/listing.ts";
import { type TinyApp, startTinyApp } from "../../../support/app/tiny-app.ts";
import { until } from "../../../support/until.ts";

const html = "text/html; charset=utf-8";
const files: Listing = {
  "": { type: html, tag: "home", isHashed: false, isZipped: false },
  "errors/rate_limited": { type: html, tag: "error", isHashed: false, isZipped: true },
  "assets/app.1a2b.js": {
    type: "text/javascript; charset=utf-8",
    tag: "app",
    isHashed: true,
    isZipped: false,
  },
};
const PAGE = "<h1>rate_limited</h1>";
const DECODERS: Record<string, (bytes: Buffer) => Buffer> = { gzip: gunzipSync, br: brotliDecompressSync };

let outer: string;
let folder: string;
let app: TinyApp;

beforeAll(async () => {
  outer = await mkdtemp(join(tmpdir(), "holdfast-guide-"));
  folder = join(outer, "guide");
  await fill();
  app = await startTinyApp(guideRoutes(async () => folder));
});

afterAll(async () => {
  await app?.close();
  await rm(outer, { recursive: true, force: true });
});

async function fill(): Promise<void> {
  await mkdir(join(folder, "errors"), { recursive: true });
  await mkdir(join(folder, "assets"), { recursive: true });
  await writeFile(join(folder, "files.json"), JSON.stringify(files));
  await writeFile(join(folder, "index.html"), "<h1>Holdfast</h1>");
  await writeFile(join(folder, "errors/rate_limited.html"), PAGE);
  await writeFile(join(folder, "errors/rate_limited.html.gz"), gzipSync(PAGE));
  await writeFile(join(folder, "errors/rate_limited.html.br"), brotliCompressSync(PAGE));
  await writeFile(join(folder, "assets/app.1a2b.js"), "1");
  await writeFile(join(folder, "unlisted.html"), "secret");
  await writeFile(join(outer, "outside.html"), "secret");
}

/** Sends the path as it is: `fetch` would take `..` out of it. */
function ask(path: string, headers: Record<string, string> = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number;
    body: string;
    encoding: string;
  }>();
  get({ port: app.port, host: "127.0.0.1", path, headers }, (response) => {
    buffer(response).then((bytes) => {
      const encoding = response.headers["content-encoding"] ?? "";
      const body = (DECODERS[encoding]?.(bytes) ?? bytes).toString();
      resolve({ status: response.statusCode!, body, encoding });
    }, reject);
  }).on("error", reject);
  return promise;
}

test.each(["/docs", "/docs/", "/docs/errors/rate_limited", "/docs/errors/rate_limited/"])(
  "%s is a page under the strict policy, to be asked for anew",
  async (path) => {
    const answer = await fetch(app.url + path);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, html]);
    expect(answer.headers.get("cache-control")).toBe("no-cache");
    const policy = answer.headers.get("content-security-policy")!;
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(policy).not.toContain("unsafe");
  },
);

test("what has a hash in its name is kept for good", async () => {
  const answer = await fetch(`${app.url}/docs/assets/app.1a2b.js`);
  expect(answer.headers.get("cache-control")).toContain("immutable");
  expect(answer.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
});

test("a page that the caller has is 304, and HEAD has no body", async () => {
  const first = await fetch(`${app.url}/docs/errors/rate_limited`);
  const tag = first.headers.get("etag")!;
  const again = await fetch(`${app.url}/docs/errors/rate_limited`, {
    headers: { "If-None-Match": `"other", ${tag}` },
  });
  expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", tag]);
  const head = await fetch(`${app.url}/docs/errors/rate_limited`, { method: "HEAD" });
  expect([head.status, await head.text(), head.headers.get("etag")]).toEqual([200, "", tag]);
});

test.each([
  ["gzip", "gzip"],
  ["gzip, deflate, br", "br"],
  ["br;q=0, gzip", "gzip"],
  ["identity", ""],
  ["gzip;q=0", ""],
])("Accept-Encoding: %s is answered with %j", async (accepted, encoding) => {
  const answer = await ask("/docs/errors/rate_limited", { "accept-encoding": accepted });
  expect(answer).toEqual({ status: 200, encoding, body: PAGE });
});

test.each([
  "/docs/unlisted",
  "/docs/unlisted.html",
  "/docs/files.json",
  "/docs/index",
  "/docs/../outside",
  "/docs/../outside.html",
  "/docs/%2e%2e/outside.html",
  "/docs/..%2foutside",
  "/docs/..%5coutside",
  "/docs//etc/passwd",
  "/docs/__proto__",
  "/docs/constructor",
])("%s is 404 as everywhere", async (path) => {
  const answer = await ask(path);
  expect(answer.status).toBe(404);
  expect(JSON.parse(answer.body)).toMatchObject({ detail: "Not Found", error: { code: "route_not_found" } });
});

test("other methods are 405", async () => {
  const answer = await fetch(`${app.url}/docs/`, { method: "POST" });
  expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
});

test("until it is built it says so, and then it is there without a restart", async () => {
  let built: string | undefined;
  const early = await startTinyApp(guideRoutes(async () => built));
  try {
    const answer = await fetch(`${early.url}/docs/`);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await answer.text()).toContain("is being built");
    built = folder;
    await until("it is there", async () => (await fetch(`${early.url}/docs/`)).status === 200);
  } finally {
    await early.close();
  }
});

test("a build that somebody removes is looked for again", async () => {
  await rm(folder, { recursive: true });
  expect((await fetch(`${app.url}/docs/`)).status).toBe(503);
  await fill();
  await until("it is there again", async () => (await fetch(`${app.url}/docs/`)).status === 200);
});

test("a folder that is removed between being found and being read counts as none", async () => {
  const gone = await startTinyApp(guideRoutes(async () => join(outer, "gone")));
  try {
    expect((await fetch(`${gone.url}/docs/`)).status).toBe(503);
  } finally {
    await gone.close();
  }
});
