import fc from "fast-check";
import { expect, test } from "vitest";
import { loadBytePairTokens } from "../../../src/models/tokens/byte-pair.ts";

const tokens = await loadBytePairTokens("gpt-4o");

test("counts the names of special tokens as plain text", () => {
  expect(tokens.count("a <|endoftext|> b")).toBeGreaterThan(4);
});

test("cuts the text at its tokens, and never within a character", () => {
  const text = "Tokenization of 👩‍👩‍👧 and ﷽ unusual 漢字!";
  const offsets = tokens.offsets(text);
  expect(offsets.map(([start, end]) => text.slice(start, end)).join("")).toBe(text);
  expect(offsets).toHaveLength(tokens.count(text));
  expect(offsets.every(([start]) => !/^[\uDC00-\uDFFF]/.test(text.slice(start)))).toBe(true);
});

test("for any text: the offsets cover it without gap or overlap", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), (text) => {
      const offsets = tokens.offsets(text);
      expect(offsets.map(([start, end]) => text.slice(start, end)).join("")).toBe(text);
    }),
  );
});

test.each(["中".repeat(50_000), "a".repeat(50_000), " ".repeat(50_000)])(
  "takes a long unbroken run in seconds",
  (text) => {
    const started = performance.now();
    expect(tokens.count(text)).toBeGreaterThan(100);
    expect(tokens.offsets(text).at(-1)?.[1]).toBe(text.length);
    expect(performance.now() - started).toBeLessThan(5_000);
  },
);
