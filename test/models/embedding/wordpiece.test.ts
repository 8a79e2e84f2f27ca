import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { expect, test } from "vitest";
import { loadWordPiece } from "../../../src/models/embedding/wordpiece.ts";

const tokenizer = loadWordPiece(
  fileURLToPath(new URL("../../../models/all-minilm-l6-v2-int8/vocab.txt", import.meta.url)),
);
const content = (text: string): number[] => tokenizer.ids(text, 1_000).slice(1, -1);
const pieces = (text: string): string[] =>
  tokenizer.offsets(text).map(([start, end]) => text.slice(start, end));

// Ids of the reference implementation (Hugging Face tokenizers 0.23.3 with this model's tokenizer.json).
test.each([
  ["Hello World!", [7592, 2088, 999]],
  ["naïve café résumé", [15743, 7668, 13746]],
  ["привет мир", [1194, 16856, 10325, 25529, 15290, 22919, 1191, 10325, 16856]],
  ["日本語のテキスト", [1864, 1876, 1950, 1671, 30239, 30227, 30233, 30240]],
  ["a\u200bb\u00adc", [5925]],
  [
    "don't $5.00 (x+y)=z",
    [2123, 1005, 1056, 1002, 1019, 1012, 4002, 1006, 1060, 1009, 1061, 1007, 1027, 1062],
  ],
  ["", []],
])("gives %j the ids of the reference implementation", (text, ids) => {
  expect(content(text)).toEqual(ids);
});

test("takes control marks in a document as plain text", () => {
  expect(pieces("[CLS] x [UNK]")).toEqual(["[", "CL", "S", "]", "x", "[", "UN", "K", "]"]);
});

test("makes one unknown token of a word of more than 100 characters, and of one it has no pieces for", () => {
  expect(content("x".repeat(101))).toEqual([100]);
  expect(content("😀")).toEqual([100]);
});

test("gives offsets into the original text, whatever normalisation dropped or changed before them", () => {
  expect(pieces("\ufeffZu\u0308rich  ÉCOLE — 漢字")).toEqual(["Zu\u0308rich", "ÉCOLE", "—", "漢", "字"]);
  expect(pieces("𠀋 plays 😀")).toEqual(["𠀋", "plays", "😀"]);
});

test("keeps at most the tokens asked for, between its two marks", () => {
  expect(tokenizer.ids("one two three four", 2)).toEqual([101, 2028, 2048, 102]);
});

test("for any text: offsets ascend, do not overlap, are within the text, and as many as are counted", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
      const offsets = tokenizer.offsets(text);
      expect(offsets).toHaveLength(tokenizer.count(text));
      let reached = 0;
      for (const [start, end] of offsets) {
        expect(start).toBeGreaterThanOrEqual(reached);
        expect(end).toBeGreaterThanOrEqual(start);
        reached = end;
      }
      expect(reached).toBeLessThanOrEqual(text.length);
    }),
  );
});

test("takes a megabyte in seconds", () => {
  const started = performance.now();
  expect(tokenizer.count("the quick brown fox; ".repeat(50_000))).toBe(250_000);
  expect(performance.now() - started).toBeLessThan(5_000);
});
