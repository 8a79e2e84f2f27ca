/** The units and metadata of Markdown texts. */

import { describe, expect, test } from "vitest";
import { unitsAsMarkdown } from "../../../src/domain/text-unit.ts";
import { markdown, parseMarkdown } from "../../../src/parsers/text/markdown.ts";

const shapes = (source: string): string[][] =>
  parseMarkdown(source).units.map((unit) => [unit.type, unit.text]);

test("reads every block of a document, in order, under its headings", () => {
  const source = [
    "# Guide",
    "",
    "An intro",
    "on two lines.",
    "",
    "Install",
    "-------",
    "",
    "1. one",
    "2. two",
    "   - nested",
    "",
    "> quoted",
    "",
    "| a | b |",
    "| --- | --- |",
    "| 1 | 2 |",
    "",
    "```sh",
    "npm start",
    "",
    "# no heading",
    "```",
    "",
    "# End #",
    "",
    "![plan](plan.png)",
  ].join("\n");
  expect(
    parseMarkdown(source).units.map(({ type, text, heading_path, level }) => [
      type,
      text,
      heading_path.join(" > "),
      level,
    ]),
  ).toEqual([
    ["heading", "Guide", "Guide", 1],
    ["paragraph", "An intro\non two lines.", "Guide", undefined],
    ["heading", "Install", "Guide > Install", 2],
    ["list", "1. one\n2. two\n   - nested", "Guide > Install", undefined],
    ["quote", "> quoted", "Guide > Install", undefined],
    ["table", "| a | b |\n| --- | --- |\n| 1 | 2 |", "Guide > Install", undefined],
    ["code", "```sh\nnpm start\n\n# no heading\n```", "Guide > Install", undefined],
    ["heading", "End", "End", 1],
    ["image", "![plan](plan.png)", "End", undefined],
  ]);
});

describe("blocks next to each other without a blank line", () => {
  test("a heading, list, fence, quote or table ends a paragraph", () => {
    expect(
      shapes("text\n# H\ntext\n- item\n\ntext\n```\ncode\n```\ntext\n> q\n\ntext\n| a |\n|---|\n| 1 |"),
    ).toEqual([
      ["paragraph", "text"],
      ["heading", "H"],
      ["paragraph", "text"],
      ["list", "- item"],
      ["paragraph", "text"],
      ["code", "```\ncode\n```"],
      ["paragraph", "text"],
      ["quote", "> q"],
      ["paragraph", "text"],
      ["table", "| a |\n|---|\n| 1 |"],
    ]);
  });

  test("a number in the middle of a sentence opens no list", () => {
    expect(shapes("It was the year\n1984. Nothing happened.")).toEqual([
      ["paragraph", "It was the year\n1984. Nothing happened."],
    ]);
  });
});

test("a list keeps its blank lines, continuations and indented code", () => {
  const list = "- a\n\n  more of a\n\n  ```js\n  x\n\n  y\n  ```\n- b\nlazy";
  expect(shapes(`${list}\n\nafter`)).toEqual([
    ["list", list],
    ["paragraph", "after"],
  ]);
});

test("an unclosed fence extends to the end of the text", () => {
  expect(shapes("~~~\ncode\n\n# still code")).toEqual([["code", "~~~\ncode\n\n# still code"]]);
});

test("a bar within a cell is escaped, and a line of dashes without a head row is no table", () => {
  expect(shapes("| a \\| b | c |\n|---|---|\n| 1 | 2 |")[0]?.[0]).toBe("table");
  expect(shapes("a | b\n---|---|---")[0]?.[0]).not.toBe("table");
});

test("front matter becomes metadata and stays in the text", () => {
  const { units, metadata } = parseMarkdown(
    "---\ntitle: My guide\nauthor: [Ann, Bo]\nlang: de\ndate: 2024-05-06\n---\n\nText",
  );
  expect(metadata).toEqual({
    title: "My guide",
    author: "Ann, Bo",
    language: "de",
    created_at: "2024-05-06T00:00:00.000Z",
  });
  expect(units.map((unit) => unit.type)).toEqual(["code", "paragraph"]);
});

test("dashes at the start that hold no mapping are text", () => {
  expect(shapes("---\njust text\n---\nmore").flat().join(" ")).toContain("just text");
});

test("the bytes of an embedded image are left out", () => {
  expect(shapes(`![dot](data:image/png;base64,${"iVBORw0KGgo".repeat(1000)})`)).toEqual([
    ["image", "![dot](data:image/png)"],
  ]);
});

test("units as Markdown parse into the same units again", () => {
  const { units } = parseMarkdown("# A\n\ntext *with* `marks`\n\n- x\n- y\n\n## B\n\n```\nz\n```");
  expect(parseMarkdown(unitsAsMarkdown(units)).units).toEqual(units);
});

test("the title is the first heading if front matter has none", async () => {
  expect(
    (await markdown.parse({ fileType: "MARKDOWN", bytes: Buffer.from("# Hello\n\nWorld") })).metadata,
  ).toEqual({ title: "Hello" });
});

test("an empty file and one of blank lines end with their codes", async () => {
  await expect(markdown.parse({ fileType: "MARKDOWN", bytes: Buffer.alloc(0) })).rejects.toMatchObject({
    code: "empty_file",
  });
  await expect(
    markdown.parse({ fileType: "MARKDOWN", bytes: Buffer.from("\n \n---\n") }),
  ).rejects.toMatchObject({ code: "no_text" });
});

test.each([
  ["nested quotes", ">".repeat(50_000)],
  ["hashes", "#".repeat(200_000)],
  ["bars", "|".repeat(200_000)],
  ["brackets", "![".repeat(100_000)],
  ["list marks", "- ".repeat(100_000)],
  ["lines of dashes", "a\n---\n".repeat(50_000)],
  ["blank lines in a list", `- a${"\n".repeat(200_000)}b`],
])("%s without end take no more than a moment", (_name, source) => {
  const start = performance.now();
  parseMarkdown(source);
  expect(performance.now() - start).toBeLessThan(2000);
});
