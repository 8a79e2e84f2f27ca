/** The lines of text, code, Markdown and tables of values: each place is where the file has its words. */

import { describe, expect, test } from "vitest";
import type { FileType } from "../../../src/domain/file-type.ts";
import { packPlaces } from "../../../src/domain/locations/packed.ts";
import type { TextUnit } from "../../../src/domain/text-unit.ts";
import { boundedDocument } from "../../../src/parsers/bounded-parser.ts";
import { parserFor } from "../../../src/parsers/index.ts";
import { placedTexts, spotOf } from "../../support/files/places.ts";

async function parse(
  fileType: FileType,
  source: string | Buffer,
  name?: string,
): Promise<readonly TextUnit[]> {
  const bytes = Buffer.from(source as string);
  return (await parserFor(fileType).parse({ fileType, bytes, name })).units;
}

const LINE_END = /\r\n|\n|\r/;

/** The words of each place are those of its lines in the file, neither more nor fewer. */
function expectLinesToHold(units: readonly TextUnit[], source: string): void {
  const lines = source.split(LINE_END);
  const words = (text: string): string[] => text.match(/[\p{L}\p{N}]+/gu) ?? [];
  const placed = placedTexts(units);
  expect(placed.length).toBeGreaterThan(0);
  for (const [text, { lines: range }] of placed) {
    const [first, last] = range ?? [0, 0];
    expect(words(lines.slice(first - 1, last).join("\n"))).toEqual(words(text));
  }
}

describe.each([
  [
    "LF",
    "\n",
    [
      [3, 4],
      [7, 8],
    ],
  ],
  [
    "CRLF",
    "\r\n",
    [
      [3, 4],
      [7, 8],
    ],
  ],
  // Text without LF is one paragraph: all of it is on all of its lines.
  ["CR", "\r", [[3, 8]]],
])("lines that end with %s", (_name, end, paragraphs) => {
  test("of text between blank lines, with a byte order mark and blank lines at the start", async () => {
    const source = ["", "", "first line", "second line", "", " ", "after a gap", "and on", ""].join(end);
    const units = await parse("TEXT", `\uFEFF${source}`);
    expect(placedTexts(units).map(([, spot]) => spot)).toEqual(paragraphs.map((lines) => ({ lines })));
    expectLinesToHold(units, source);
  });

  test("of Markdown, where front matter counts", async () => {
    const source = [
      "---",
      "title: Plan",
      "---",
      "",
      "# Plan",
      "",
      "one paragraph",
      "of two lines",
      "",
      "Underlined",
      "==========",
      "- item",
      "- other",
      "",
      "| a | b |",
      "| - | - |",
      "| 1 | 2 |",
      "",
      "```js",
      "code()",
      "```",
    ].join(end);
    const units = await parse("MARKDOWN", source);
    expect(units.map(({ type }) => type)).toEqual([
      "code",
      "heading",
      "paragraph",
      "heading",
      "list",
      "table",
      "code",
    ]);
    expect(placedTexts(units).map(([, { lines }]) => lines)).toEqual([
      [1, 3],
      [5, 5],
      [7, 8],
      [10, 10],
      [12, 13],
      [15, 17],
      [19, 21],
    ]);
    expectLinesToHold(units, source);
  });

  test("of code, without the fence around it", async () => {
    const functions = Array.from(
      { length: 200 },
      (_, at) => `function f${at}() {${end}  return ${at};${end}}${end}`,
    );
    const source = `${end}${end}${functions.join(end)}`;
    const units = await parse("CODE", source, "a.js");
    expect(units.length).toBeGreaterThan(3);
    expectLinesToHold(units, source);
    expect(spotOf(units, "return 199;")?.lines?.[1]).toBe(source.trimEnd().split(LINE_END).length);
  });
});

test("a long paragraph has the lines of each of its pieces", async () => {
  const source = Array.from(
    { length: 3_000 },
    (_, at) => `line ${at} of a paragraph without a blank line`,
  ).join("\n");
  const units = await parse("TEXT", source);
  expect(units.length).toBeGreaterThan(2);
  expectLinesToHold(units, source);
});

test("a long line of code is on its line in each of its pieces", async () => {
  const source = `short();\n${"word ".repeat(20_000)}\nend();`;
  const units = await parse("CODE", source, "a.js");
  const pieces = placedTexts(units).filter(([text]) => text.includes("word"));
  expect(pieces.length).toBeGreaterThan(2);
  for (const [, { lines }] of pieces) expect(lines).toContain(2);
  expect(spotOf(units, "end();")?.lines?.[1]).toBe(3);
});

test("JSON of one line has that line, although each value gets a line of its own", async () => {
  const units = await parse("JSON", `\n\n${JSON.stringify({ a: 1, b: ["x", "y"] })}\n`);
  expect(units[0]?.text.split("\n").length).toBeGreaterThan(5);
  expect(placedTexts(units).map(([, spot]) => spot)).toEqual([{ lines: [3, 3] }]);
});

