/** Large answers: the same text as in one piece, while other requests run between its pieces. */
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import fc from "fast-check";
import { z } from "zod";
import { jsonPieces, PIECE_CHARACTERS } from "../../src/api/json-answer.ts";
import { defineRoute } from "../../src/api/route.ts";
import { envelope, pageOf, Timestamp } from "../../src/schema/fields.ts";
import { startTinyApp, type TinyApp } from "../support/app/tiny-app.ts";

const Item = z.object({ text: z.string(), at: Timestamp, note: z.string().optional() });
const Answer = z.object({
  title: z.string().optional(),
  items: z.array(Item),
  total: z.int(),
  others: z.array(z.int()),
});

async function gathered(pieces: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}

async function* inParts<T>(items: readonly T[], size: number): AsyncGenerator<readonly T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}

test("the text is that of the whole value, without what the schema does not name", async () => {
  const item = fc.record({
    text: fc.string(),
    at: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }),
    secret: fc.string(),
  });
  const answer = fc.record({
    title: fc.option(fc.string(), { nil: undefined }),
    items: fc.array(item),
    total: fc.nat(),
    others: fc.array(fc.nat()),
    secret: fc.string(),
  });
  await fc.assert(
    fc.asyncProperty(answer, fc.integer({ min: 1, max: 4 }), async (value, size) => {
      const expected = JSON.stringify(Answer.parse(value));
      expect((await gathered(jsonPieces(Answer, value))).join("")).toBe(expected);
      expect(
        (await gathered(jsonPieces(Answer, { ...value, items: inParts(value.items, size) }))).join(""),
      ).toBe(expected);
    }),
  );
});

test("no piece exceeds its bound by more than one element, and other work runs after each", async () => {
  const items = Array.from({ length: 500 }, () => ({ text: "x".repeat(10_000), at: new Date(0) }));
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const pieces = await gathered(jsonPieces(Answer, { items, total: 1, others: [] }));
  isOver = true;
  expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(PIECE_CHARACTERS + 11_000);
  expect(pieces.length).toBeGreaterThan(50);
  expect(turns).toBeGreaterThanOrEqual(pieces.length - 1);
});

test("the next part of a list is requested after the one before is written", async () => {
  let asked = 0;
  async function* parts(): AsyncGenerator<unknown[]> {
    for (; asked < 100; asked += 1) yield [{ text: "x".repeat(PIECE_CHARACTERS), at: new Date(0) }];
  }
  const pieces = jsonPieces(Answer, { items: parts(), total: 1, others: [] });
  await pieces.next();
  await pieces.next();
  expect(asked).toBe(1);
});

test("what is not a list, or has what the schema refuses, is an error", async () => {
  await expect(gathered(jsonPieces(Answer, { items: null, total: 1, others: [] }))).rejects.toThrow(
    z.ZodError,
  );
  await expect(gathered(jsonPieces(Answer, { items: [], total: 1, others: ["x"] }))).rejects.toThrow(
    z.ZodError,
  );
});

const Page = envelope(z.object({ text: z.string() }), "TestPage");
const MANY = 400;
let asked = 0;
let app: TinyApp;

async function* manyLargeItems(): AsyncGenerator<{ text: string }[]> {
  for (asked = 0; asked < MANY; asked += 1) yield [{ text: "x".repeat(256 * 1_024) }];
}

const open = { access: "public", status: 200, summary: "A test." } as const;
const page = { page: 1, limit: 1_000 };
beforeAll(async () => {
  app = await startTinyApp([
    defineRoute("GET /large", {
      ...open,
      response: Page,
      handle: async () => pageOf({ items: manyLargeItems(), total: MANY }, page),
    }),
    defineRoute("GET /small", {
      ...open,
      response: Page,
      handle: async () => pageOf({ items: [{ text: "ü", secret: 1 }], total: 1 }, page),
    }),
    defineRoute("GET /broken", {
      ...open,
      response: Page,
      handle: async () =>
        pageOf(
          {
            items: [
              ...Array.from({ length: 5 }, () => ({ text: "x".repeat(200_000) })),
              { text: 5 as never },
            ],
            total: 6,
          },
          page,
        ),
    }),
  ]);
});
afterAll(() => app.close());

test("a small answer has a length and a type", async () => {
  const response = await fetch(`${app.url}/v1/small`);
  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  const text = await response.text();
  expect(response.headers.get("content-length")).toBe(String(Buffer.byteLength(text)));
  expect(JSON.parse(text)).toEqual({
    items: [{ text: "ü" }],
    total_items: 1,
    total_pages: 1,
    page: 1,
    page_size: 1_000,
  });
});

test("a client that does not read a large answer neither holds up others nor fills the memory", async () => {
  const socket = connect(app.port, "127.0.0.1");
  await once(socket, "connect");
  socket.pause();
  socket.write("GET /v1/large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  for (let request = 0; request < 50; request += 1)
    expect((await fetch(`${app.url}/v1/small`)).status).toBe(200);
  // The kernel buffers a few megabytes for a reader that does not read.
  expect(asked).toBeLessThan(MANY / 2);
  let bytes = 0;
  socket.on("data", (piece: Buffer) => (bytes += piece.length));
  await once(socket.resume(), "close");
  expect(asked).toBe(MANY);
  expect(bytes).toBeGreaterThan(MANY * 256 * 1_024);
});

test("an answer that fails after its first pieces is cut off, not ended as if it were whole", async () => {
  const response = await fetch(`${app.url}/v1/broken`);
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow("terminated");
  expect(app.logged.join("")).toContain("a streamed answer failed");
});
