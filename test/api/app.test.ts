import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { raw, stream } from "../../src/api/response.ts";
import { defineRoute } from "../../src/api/route.ts";
import { listen } from "../../src/api/server.ts";
import { docsRoutes } from "../../src/api/routes/service/docs.ts";
import { DomainError } from "../../src/domain/errors.ts";
import { pageQuery, Uuid } from "../../src/schema/common.ts";
import { startTinyApp, type TinyApp } from "../support/stack/tiny-app.ts";

const open = { access: "public", status: 200, summary: "A test.", tags: ["Test"] } as const;
const ID = "01900000-0000-7000-8000-000000000010";
const Thing = z.object({
  name: z.string(),
  count: z.int().optional(),
  ids: z.array(Uuid).optional(),
  meta: z.record(z.string(), z.unknown()).optional(),
});
let sawAbort: Promise<void>;

const routes = [
  defineRoute({
    ...open,
    method: "GET",
    path: "/things/:thing_id",
    params: z.object({ thing_id: Uuid }),
    response: z.object({ id: Uuid }),
    handle: async ({ params }) => ({ id: params.thing_id }),
  }),
  defineRoute({
    ...open,
    method: "DELETE",
    path: "/things/:thing_id",
    status: 204,
    params: z.object({ thing_id: Uuid }),
    handle: async () => {},
  }),
  defineRoute({
    ...open,
    method: "POST",
    path: "/things/search",
    query: pageQuery(),
    body: Thing,
    response: z.object({ name: z.string(), page: z.int() }),
    handle: async ({ body, query }) => ({ name: body.name, page: query.page, secret: "not in the contract" }),
  }),
  defineRoute({
    ...open,
    method: "POST",
    path: "/things/:thing_id/redo",
    params: z.object({ thing_id: Uuid }),
    query: pageQuery(),
    body: Thing.nullish(),
    status: 202,
    response: z.object({ had_body: z.boolean() }),
    handle: async ({ body }) => ({ had_body: body !== undefined && body !== null }),
  }),
  defineRoute({
    ...open,
    access: "keys",
    method: "GET",
    path: "/locked/:thing_id",
    params: z.object({ thing_id: Uuid }),
    handle: async () => {},
  }),
  defineRoute({
    ...open,
    access: "keys",
    unauthenticatedStatus: 403,
    method: "GET",
    path: "/download",
    handle: async () => {},
  }),
  defineRoute({ ...open, access: "keys", method: "POST", path: "/upload", handle: async () => {} }),
  defineRoute({
    ...open,
    method: "GET",
    path: "/fails",
    handle: () => Promise.reject(new Error("select * from secrets")),
  }),
  defineRoute({
    ...open,
    method: "GET",
    path: "/leaks",
    response: z.object({ id: Uuid }),
    handle: async () => ({ id: "no id" }),
  }),
  defineRoute({
    ...open,
    method: "GET",
    path: "/busy",
    handle: () =>
      Promise.reject(
        new DomainError("provider_rate_limited", "The model is busy.", { retryAfterSeconds: 7 }),
      ),
  }),
  defineRoute({
    ...open,
    method: "GET",
    path: "/down",
    handle: () => Promise.reject(new DomainError("database_unavailable", "The database is not reachable.")),
  }),
  defineRoute({
    ...open,
    method: "GET",
    path: "/rejected",
    handle: () => Promise.reject(new DomainError("rejected_by_provider", "The provider refused.")),
  }),
  defineRoute({
    ...open,
    method: "GET",
    path: "/text",
    handle: async () =>
      raw({ contentType: "text/markdown; charset=utf-8", body: "# Hi", headers: { ETag: '"1"' } }),
  }),
  defineRoute({
    ...open,
    method: "GET",
    path: "/events",
    handle: async () =>
      stream(
        async (res) => void res.writeHead(200, { "content-type": "text/event-stream" }).end("data: 1\n\n"),
      ),
  }),
  defineRoute({
    ...open,
    method: "GET",
    path: "/waits",
    async handle({ request }) {
      sawAbort = new Promise((resolve) => request.signal.addEventListener("abort", () => resolve()));
      return stream(async (res) => void res.writeHead(200).write("x"));
    },
  }),
];

let app: TinyApp;
beforeAll(async () => {
  app = await startTinyApp([...routes, ...docsRoutes(routes)]);
});
afterAll(() => app.close());

async function ask(
  method: string,
  path: string,
  init: RequestInit = {},
): Promise<{ status: number; headers: Headers; body: any; text: string }> {
  const response = await fetch(`${app.url}${path}`, { method, ...init });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text.startsWith("{") ? JSON.parse(text) : text,
  };
}
const json = (body: unknown): RequestInit => ({
  body: typeof body === "string" ? body : JSON.stringify(body),
  headers: { "content-type": "application/json" },
});

