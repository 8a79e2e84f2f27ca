/** The bounds on the result of every parser. */

import { describe, expect, test } from "vitest";
import {
  type ParsedDocument,
  type TextUnit,
  type UnitType,
  unitsAsMarkdown,
} from "../../src/domain/text-unit.ts";
import { boundedDocument, MAX_UNITS, withBounds } from "../../src/parsers/bounded-parser.ts";
import { parserFor } from "../../src/parsers/index.ts";
import { parseMarkdown } from "../../src/parsers/text/markdown.ts";
import type { Parser } from "../../src/parsers/parser.ts";
import { countSourceText } from "../../src/parsers/source-text.ts";

const KIB = 1024;
const unit = (type: UnitType, text: string, more: Partial<TextUnit> = {}): TextUnit => ({
  type,
  text,
  page: null,
  heading_path: [],
  ...more,
});
const documentOf = (...units: TextUnit[]): ParsedDocument => ({
  parser_name: "any",
  units,
  page_count: null,
  metadata: {},
  warnings: [],
});
const bounded = (...units: TextUnit[]): readonly TextUnit[] =>
  boundedDocument(documentOf(...units), Infinity).units;
const words = (prefix: string, count: number): string =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`).join(" ");

describe("a heading", () => {
  test("keeps 512 characters, and the rest is a paragraph after it, without losing anything", () => {
    const long = words("word", 200);
    const [heading, rest, under] = bounded(unit("heading", long, { level: 2 }), unit("paragraph", "under"));
    expect(heading?.text.length).toBeLessThanOrEqual(512);
    expect(heading?.text.length).toBeGreaterThan(500);
    expect([heading?.type, heading?.level, rest?.type, rest?.level]).toEqual([
      "heading",
      2,
      "paragraph",
      undefined,
    ]);
    expect(`${heading?.text} ${rest?.text}`).toBe(long);
    expect(under?.heading_path).toEqual([heading?.text]);
  });

  test("without a space is cut, but not inside a character", () => {
    const [heading, rest] = bounded(unit("heading", `a${"😀".repeat(400)}`, { level: 1 }));
    expect(heading?.text.isWellFormed()).toBe(true);
    expect(`${heading?.text}${rest?.text}`).toBe(`a${"😀".repeat(400)}`);
  });

  test("over a thousand paragraphs costs no more than its bound in each", async () => {
    const source = `# ${"x".repeat(100_000)}\n\n${"short\n\n".repeat(1_000)}`;
    const { units } = await parserFor("MARKDOWN").parse({ fileType: "MARKDOWN", bytes: Buffer.from(source) });
    expect(JSON.stringify(units).length).toBeLessThan(800 * KIB);
  });

  test("under many others is repeated in paths only up to the length of the text", async () => {
    const headings = [1, 2, 3, 4, 5, 6].map((level) => `${"#".repeat(level)} ${"x".repeat(500)}`).join("\n");
    const source = `${headings}\n\n${"a\n\n".repeat(50_000)}`;
    const { units } = await parserFor("MARKDOWN").parse({ fileType: "MARKDOWN", bytes: Buffer.from(source) });
    expect(units).toHaveLength(50_006);
    expect(units[6]?.heading_path.length).toBe(6);
    expect(units.flatMap((each) => each.heading_path).join("").length).toBeLessThanOrEqual(4 * source.length);
  });
});

