/** JSON bodies as bytes: their encoding and compression, their bounds, and how long they take. */
import { gzipSync } from "node:zlib";
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import Koa from "koa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { readJsonBody } from "../../../src/api/body/json-body.ts";
import { limitPassed } from "../../../src/api/body/json-limits.ts";
import { defineRoute } from "../../../src/api/route.ts";
import { listen } from "../../../src/api/server.ts";
import { DomainError } from "../../../src/domain/errors.ts";
import { startTinyApp, type TinyApp } from "../../support/app/tiny-app.ts";

const echo = defineRoute("POST /echo", {
  access: "public",
  status: 200,
  summary: "A test.",
  body: z.object({ name: z.string() }),
  response: z.object({ name: z.string() }),
  handle: async ({ body }) => body,
});

let app: TinyApp;
beforeAll(async () => {
  app = await startTinyApp([echo]);
});
afterAll(() => app.close());

async function ask(
  body: Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${app.url}/v1/echo`, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", ...headers },
  });
  return { status: response.status, body: await response.json() };
}

test("JSON is UTF-8: other bytes are 400, and a byte order mark is ignored", async () => {
  const name = (bytes: readonly number[]) =>
    new Uint8Array([...Buffer.from('{"name":"'), ...bytes, ...Buffer.from('"}')]);
  for (const wrong of [[0xff], [0xc3], [0xed, 0xa0, 0x80]])
    expect(await ask(name(wrong))).toMatchObject({
      status: 400,
      body: { detail: "There was an error parsing the body" },
    });
  expect(await ask(name([0xef, 0xbf, 0xbd, 0xc3, 0xa9]))).toMatchObject({
    status: 200,
    body: { name: "\ufffdé" },
  });
  expect(await ask(new Uint8Array([0xef, 0xbb, 0xbf, ...name([0x61])]))).toMatchObject({
    status: 200,
    body: { name: "a" },
  });
});

test("a compressed body counts as it is after unpacking", async () => {
  const packed = (text: string) => ask(new Uint8Array(gzipSync(text)), { "content-encoding": "gzip" });
  expect(await packed('{"name":"a"}')).toMatchObject({ status: 200, body: { name: "a" } });
  expect((await packed(`{"name":"${"x".repeat(5_000_000)}"}`)).status).toBe(400);
});

test("a body nested too deep or with too many values is 400, which names the bound", async () => {
  const detail = async (text: string) => (await ask(Buffer.from(text) as Uint8Array<ArrayBuffer>)).body;
  const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
  expect(await detail(nested(65))).toMatchObject({
    error: { code: "malformed_body" },
    detail: "JSON body is nested deeper than the allowed 64 levels",
  });
  expect(await detail(nested(64))).toMatchObject({ detail: [{ type: "missing", loc: ["body", "name"] }] });
  expect(await detail(`[${"1,".repeat(99_999)}1]`)).toMatchObject({
    detail: "JSON body holds more than the allowed 100000 values",
  });
  expect(await detail(`[${"1,".repeat(99_998)}1]`)).toMatchObject({
    detail: [{ type: "model_attributes_type" }],
  });
});

test("values and depth are counted as a walk through the value counts them, whatever is in strings", () => {
  const sizeOf = (value: unknown): { values: number; depth: number } => {
    const inner = typeof value === "object" && value !== null ? Object.values(value).map(sizeOf) : [];
    const isNested = typeof value === "object" && value !== null;
    return {
      values: inner.reduce((sum, { values }) => sum + values, 1),
      depth: (isNested ? 1 : 0) + Math.max(0, ...inner.map(({ depth }) => depth)),
    };
  };
  const text = fc.oneof(fc.string(), fc.constantFrom('"', "\\", '\\"', "[{,", "}]"));
  const { value, nested } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 6 }, text, fc.integer(), fc.constant(null), tie("nested")),
    nested: fc.oneof(
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(text, tie("value"), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(value, fc.constantFrom(0, 2), (given, indent) => {
      const bytes = Buffer.from(JSON.stringify(given, null, indent));
      const { values, depth } = sizeOf(given);
      expect(limitPassed(bytes, { maxDepth: depth, maxValues: values })).toBeNull();
      expect(limitPassed(bytes, { maxDepth: depth, maxValues: values - 1 })).toMatch(/values$/);
    }),
  );
  fc.assert(
    fc.property(nested, fc.constantFrom(0, 2), (given, indent) => {
      const bytes = Buffer.from(JSON.stringify(given, null, indent));
      const { values, depth } = sizeOf(given);
      expect(limitPassed(bytes, { maxDepth: depth - 1, maxValues: values })).toMatch(/levels$/);
    }),
  );
});

test("a body that arrives too slowly is refused, and its connection ends", async () => {
  const reader = new Koa().use(async (ctx) => {
    const error: unknown = await readJsonBody(ctx, { timeoutMs: 200 }).catch((thrown: unknown) => thrown);
    ctx.status = error instanceof DomainError ? error.status : 200;
    ctx.body = error instanceof DomainError ? error.message : "read";
  });
  const server = await listen(reader, { host: "127.0.0.1", port: 0 });
  const socket = connect(server.port, "127.0.0.1");
  await once(socket, "connect");
  const answered = text(socket);
  socket.write(
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"name":',
  );
  const drip = setInterval(() => socket.writable && socket.write(" "), 20);
  expect(await answered).toMatch(/^HTTP\/1\.1 400 [^]*JSON body did not arrive within 0\.2 seconds$/);
  clearInterval(drip);
  await server.close(0);
});