test("JSON and XML with line breaks have their lines", async () => {
  const json = JSON.stringify(
    { a: 1, list: Array.from({ length: 500 }, (_, at) => `value ${at}`) },
    undefined,
    2,
  );
  expectLinesToHold(await parse("JSON", json), json);
  const xml = `<?xml version="1.0"?>\n<root>\n${"<entry>text</entry>\n".repeat(500)}</root>`;
  expectLinesToHold(await parse("XML", xml), xml);
});

test("a notebook names the cell, and no lines, which only its JSON has", async () => {
  const cells = [
    { cell_type: "markdown", source: ["# Title\n", "words"] },
    { cell_type: "code", source: "print(1)", outputs: [{ text: ["printed"] }] },
  ];
  const units = await parse("JSON", JSON.stringify({ nbformat: 4, cells }));
  expect(placedTexts(units)).toEqual([
    ["Title", { element: "cell[1]" }],
    ["words", { element: "cell[1]" }],
    ["print(1)", { element: "cell[2]" }],
    ["printed", { element: "cell[2]" }],
  ]);
});

describe("a unit that is cut", () => {
  const line = (at: number): string => `${at} ${"word".repeat(4)}`;
  const many = Array.from({ length: 10_000 }, (_, at) => line(at));

  test.each<[string, string]>([
    ["a table", ["| a | b |", "| - | - |", ...many.map((text) => `| ${text} | x |`)].join("\n")],
    ["fenced code", ["```js", ...many, "```"].join("\n")],
    ["indented code", many.map((text) => `    ${text}`).join("\n")],
    ["a quote", many.map((text) => `> ${text}`).join("\n")],
    ["a list", many.map((text) => `- ${text}`).join("\n")],
    ["a paragraph", many.join("\n")],
  ])("has the lines of each part: %s", async (name, source) => {
    const units = await parse("MARKDOWN", `before\n\n${source}`);
    expect(units.length).toBeGreaterThan(3);
    const lines = `before\n\n${source}`.split("\n");
    const seen = new Set<number>();
    for (const [text, { lines: range }] of placedTexts(units)) {
      const [first = 0, last = 0] = range ?? [];
      expect(lines.slice(first - 1, last).join("\n")).toBe(text);
      for (let at = first; at <= last; at++) seen.add(at);
    }
    // The marks of a fence are repeated with each part, and are the file's in none.
    const withoutLines = name === "fenced code" ? ["```js", "```", ""] : [""];
    lines.forEach((text, at) =>
      expect([at + 1, seen.has(at + 1)]).toEqual([at + 1, !withoutLines.includes(text)]),
    );
  });

  test("keeps the places of its rows, and that of the head with each part", () => {
    const rows = Array.from({ length: 40_000 }, (_, at) => `row ${at}`);
    const text = ["| a |", "| --- |", ...rows.map((row) => `| ${row} |`)].join("\n");
    let at = 0;
    const places = text.split("\n").map((row, index) => {
      const from = at;
      at += row.length + 1;
      return { from, to: from + row.length, spot: { element: `tr[${index}]` } };
    });
    const whole = placedUnit(text, places);
    const parts = boundedDocument(
      { parser_name: "any", units: [whole], page_count: null, metadata: {}, warnings: [] },
      Infinity,
    ).units;
    expect(parts.length).toBeGreaterThan(5);
    for (const part of parts)
      expect(placedTexts([part]).slice(0, 2)).toEqual(placedTexts([whole]).slice(0, 2));
    expect(parts.flatMap((part) => placedTexts([part]).slice(2))).toEqual(placedTexts([whole]).slice(2));
  });

  test("keeps the places of a line that is longer than a unit", () => {
    const words = Array.from({ length: 30_000 }, (_, index) => `word${index}`);
    const text = `> ${words.join(" ")}`;
    let at = 2;
    const places = words.map((word) => {
      const from = at;
      at += word.length + 1;
      return { from, to: from + word.length, spot: { element: word } };
    });
    const parts = boundedDocument(
      {
        parser_name: "any",
        units: [{ ...placedUnit(text, places), type: "quote" }],
        page_count: null,
        metadata: {},
        warnings: [],
      },
      Infinity,
    ).units;
    expect(parts.length).toBeGreaterThan(3);
    const found = placedTexts(parts);
    expect(found.map(([word]) => word)).toEqual(words);
    for (const [word, spot] of found) expect(spot).toEqual({ element: word });
  });
});

function placedUnit(text: string, places: Parameters<typeof packPlaces>[0]): TextUnit {
  const packed = packPlaces(places);
  return {
    type: "table",
    text,
    page: null,
    heading_path: [],
    ...(packed === undefined ? {} : { places: packed }),
  };
}
