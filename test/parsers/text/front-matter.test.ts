/** Metadata from front matter, and that no form of it takes more time than its length allows. */

import { describe, expect, test } from "vitest";
import { markdown, parseMarkdown } from "../../../src/parsers/text/markdown.ts";

const read = (...block: string[]): ReturnType<typeof parseMarkdown> =>
  parseMarkdown(["---", ...block, "---", "", "Text"].join("\n"));

describe("front matter as it is written", () => {
  test("of Jekyll", () => {
    const { units, metadata, warnings } = read(
      "layout: post",
      'title:  "Welcome to Jekyll!"',
      "date:   2015-11-17 16:16:01 -0600",
      "categories: [jekyll, update]",
      "published: true",
    );
    expect(metadata).toEqual({ title: "Welcome to Jekyll!", created_at: "2015-11-17T22:16:01.000Z" });
    expect([units.map((unit) => unit.type), warnings]).toEqual([["code", "paragraph"], []]);
  });

  test("of Hugo", () => {
    const { metadata, warnings } = read(
      "title: 'It''s a test'",
      "draft: false",
      "tags:",
      "  - a",
      '  - "b: c"',
      "authors:",
      "- Ann",
      "- Bo",
      "weight: 10",
      "date: 2023-01-02T03:04:05Z",
    );
    expect([metadata, warnings]).toEqual([
      { title: "It's a test", author: "Ann, Bo", created_at: "2023-01-02T03:04:05.000Z" },
      [],
    ]);
  });

  test("of Obsidian", () => {
    const { metadata, warnings } = read(
      "aliases: []",
      "tags: [x/y, z]",
      "created: 2024-05-06",
      "cssclass:",
      "# comment",
      "title: Plain # comment",
      "author: 'A'",
    );
    expect([metadata, warnings]).toEqual([
      { title: "Plain", author: "A", created_at: "2024-05-06T00:00:00.000Z" },
      [],
    ]);
  });

  test("with values over several lines", () => {
    const { metadata, warnings } = read(
      "title: >-",
      "  A long",
      "  title",
      "description: some",
      "  more text",
      "tags: [",
      "  a,",
      '  "b"',
      "]",
      'author: "Gr\\u00fcn"',
      "lang: de",
    );
    expect([metadata, warnings]).toEqual([{ title: "A long title", author: "Grün", language: "de" }, []]);
  });

  test("values that are not text give no metadata", () => {
    expect(read("title: true", "author: null", "authors: Ann", "lang: ~").metadata).toEqual({
      author: "Ann",
    });
  });
});

test.each([
  ["a map in a map", ["title: x", "params:", "  a: 1"]],
  ["a flow map", ["title: x", "params: {a: 1}"]],
  ["an anchor and its alias", ["title: &a x", "other: *a"]],
  ["a tag", ["title: !!str x"]],
  ["a list in a list", ["title: x", "tags: [a, [b]]"]],
  ["a list of maps", ["title: x", "tags:", "  - a: b"]],
  ["a key that comes twice", ["title: x", "title: y"]],
  ["more than 4 KB", Array.from({ length: 500 }, (_, index) => `key${index}: value`)],
])("%s is text as a whole, with a warning", (_name, block) => {
  const { units, metadata, warnings } = read(...block);
  expect([metadata, warnings]).toEqual([{}, [{ pages: null, code: "front_matter_ignored" }]]);
  expect(units.map((unit) => [unit.type, unit.text])).toEqual([
    ["code", ["---", ...block, "---"].join("\n")],
    ["paragraph", "Text"],
  ]);
});

test("the parsed document has the warning", async () => {
  const { warnings } = await markdown.parse({
    fileType: "MARKDOWN",
    bytes: Buffer.from("---\na: {}\n---\n\nText"),
  });
  expect(warnings).toEqual([{ pages: null, code: "front_matter_ignored" }]);
});

test("text between two rules is no front matter and gives no warning", () => {
  const { units, warnings } = read("just text");
  expect([units.map((unit) => unit.text), warnings]).toEqual([["just text", "Text"], []]);
});

test.each([
  ["question marks", "? ".repeat(400)],
  ["a flow map of many keys", `{${Array.from({ length: 12_000 }, (_, index) => `k${index}: v`).join(", ")}}`],
  ["many plain keys", Array.from({ length: 8_000 }, (_, index) => `k${index}: v`).join("\n")],
  ["a key and a megabyte of spaces", `a${" ".repeat(1_000_000)}`],
  ["a list of spaces that ends in another", `a: [b${" ".repeat(4_000)}[`],
  ["an open list over many lines", `a: [${"\n b,".repeat(1_000)}`],
  ["quotes that do not end", `a: "${'\\"'.repeat(1_900)}`],
  ["dashes", "- ".repeat(2_000)],
])("%s take no more than a moment", (_name, block) => {
  const started = process.cpuUsage();
  const { warnings } = read(block);
  const { user } = process.cpuUsage(started);
  expect(warnings.length).toBeLessThanOrEqual(1);
  expect(user / 1_000).toBeLessThan(100);
});
