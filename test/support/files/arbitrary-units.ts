/**
 * Generates documents for property tests: text units of every type, in several scripts, from one word to
 * longer than any chunk.
 */

import fc from "fast-check";
import type { TextUnit } from "../../../src/domain/text-unit.ts";

const WORDS = [
  "the",
  "embedding",
  "antidisestablishmentarianism",
  "Größe",
  "naïve",
  "x=1",
  "3.14",
  "e.g.",
  "don’t",
  "https://example.com/a_b?c=1",
  "数据库",
  "検索する",
  "поиск",
  "بحث",
  "😀",
  "a\u200bb",
  "zqxjkvbp".repeat(9),
];

const word = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }) },
);
const ending = fc.constantFrom(". ", "! ", "? ", "。", ", ", "; ", " ", "\n");
const sentence = fc
  .tuple(fc.array(word, { minLength: 1, maxLength: 25 }), ending)
  .map(([words, end]) => words.join(" ") + end);
const paragraph = fc
  .array(sentence, { minLength: 1, maxLength: 12 })
  .map((sentences) => sentences.join("").trim());
const unbroken = fc.constantFrom(
  "数据库系统".repeat(60),
  "a-b_c".repeat(120),
  "abc".repeat(30),
  "ё".repeat(90),
);

const cellWords = (maxLength: number) =>
  fc
    .array(fc.constantFrom("one", "two.", "1,234.50", "Größe", "数据", "a\\|b"), { minLength: 1, maxLength })
    .map((words) => words.join(" "));
/** One in some rows is longer than a chunk. */
const cell = fc.oneof(
  { weight: 40, arbitrary: cellWords(4) },
  { weight: 1, arbitrary: cellWords(200) },
  { weight: 1, arbitrary: fc.constant("数据库系统".repeat(60)) },
);
const table = fc.integer({ min: 1, max: 5 }).chain((columns) =>
  fc
    .array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 30 })
    .map(([head, ...rows]) => {
      const line = (cells: string[]): string => `| ${cells.join(" | ")} |`;
      return [line(head ?? []), `|${" --- |".repeat(columns)}`, ...rows.map(line)].join("\n");
    }),
);
const code = fc
  .array(fc.constantFrom("  const a = 1;", "}", "", "return value.map((x) => x * 2);"), {
    minLength: 1,
    maxLength: 30,
  })
  .map((lines) => ["```ts", ...lines, "```"].join("\n"));
const list = fc
  .array(sentence, { minLength: 1, maxLength: 12 })
  .map((items) => items.map((item) => `- ${item.trim()}`).join("\n"));

const block = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(
      fc.constant("paragraph" as const),
      fc.oneof({ weight: 8, arbitrary: paragraph }, { weight: 1, arbitrary: unbroken }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(
      fc.constant("heading" as const),
      fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(" ")),
    ),
  },
  { weight: 2, arbitrary: fc.tuple(fc.constant("table" as const), table) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("code" as const), code) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("list" as const), list) },
);

/** Units whose page numbers ascend, or that have none. */
export const arbitraryUnits: fc.Arbitrary<TextUnit[]> = fc
  .tuple(
    fc.array(fc.tuple(block, fc.integer({ min: 0, max: 1 })), { minLength: 1, maxLength: 12 }),
    fc.boolean(),
  )
  .map(([blocks, paged]) => {
    let page = 1;
    return blocks.map(([[type, text], step]) => {
      page += step;
      return {
        type,
        text,
        page: paged ? page : null,
        heading_path: [],
        ...(type === "heading" ? { level: 1 } : {}),
      };
    });
  });
