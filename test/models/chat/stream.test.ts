/** Reads streams that no provider should send. */
import { expect, test } from "vitest";
import { createChatStreamReader } from "../../../src/models/chat/stream.ts";

const chunk = (delta: object, reason: string | null = null): string =>
  JSON.stringify({ choices: [{ delta, finish_reason: reason }] });
const END = `data: ${chunk({}, "stop")}\n\ndata: [DONE]\n\n`;

function readAll(pieces: Iterable<string>): { text: string; piecesRead: number; fault: string | null } {
  const reader = createChatStreamReader();
  let text = "";
  let piecesRead = 0;
  try {
    for (const piece of pieces) {
      text += reader
        .read(piece)
        .map((event) => (event.type === "content" ? event.text : ""))
        .join("");
      piecesRead += 1;
      if (reader.isDone) break;
    }
    reader.end();
    return { text, piecesRead, fault: null };
  } catch (error) {
    return { text, piecesRead, fault: error instanceof Error ? error.message : String(error) };
  }
}

test.each([
  ["a line that never ends", "x".repeat(65_536)],
  ["an event whose lines never end", `data: ${"x".repeat(65_536)}\n`],
])("%s is given up once it is larger than an event may be", (_name, piece) => {
  const { piecesRead, fault } = readAll(Array.from({ length: 1_000 }, () => piece));
  expect(fault).toBe("The model provider's answer cannot be used: an event is too large.");
  expect(piecesRead).toBeLessThanOrEqual(65);
});

test("an answer that is longer than any model writes is given up", () => {
  const { fault, text } = readAll(
    Array.from({ length: 100 }, () => `data: ${chunk({ content: "x".repeat(1_000_000) })}\n\n`),
  );
  expect(fault).toBe("The model provider's answer cannot be used: it is too long.");
  expect(text.length).toBeLessThan(9_000_000);
});

test("good events before a fault are seen", () => {
  expect(readAll([`data: ${chunk({ content: "a" })}\n\n`, "x".repeat(5_000_000)])).toMatchObject({
    text: "a",
    fault: expect.stringContaining("too large"),
  });
});

test("lines may end in any of the three ways, however the stream is cut", () => {
  const stream = `: ping\n\ndata: ${chunk({ content: "a" })}\n\ndata: ${chunk({ content: "b" })}\n\n${END}`;
  for (const ending of ["\n", "\r\n", "\r"]) {
    const text = stream.replaceAll("\n", ending);
    expect(readAll([text])).toMatchObject({ text: "ab", fault: null });
    expect(readAll(text)).toMatchObject({ text: "ab", fault: null });
  }
});
