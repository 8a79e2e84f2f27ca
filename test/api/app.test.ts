/** What a request meets before its handler: addresses, methods, and its body. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { ID, THING_ROUTES, ask as askAt, json } from "../support/app/thing-routes.ts";
import { startTinyApp, type TinyApp } from "../support/app/tiny-app.ts";

let app: TinyApp;
beforeAll(async () => {
  app = await startTinyApp(THING_ROUTES);
});
afterAll(() => app.close());

const ask = (method: string, path: string, init?: RequestInit) => askAt(app.url, method, path, init);

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

test("keys that the contract does not name are not sent", async () => {
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
