/** The chunks of a small document, by each chunker. */

import { describe, expect, test } from "vitest";
import { CHUNKER_NAMES, chunkerNamed } from "../../src/chunkers/index.ts";
import { DomainError } from "../../src/domain/errors.ts";
import type { TextUnit } from "../../src/domain/text-unit.ts";
import { parseMarkdown } from "../../src/parsers/text/markdown.ts";
import { modelTokenizer } from "../support/files/tokenizer.ts";

const filler = (words: number, word = "lorem"): string =>
  `${Array.from({ length: words }, () => word).join(" ")}.`;
const paragraph = (text: string, page: number | null = null, path: string[] = []): TextUnit => ({
  type: "paragraph",
  text,
  page,
  heading_path: path,
});
const heading = (text: string, page: number | null = null): TextUnit => ({
  type: "heading",
  text,
  page,
  heading_path: [text],
  level: 1,
});
const chunk = (name: string, units: readonly TextUnit[], maxTokens = 60, overlapTokens = 0) =>
  chunkerNamed(name)(units, { maxTokens, overlapTokens }, modelTokenizer);

describe("page_based", () => {
  test("puts small units of a page together and never two pages", () => {
    const chunks = chunk("page_based", [paragraph("One.", 1), paragraph("Two.", 1), paragraph("Three.", 2)]);
    expect(chunks.map(({ text, page_start, page_end }) => ({ text, page_start, page_end }))).toEqual([
      { text: "One.\n\nTwo.", page_start: 1, page_end: 1 },
      { text: "Three.", page_start: 2, page_end: 2 },
    ]);
  });

  test("takes a document without pages as one page", () => {
    expect(
      chunk("page_based", [paragraph("One."), paragraph("Two.")]).map((made) => [made.text, made.page_start]),
    ).toEqual([["One.\n\nTwo.", null]]);
  });

  test("keeps a heading with what follows it", () => {
    const chunks = chunk("page_based", [
      paragraph(filler(20)),
      heading("Terms"),
      paragraph(filler(22), null, ["Terms"]),
    ]);
    expect(chunks[0]?.text).not.toContain("Terms");
    expect(chunks[1]?.text.startsWith("Terms\n\nlorem")).toBe(true);
  });

  test("cuts a long unit at the ends of sentences", () => {
    const sentences = Array.from(
      { length: 30 },
      (_, index) => `This is sentence number ${index} of the text.`,
    );
    const chunks = chunk("page_based", [paragraph(sentences.join(" "))]);
    expect(chunks.length).toBeGreaterThan(3);
    for (const made of chunks) expect(made.text).toMatch(/^This .* text\.$/);
  });

  test("repeats a table's head if its rows are cut", () => {
    const rows = Array.from({ length: 20 }, (_, index) => `| item ${index} | ${index} |`);
    const chunks = chunk("page_based", [
      {
        type: "table",
        text: ["| Name | Count |", "| --- | --- |", ...rows].join("\n"),
        page: null,
        heading_path: [],
      },
    ]);
    expect(chunks.length).toBeGreaterThan(1);
    for (const made of chunks)
      expect(made.text.startsWith("| Name | Count |\n| --- | --- |\n| item")).toBe(true);
    expect(chunks.flatMap((made) => made.text.split("\n").slice(2))).toEqual(rows);
  });
});

test("the parts of a table row that is cut have the names of its columns and its first cell", () => {
  const long = Array.from({ length: 12 }, (_, index) => `Point ${index} of the terms is agreed.`).join(" ");
  const head = "| Item | Terms | Price |\n| --- | --- | --- |\n";
  for (const name of ["page_based", "markdown", "recursive", "sentence"]) {
    const chunks = chunk(name, [
      { type: "table", text: `${head}| Lease | ${long} | 1,250 |`, page: null, heading_path: [] },
    ]);
    expect(chunks.length).toBeGreaterThan(2);
    expect(chunks[0]!.text).toMatch(/^\| Item \| Terms \| Price \|\n.*\n\| Lease \| Point 0/);
    for (const made of chunks.slice(1)) expect(made.text.startsWith(`${head}| Lease | Point`)).toBe(true);
    expect(chunks.at(-1)!.text).toMatch(/Point 11 of the terms is agreed\. \| 1,250 \|$/);
  }
  // A part that begins in the third column is in the third column.
  const chunks = chunk("recursive", [
    { type: "table", text: `${head}| Lease | Short. | ${long} |`, page: null, heading_path: [] },
  ]);
  for (const made of chunks.slice(1)) expect(made.text.startsWith(`${head}| Lease | | Point`)).toBe(true);
});

test("markdown gives each section a chunk, with headings in a row as one section", () => {
  const { units } = parseMarkdown("# Guide\n\n## Install\n\nRun it.\n\n## Use\n\nCall it.\n");
  expect(chunk("markdown", units).map((made) => [made.text, made.metadata.heading_path])).toEqual([
    ["Guide\n\nInstall\n\nRun it.", ["Guide", "Install"]],
    ["Use\n\nCall it.", ["Guide", "Use"]],
  ]);
});

test("sentence and recursive fill chunks across pages and say both ends", () => {
  for (const name of ["sentence", "recursive"]) {
    expect(
      chunk(name, [paragraph("One.", 1), paragraph("Two.", 2)]).map((made) => [
        made.text,
        made.page_start,
        made.page_end,
      ]),
    ).toEqual([["One.\n\nTwo.", 1, 2]]);
  }
});

test("sentence ends a chunk at the end of a sentence of Chinese text without spaces", () => {
  const chunks = chunk("sentence", [paragraph("数据库系统很重要。".repeat(20))]);
  expect(chunks.length).toBeGreaterThan(1);
  for (const made of chunks) expect(made.text.endsWith("。")).toBe(true);
});

test("fixed_tokens makes every chunk but the last of the full size", () => {
  const chunks = chunk("fixed_tokens", [paragraph(filler(130, "word")), paragraph(filler(80, "word"))], 50);
  expect(chunks.slice(0, -1).map((made) => made.token_count)).toEqual(
    Array.from({ length: chunks.length - 1 }, () => 50),
  );
});

test("metadata says heading, format and words", () => {
  const [made] = chunk("page_based", [heading("Prices"), paragraph("All prices are net.", null, ["Prices"])]);
  expect(made?.metadata).toEqual({
    heading_text: "Prices",
    heading_path: ["Prices"],
    format: "markdown",
    word_count: 5,
  });
  expect(chunk("page_based", [paragraph("Just text.")])[0]?.metadata).toEqual({
    format: "text",
    word_count: 2,
  });
});

test("units without tokens give no chunk", () => {
  for (const name of CHUNKER_NAMES)
    expect(chunk(name, [paragraph("\u200b\u200b"), paragraph("  ")])).toEqual([]);
});

test("an unknown name is refused with the known ones", () => {
  expect(() => chunkerNamed("toString")).toThrow(DomainError);
  expect(() => chunkerNamed("semantic")).toThrow("page_based, markdown, recursive, sentence, fixed_tokens");
});