test("an unknown path is 404 in the format of all errors", async () => {
  for (const path of ["/v1/nothing", "/v2/things/x", "/", "/v1", "//", "/v1/things//", "/V1/things/search"]) {
    expect(await ask("GET", path)).toMatchObject({ status: 404, body: { detail: "Not Found" } });
  }
});

test("a known path with another method is 405 and says which methods it has", async () => {
  const answer = await ask("PATCH", `/v1/things/${ID}`);
  expect(answer).toMatchObject({ status: 405, body: { detail: "Method Not Allowed" } });
  expect(answer.headers.get("allow")).toBe("DELETE, GET, HEAD");
  expect(await ask("OPTIONS", `/v1/things/${ID}`)).toMatchObject({ status: 405 });
});

test("a literal path beats a template: GET on it is 405, not a wrong id", async () => {
  const answer = await ask("GET", "/v1/things/search");
  expect(answer.status).toBe(405);
  expect(answer.headers.get("allow")).toBe("POST");
});

test.each(["", "/"])("a path works with %j at its end", async (end) => {
  expect(await ask("GET", `/v1/things/${ID}${end}`)).toMatchObject({ status: 200, body: { id: ID } });
  expect(await ask("POST", `/v1/things/search${end}?page=2`, json({ name: "a" }))).toMatchObject({
    status: 200,
    body: { name: "a", page: 2 },
  });
});

test("HEAD answers as GET without a body", async () => {
  const answer = await ask("HEAD", `/v1/things/${ID}`);
  expect(answer).toMatchObject({ status: 200, text: "" });
  expect(answer.headers.get("content-type")).toContain("application/json");
  expect((await ask("HEAD", "/v1/events")).text).toBe("");
});

test("204 has no body", async () => {
  expect(await ask("DELETE", `/v1/things/${ID}`)).toMatchObject({ status: 204, text: "" });
});

test("keys that the contract does not name never leave", async () => {
  expect((await ask("POST", "/v1/things/search", json({ name: "a" }))).body).toEqual({ name: "a", page: 1 });
});

test("problems of path, query and body are reported together", async () => {
  const answer = await ask("POST", "/v1/things/zz/redo?page=0&limit=x", json({ name: 1, count: "x" }));
  expect(answer.status).toBe(422);
  expect(answer.body.detail.map((problem: any) => problem.loc)).toEqual([
    ["path", "thing_id"],
    ["query", "page"],
    ["query", "limit"],
    ["body", "name"],
    ["body", "count"],
  ]);
});

test("an optional body may be absent, null or empty of fields", async () => {
  expect((await ask("POST", `/v1/things/${ID}/redo`)).body).toEqual({ had_body: false });
  expect((await ask("POST", `/v1/things/${ID}/redo`, json("null"))).body).toEqual({ had_body: false });
  expect((await ask("POST", `/v1/things/${ID}/redo`, json(""))).body).toEqual({ had_body: false });
});

test.each([
  ["absent", undefined, { type: "missing", loc: ["body"], input: null }],
  [
    "cut off",
    '{"a":',
    {
      type: "json_invalid",
      loc: ["body", 5],
      msg: "JSON decode error",
      input: {},
      ctx: { error: "Expecting value" },
    },
  ],
  ["an array", "[]", { type: "model_attributes_type", loc: ["body"], input: [] }],
  ["with NUL", '{"name":"a\\u0000"}', { type: "value_error", loc: ["body", "name"] }],
  ["with half a surrogate pair", '{"name":"\\ud800"}', { type: "value_error", loc: ["body", "name"] }],
])("a body that is %s is 422", async (_name, body, expected) => {
  const answer = await ask("POST", "/v1/things/search", body === undefined ? {} : json(body));
  expect(answer.status).toBe(422);
  expect(answer.body.detail[0]).toMatchObject(expected);
});

test.each([undefined, "text/plain", "application/x-www-form-urlencoded"])(
  "JSON sent as %s is not taken for an object",
  async (type) => {
    const answer = await ask("POST", "/v1/things/search", {
      body: new Blob(['{"name":"a"}']),
      headers: type === undefined ? {} : { "content-type": type },
    });
    expect(answer).toMatchObject({
      status: 422,
      body: { detail: [{ type: "model_attributes_type", loc: ["body"], input: '{"name":"a"}' }] },
    });
  },
);

test("JSON over its limit is 400, and never 413", async () => {
  const answer = await ask("POST", "/v1/things/search", json({ name: "x".repeat(5_000_000) }));
  expect(answer.status).toBe(400);
  expect(answer.body.detail).toMatch(/exceeds maximum allowed/);
});

test("a broken content encoding is 400", async () => {
  const answer = await ask("POST", "/v1/things/search", {
    body: "not gzip",
    headers: { "content-type": "application/json", "content-encoding": "gzip" },
  });
  expect(answer.status).toBe(400);
});