describe("a unit of more than 64 KB", () => {
  const whole = (units: readonly TextUnit[]): void => {
    expect(units.length).toBeGreaterThan(1);
    for (const { text } of units) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(64 * KIB);
  };

  test("is cut at lines, else at words, else within a word, by its bytes", () => {
    for (const text of [
      words("line\n", 30_000),
      words("word", 30_000),
      "語".repeat(100_000),
      "😀".repeat(50_000),
      `é${"x".repeat(200_000)}`,
    ]) {
      const units = bounded(unit("paragraph", text));
      whole(units);
      expect(
        units
          .map((part) => part.text)
          .join("")
          .replace(/\s/g, ""),
      ).toBe(text.replace(/\s/g, ""));
    }
    for (const { text } of bounded(unit("paragraph", words("word", 30_000))))
      expect(text).toMatch(/^word\d+ [^]* word\d+$/);
  });

  test("keeps a table's head in each part", () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => `| ${index} | value |`);
    const units = bounded(unit("table", ["| a | b |", "| --- | --- |", ...rows].join("\n")));
    whole(units);
    expect(
      units.every((part) => part.type === "table" && part.text.startsWith("| a | b |\n| --- | --- |\n| ")),
    ).toBe(true);
    expect(units.flatMap((part) => part.text.split("\n").slice(2))).toEqual(rows);
  });

  test("keeps a fence around each part, also for one line without end", () => {
    for (const lines of [
      Array.from({ length: 20_000 }, (_, index) => `line ${index};`),
      ["y".repeat(200_000)],
    ]) {
      const units = bounded(unit("code", ["~~~~js", ...lines, "~~~~"].join("\n")));
      whole(units);
      expect(units.every((part) => /^~~~~js\n[^]*\n~~~~$/.test(part.text))).toBe(true);
      expect(units.flatMap((part) => part.text.split("\n").slice(1, -1)).join("")).toBe(lines.join(""));
    }
  });

  test.each([
    ["a row wider than a unit", `| a |\n| --- |\n| ${"x".repeat(200_000)} |`],
    ["a head wider than a unit", `|${" a |".repeat(50_000)}\n|${" --- |".repeat(50_000)}\n| 1 |`],
    ["a quote of one line", `> ${words("said", 30_000)}`],
    ["a quote of many lines", "> said\n".repeat(30_000)],
    ["indented code of one line", `    ${"z".repeat(100_000)}`],
    ["a fence with more behind it than a unit", `\`\`\`${"z".repeat(100_000)}\ncode\n\`\`\``],
    ["a list", "- item\n".repeat(30_000)],
  ])("%s is Markdown that reads the same again", (_name, source) => {
    const units = bounded(...parseMarkdown(source).units);
    whole(units);
    for (const part of units)
      expect(parseMarkdown(part.text).units.map((again) => again.type)).toEqual([part.type]);
  });
});

describe("all text together", () => {
  const echo = (times: number, packed: number): Parser => ({
    name: "echo",
    runsIn: "child",
    async parse() {
      countSourceText(packed);
      return documentOf(...Array.from({ length: times }, () => unit("paragraph", "x".repeat(KIB))));
    },
  });

  test("is at most four times what the file held; the rest is left out, with a warning", async () => {
    const parsed = await withBounds(echo(1_000, 0)).parse({
      fileType: "TEXT",
      bytes: Buffer.alloc(100 * KIB, "x"),
    });
    expect([parsed.units.length, parsed.warnings]).toEqual([
      400,
      [{ pages: null, code: "repeated_text_left_out" }],
    ]);
  });

  test("is measured against what was unpacked if the file is an archive", async () => {
    const parsed = await withBounds(echo(1_000, 200 * KIB)).parse({
      fileType: "DOCX",
      bytes: Buffer.alloc(KIB),
    });
    expect(parsed.units).toHaveLength(800);
  });

  test("counts a table's head once", () => {
    const head = `| ${"h".repeat(4_000)} |\n| --- |`;
    const parts = Array.from({ length: 100 }, (_, index) => unit("table", `${head}\n| ${index} |`));
    expect(boundedDocument(documentOf(...parts), 2_000).warnings).toEqual([]);
  });
});

test("more units than the bound are too complex, and the message names the bound", () => {
  const many = Array.from({ length: MAX_UNITS + 1 }, () => unit("paragraph", "x"));
  expect(() => boundedDocument({ ...documentOf(), units: many }, Infinity)).toThrow(
    expect.objectContaining({ code: "too_complex", message: expect.stringContaining(String(MAX_UNITS)) }),
  );
});

test("a document within the bounds is not changed", () => {
  const { units } = parseMarkdown("# A\n\ntext\n\n## B\n\n- x\n\n```\ny\n```");
  const made = bounded(...units);
  expect(made).toEqual(units);
  expect(unitsAsMarkdown(made)).toBe(unitsAsMarkdown(units));
});
