/** HTML, RTF, CSV, JSON, XML and source code of known text. */

import { describe, expect, test } from "vitest";
import type { FileType } from "../../src/domain/file-type.ts";
import { unitsAsMarkdown, type ParsedDocument } from "../../src/domain/text-unit.ts";
import { parserFor } from "../../src/parsers/index.ts";

const parse = (fileType: FileType, content: Buffer | string, name?: string): Promise<ParsedDocument> =>
  parserFor(fileType).parse({ fileType, bytes: Buffer.from(content as string), name });
const markdownOf = async (fileType: FileType, content: Buffer | string, name?: string): Promise<string> =>
  unitsAsMarkdown((await parse(fileType, content, name)).units);

describe("HTML", () => {
  test("gives what a reader sees, in blocks", async () => {
    const page = `<!doctype html><html lang="en">
      <head><title>The page</title><meta name="author" content="Ann"><style>p{}</style></head><body>
      <nav><a href="/">Home</a></nav><h1>Plan <em>A</em></h1>
      <p>We &amp; you<br>build  <b>things</b>.</p><script>alert(1)</script>
      <ul><li>one<ul><li>nested</li></ul><li><p>two</p></ul><ol start="3"><li>three</ol>
      <table><tr><th>Name<th>Both<tr><td rowspan=2>Apple<td>1<tr><td>2</table>
      <table><tr><td><h2>Laid out</h2><p>text</p></td><td>more</td></tr></table>
      <pre><code class="language-ts">const a = 1;\n  a++;</code></pre><blockquote><p>Said.</p></blockquote>
      <div>loose <span>words</span></div><img alt="A chart" src="c.png"></body></html>`;
    const parsed = await parse("HTML", page);
    expect(unitsAsMarkdown(parsed.units)).toBe(
      [
        "Home",
        "# Plan A",
        "We & you\nbuild things.",
        "- one\n  - nested\n- two",
        "3. three",
        "| Name | Both |\n| --- | --- |\n| Apple | 1 |\n| Apple | 2 |",
        "## Laid out",
        "text",
        "more",
        "```ts\nconst a = 1;\n  a++;\n```",
        "> Said.",
        "loose words",
        "![A chart](c.png)",
      ].join("\n\n"),
    );
    expect(parsed.units[0]).toMatchObject({ text: "Home", repeats: true });
    expect(parsed.metadata).toEqual({ title: "The page", author: "Ann", language: "en" });
  });

  test("takes the character set that the page declares", async () => {
    expect(
      await markdownOf(
        "HTML",
        Buffer.concat([
          Buffer.from('<meta charset="windows-1251"><p>'),
          Buffer.from([0xcf, 0xf0, 0xe8]),
          Buffer.from("</p>"),
        ]),
      ),
    ).toBe("При");
  });

  test("survives nesting deeper than any page has, and refuses more at once", async () => {
    const depth = 990;
    expect(await markdownOf("HTML", `${"<div><b>".repeat(depth)}deep${"</b></div>".repeat(depth)}`)).toBe(
      "deep",
    );
    expect(await markdownOf("HTML", `${"<ul><li>".repeat(depth)}deep`)).toContain("deep");
    expect(await markdownOf("HTML", `${"<table><tr><td>".repeat(600)}deep`)).toContain("deep");
    for (const tag of ["<div>", "<b>x", "<ul><li>", "<table><tr><td>"]) {
      await expect(markdownOf("HTML", tag.repeat(200_000))).rejects.toMatchObject({
        code: "too_complex",
        message: expect.stringContaining("2000"),
      });
    }
  });
});

test("RTF: code pages, Unicode, headings, lists, tables; no pictures and hidden text", async () => {
  const source =
    String.raw`{\rtf1\ansi\ansicpg1252\uc1{\fonttbl{\f0 Arial;}{\f1\fcharset204 Arial Cyr;}}` +
    String.raw`{\stylesheet{\s1 heading 1;}{\s2 Normal;}}` +
    String.raw`{\info{\title The plan}{\author Ann}}{\header Running}\pard\s1 Plan\par` +
    String.raw`\pard\s2 Gr\'f6\'dfe \u8364? {\f1 \'cf\'f0\'e8} \{x\}{\v hidden}` +
    String.raw`{\pict 0123abcd}\line next\par` +
    String.raw`{\field{\*\fldinst HYPERLINK "http://x"}{\fldrslt link}}\par` +
    String.raw`{\listtext\'b7\tab}one\par{\listtext 2.\tab}two\par` +
    String.raw`\trowd\pard\intbl Name\cell Count\cell\row\trowd\pard\intbl Apple\cell 3\cell\row` +
    String.raw`\pard Fin\bin4 }}{{e.\par}`;
  const parsed = await parse("RTF", source);
  expect(unitsAsMarkdown(parsed.units)).toBe(
    [
      "# Plan",
      "Größe € При {x}\nnext",
      "link",
      "- one\n2. two",
      "| Name | Count |\n| --- | --- |\n| Apple | 3 |",
      "Fine.",
    ].join("\n\n"),
  );
  expect(parsed.metadata).toEqual({ title: "The plan", author: "Ann" });
  await expect(parse("RTF", "no rich text")).rejects.toMatchObject({ code: "corrupt" });
});