test("malformed percent-encoding and NUL in a URL are the caller's fault", async () => {
  for (const path of ["/v1/things/%zz", "/v1/things/%FF", "/v1/things/%00", "/v1/things/%ED%A0%80"])
    expect((await ask("GET", path)).status).toBe(422);
  expect((await ask("GET", "/v1/%zz")).status).toBe(404);
  expect((await ask("POST", "/v1/things/search?page=%zz&a=%00", json({ name: "a" }))).status).toBe(422);
});

test("a URL over its limit is 414", async () => {
  expect(await ask("GET", `/v1/things/${"x".repeat(9_000)}`)).toMatchObject({
    status: 414,
    body: { detail: "URI Too Long" },
  });
});

test("who is not known is told so before anything else is looked at", async () => {
  const answer = await ask("GET", "/v1/locked/no-id");
  expect(answer.status).toBe(401);
  expect(answer.headers.get("www-authenticate")).toBe("Bearer");
  expect(await ask("GET", "/v1/download")).toMatchObject({ status: 403 });
});

test("an early refusal is read by a client that is still sending", async () => {
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

test("an unexpected failure hides its cause and logs it under the request's id", async () => {
  const answer = await ask("GET", "/v1/fails", { headers: { "x-request-id": "trace-42" } });
  expect(answer).toMatchObject({ status: 500, body: { detail: "Internal Server Error" } });
  expect(answer.headers.get("x-request-id")).toBe("trace-42");
  const line = app.logged.find(
    (entry) => entry.includes("failed unexpectedly") && entry.includes("trace-42"),
  );
  expect(line).toContain("select * from secrets");
});

test("an answer that breaks its own contract is a 500, not a leak", async () => {
  const answer = await ask("GET", "/v1/leaks");
  expect(answer).toMatchObject({ status: 500, body: { detail: "Internal Server Error" } });
});

test("a request id that is no sane token is replaced", async () => {
  const answer = await ask("GET", "/v1/text", { headers: { "x-request-id": "a b;{}" } });
  expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
});

test("failures of others carry when to try again, and whether", async () => {
  expect((await ask("GET", "/v1/busy")).headers.get("retry-after")).toBe("7");
  const down = await ask("GET", "/v1/down");
  expect(down).toMatchObject({ status: 503, body: { detail: "The database is not reachable." } });
  expect(Number(down.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await ask("GET", "/v1/rejected")).headers.get("x-should-retry")).toBe("false");
});

test("raw and streamed answers go out as they are", async () => {
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
  await sawAbort;
});

test("every answer says that a browser must not guess", async () => {
  const answer = await ask("GET", "/v1/nothing");
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
});

test("the request log holds no query and no body", async () => {
  await ask("POST", "/v1/things/search?page=1&secret=queryword", json({ name: "bodyword" }));
  await expect.poll(() => app.logged.some((line) => line.includes("/v1/things/search"))).toBe(true);
  expect(app.logged.join("")).not.toMatch(/queryword|bodyword/);
});

test("the documentation is served without anything from elsewhere", async () => {
  const page = await ask("GET", "/docs");
  expect(page.status).toBe(200);
  expect(page.text).not.toMatch(/https?:\/\//);
  expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
  for (const [file, type] of [
    ["swagger-ui.css", "text/css"],
    ["swagger-ui-bundle.js", "text/javascript"],
    ["start.js", "text/javascript"],
  ]) {
    const answer = await ask("GET", `/docs/${file}`);
    expect([answer.status, answer.headers.get("content-type")?.startsWith(type!)]).toEqual([200, true]);
  }
  expect((await ask("GET", "/docs/package.json")).status).toBe(404);
  expect((await ask("GET", "/openapi.json")).body).toMatchObject({ openapi: "3.1.0" });
});

test("headers over their limit are refused in the format of all errors", async () => {
  const response = await sendRaw(`GET /v1/text HTTP/1.1\r\nHost: x\r\nX-Long: ${"a".repeat(40_000)}\r\n\r\n`);
  expect(response).toContain("431");
  expect(response).toContain('{"detail":');
});

test("what is no HTTP is 400", async () => {
  expect(await sendRaw("nonsense\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 .*\{"detail":"Bad Request"\}$/s);
});

test("a port in use is said so, with the way out", async () => {
  await expect(
    listen({ callback: () => async () => {} } as never, { host: "127.0.0.1", port: app.port }),
  ).rejects.toThrow(/is in use.*PORT/);
});

function sendRaw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(app.port, "127.0.0.1", () => socket.write(text));
    let received = "";
    socket.on("data", (chunk) => (received += chunk.toString()));
    socket.on("close", () => resolve(received));
    socket.on("error", reject);
  });
}