describe("CSV and TSV", () => {
  test.each([
    ["CSV", 'a,b\n"1,5","two ""2"""\n', '| a | b |\n| --- | --- |\n| 1,5 | two "2" |'],
    ["CSV", "a;b\n1,5;2,5\n", "| a | b |\n| --- | --- |\n| 1,5 | 2,5 |"],
    ["CSV", "a|b\n1|2\n", "| a | b |\n| --- | --- |\n| 1 | 2 |"],
    ["TSV", "a\tb\n1, one\t2\n", "| a | b |\n| --- | --- |\n| 1, one | 2 |"],
    [
      "CSV",
      "a,b,c\n1\n1,2,3,4\n",
      "| a | b | c |  |\n| --- | --- | --- | --- |\n| 1 |  |  |  |\n| 1 | 2 | 3 | 4 |",
    ],
    ["CSV", "名前,年齢\n佐藤太郎,30\n", "| 名前 | 年齢 |\n| --- | --- |\n| 佐藤太郎 | 30 |"],
  ] as const)("%s %j", async (fileType, content, expected) => {
    expect(await markdownOf(fileType, content)).toBe(expected);
  });

  test("short Shift_JIS is told from Western text, and short Western text is not taken for it", async () => {
    expect(
      await markdownOf(
        "CSV",
        Buffer.from(
          "96bc914f2c944e97ee2c8f5a8f8a0a8db293a191be98592c33302c938c8b9e0a" +
            "8e4f96d889708e712c32352c91e58de30a",
          "hex",
        ),
      ),
    ).toContain("名前");
    expect(await markdownOf("CSV", Buffer.from("Gr\xf6\xdfe,B\xe4r\n1,2\n", "latin1"))).toContain("Größe");
  });

  test("a long table comes in parts that each repeat the head", async () => {
    const { units } = await parse(
      "CSV",
      ["n,square", ...Array.from({ length: 1000 }, (_, n) => `${n},${n * n}`)].join("\n"),
    );
    expect(units.length).toBeGreaterThan(3);
    expect(units.every((unit) => unit.text.startsWith("| n | square |\n| --- | --- |\n| "))).toBe(true);
    expect(units.flatMap((unit) => unit.text.split("\n").slice(2))).toHaveLength(1000);
  });
});

describe("JSON, XML and source code", () => {
  test("stay as they are written, in fences of their language", async () => {
    expect(await markdownOf("CODE", "export const a = 1;\n", "src/a.ts")).toBe(
      "```ts\nexport const a = 1;\n```",
    );
    expect(await markdownOf("XML", '<a b="1">x</a>')).toBe('```xml\n<a b="1">x</a>\n```');
    expect(await markdownOf("JSON", '{"a":[1,2]}')).toBe('```json\n{\n  "a": [\n    1,\n    2\n  ]\n}\n```');
    expect(await markdownOf("CODE", "a\n```\nb", "x.md.py")).toBe("````py\na\n```\nb\n````");
  });

  test("every line of long code is in one block, and blocks end at blank lines", async () => {
    const lines = Array.from({ length: 2000 }, (_, index) => (index % 10 === 9 ? "" : `line ${index};`));
    const { units } = await parse("CODE", lines.join("\n"), "a.c");
    expect(units.length).toBeGreaterThan(5);
    expect(units.flatMap((unit) => unit.text.split("\n").slice(1, -1)).filter((line) => line !== "")).toEqual(
      lines.filter((line) => line !== ""),
    );
    expect(units.every((unit) => unit.text.length < 7_000)).toBe(true);
  });

  test("a notebook is its cells and what they printed", async () => {
    const notebook = {
      nbformat: 4,
      cells: [
        { cell_type: "markdown", source: ["# Load\n", "Some *text*."] },
        {
          cell_type: "code",
          source: "print(1)",
          outputs: [{ text: ["1\n"] }, { data: { "text/plain": "2" } }],
        },
      ],
    };
    expect(await markdownOf("JSON", JSON.stringify(notebook))).toBe(
      "# Load\n\nSome *text*.\n\n```python\nprint(1)\n```\n\n```\n1\n```\n\n```\n2\n```",
    );
  });
});
