/** Elements and slides: each place is the part of the file that has its words. */

import { describe, expect, test } from "vitest";
import type { FileType } from "../../../src/domain/file-type.ts";
import { locationsOf, type Spot } from "../../../src/domain/locations/location.ts";
import { unpackPlaces } from "../../../src/domain/locations/packed.ts";
import type { TextUnit } from "../../../src/domain/text-unit.ts";
import { parserFor } from "../../../src/parsers/index.ts";
import { makePpt } from "../../support/files/compound.ts";
import { makeDocx, makeEpub, makeOdf, makePptx, makeZip } from "../../support/files/office.ts";
import { placedTexts, spotOf } from "../../support/files/places.ts";

async function parse(fileType: FileType, bytes: Buffer | string): Promise<readonly TextUnit[]> {
  return (await parserFor(fileType).parse({ fileType, bytes: Buffer.from(bytes as string) })).units;
}

/** What the file has from the n-th opening tag of the name on, up to its closing tag. */
function elementText(source: string, element: string): string {
  const [, name = "", number = ""] = /^(\w+)\[(\d+)\]$/.exec(element) ?? [];
  const start = [...source.matchAll(new RegExp(`<${name}[\\s>]`, "g"))][Number(number) - 1]?.index ?? 0;
  return source.slice(start, source.indexOf(`</${name}>`, start));
}

describe("HTML", () => {
  const row = (cells: string): string => `<tr>${cells}</tr>`;
  const page = `<html><head><title>No text</title></head><body>
    loose words of the body
    <h1>The title</h1><p>first paragraph</p><div>words of a division<p>second <b>paragraph</b></p>after it</div>
    <ul><li>item one<ul><li>item inside</li></ul></li><li>item two</li></ul>
    <table><caption>the caption</caption>
      <tfoot>${row("<td>the foot</td><td>9</td>")}</tfoot>
      <thead>${row("<th>the head</th><th>number</th>")}</thead>
      <tbody>${row("<td>first row</td><td>1</td>")}${row("<td>second row</td><td>2</td>")}</tbody>
    </table>
    <pre>some code</pre><blockquote>a quote</blockquote>
    <table>${row("<td>another table</td><td>3</td>")}</table>
    <table><tr><td><h2>In a table that lays out</h2></td></tr></table>
    </body></html>`;

  test.each([
    ["loose words", "body[1]"],
    ["The title", "h1[1]"],
    ["first paragraph", "p[1]"],
    ["words of a division", "div[1]"],
    ["second paragraph", "p[2]"],
    ["after it", "div[1]"],
    ["item one", "li[1]"],
    ["item inside", "li[2]"],
    ["item two", "li[3]"],
    ["the caption", "caption[1]"],
    ["the foot", "table[1]/tr[1]"],
    ["the head", "table[1]/tr[2]"],
    ["first row", "table[1]/tr[3]"],
    ["second row", "table[1]/tr[4]"],
    ["some code", "pre[1]"],
    ["a quote", "blockquote[1]"],
    ["another table", "table[2]/tr[1]"],
    ["In a table that lays out", "h2[1]"],
  ])("the words '%s' are in %s", async (words, element) => {
    expect(spotOf(await parse("HTML", page), words)).toEqual({ element });
  });

  test("a table's head is its head, although its foot is written before it", async () => {
    const table = (await parse("HTML", page)).find((unit) => unit.type === "table");
    expect(table?.text.split("\n")).toEqual([
      "| the head | number |",
      "| --- | --- |",
      "| first row | 1 |",
      "| second row | 2 |",
      "| the foot | 9 |",
    ]);
  });

  test("each of thousands of paragraphs is the one that a count of tags finds", async () => {
    const source = Array.from(
      { length: 3_000 },
      (_, at) =>
        `<p>paragraph number ${at} of many</p>${at % 7 === 0 ? "<p></p><script>'<p>'</script>" : ""}`,
    )
      .join("\n")
      .replaceAll("<script>'<p>'</script>", "<!-- nothing -->");
    const placed = placedTexts(await parse("HTML", source));
    expect(placed).toHaveLength(3_000);
    for (const [text, { element = "" }] of placed) expect(elementText(source, element)).toContain(text);
  });

  test("rows of a long table that is cut keep their rows, and the head its own", async () => {
    const rows = Array.from({ length: 1_000 }, (_, at) => row(`<td>row ${at}</td><td>some more words</td>`));
    const source = `<table>${row("<th>the head</th><th>more</th>")}${rows.join("")}</table>`;
    const units = await parse("HTML", source);
    expect(units.length).toBeGreaterThan(2);
    for (const unit of units)
      for (const [text, { element }] of placedTexts([unit])) {
        const number = /row (\d+)/.exec(text)?.[1];
        expect(element).toBe(`table[1]/tr[${number === undefined ? 1 : Number(number) + 2}]`);
      }
  });
});

test("EPUB: elements are counted in their chapter, which the place names", async () => {
  const units = await parse(
    "EPUB",
    await makeEpub(["<h1>One</h1><p>first</p>", "<p>second</p><p>third</p>"]),
  );
  expect(spotOf(units, "One")).toEqual({ part: "OEBPS/chapter 0.xhtml", element: "h1[1]" });
  expect(spotOf(units, "second")).toEqual({ part: "OEBPS/chapter 1.xhtml", element: "p[1]" });
  expect(spotOf(units, "third")).toEqual({ part: "OEBPS/chapter 1.xhtml", element: "p[2]" });
});

test("DOCX: paragraphs, list items, rows, notes and comments have their elements", async () => {
  const units = await parse("DOCX", await makeDocx());
  expect(placedTexts(units)).toEqual([
    ["Plan", { element: "p[1]" }],
    ["We build bold things.[^1]", { element: "p[2]" }],
    // The first two footnotes of a file are the lines that separate footnotes from the text.
    ["[^1]: A note at the foot.", { part: "footnotes", element: "footnote[3]" }],
    ["> Comment by Bo: Is this so?", { part: "comments", element: "comment[1]" }],
    ["Steps", { element: "p[3]" }],
    ["- first point", { element: "p[4]" }],
    ["  - nested point", { element: "p[5]" }],
    ["1. one", { element: "p[6]" }],
    ["2. two", { element: "p[7]" }],
    ["| Name | Count | Price |", { element: "tbl[1]/tr[1]" }],
    ["| Apple \\| Pear | 3 | 1.50 |", { element: "tbl[1]/tr[2]" }],
    ["| Total |  | 4.50 |", { element: "tbl[1]/tr[3]" }],
    // Paragraphs of cells count too.
    ["مرحبا بالعالم", { element: "p[16]" }],
    ["数据库系统は速い。", { element: "p[17]" }],
  ]);
});

test("DOCX: a row that begins further right keeps its columns", async () => {
  const cell = (text: string): string => `<w:tc><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:tc>`;
  const skipping = '<w:trPr><w:gridBefore w:val="1"/></w:trPr>';
  const units = await parse(
    "DOCX",
    await makeZip({
      "_rels/.rels":
        '<Relationships><Relationship Id="r" Type="x/officeDocument" Target="word/document.xml"/></Relationships>',
      "word/document.xml":
        '<w:document xmlns:w="w"><w:body><w:tbl>' +
        `<w:tr>${cell("Name")}${cell("Count")}</w:tr><w:tr>${skipping}${cell("3")}</w:tr></w:tbl></w:body></w:document>`,
    }),
  );
  expect(units[0]?.text).toBe("| Name | Count |\n| --- | --- |\n|  | 3 |");
});

test("ODT: paragraphs, headings, list items and rows have their elements", async () => {
  const cell = (text: string): string => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`;
  const body =
    '<text:h text:outline-level="1">Title</text:h><text:p>words</text:p>' +
    "<text:list><text:list-item><text:p>one</text:p></text:list-item>" +
    "<text:list-item><text:p>two</text:p></text:list-item></text:list>" +
    `<table:table><table:table-header-rows><table:table-row>${cell("Name")}${cell("Count")}</table:table-row>` +
    '</table:table-header-rows><table:table-row table:number-rows-repeated="2">' +
    `${cell("Apple")}${cell("3")}</table:table-row><table:table-row>${cell("Pear")}${cell("4")}</table:table-row>` +
    "</table:table>";
  const units = await parse("ODT", await makeOdf("text", body));
  expect(placedTexts(units)).toEqual([
    ["Title", { element: "h[1]" }],
    ["words", { element: "p[1]" }],
    ["- one", { element: "list-item[1]" }],
    ["- two", { element: "list-item[2]" }],
    ["| Name | Count |", { element: "table[1]/table-row[1]" }],
    ["| Apple | 3 |", { element: "table[1]/table-row[2]" }],
    ["| Apple | 3 |", { element: "table[1]/table-row[2]" }],
    ["| Pear | 4 |", { element: "table[1]/table-row[3]" }],
  ]);
});

describe("slides", () => {
  test("PPTX: words have their slide and shape, and notes are a part of it", async () => {
    const units = await parse("PPTX", await makePptx());
    const named = (words: string): Spot | undefined => spotOf(units, words);
    expect(named("Results")).toEqual({ slide: 1, shape: "Text 0" });
    expect(named("- up\n- down")).toEqual({ slide: 1, shape: expect.stringMatching(/^Text/) });
    expect(named("| Apple | 3 |")).toEqual({ slide: 1, shape: expect.stringMatching(/^Table/) });
    expect(named("Say it slowly.")).toEqual({ slide: 1, part: "notes" });
    expect(named("Slide 2")).toEqual({ slide: 2 });
    expect(named("No title here.")).toEqual({ slide: 2, shape: expect.stringMatching(/^Text/) });
  });

  test("PPT: words have their slide, since shapes have no names", async () => {
    const units = await parse(
      "PPT",
      makePpt([
        { title: "One", body: "first body", shape: "in a box", notes: "" },
        { title: "Two", body: "second body", shape: "", notes: "say it" },
      ]),
    );
    expect(spotOf(units, "in a box")).toEqual({ slide: 1 });
    expect(spotOf(units, "second body")).toEqual({ slide: 2 });
    expect(spotOf(units, "say it")).toEqual({ slide: 2, part: "notes" });
  });

  test("ODP: words have their slide and the name of their frame", async () => {
    const frame = (name: string, text: string, more = ""): string =>
      `<draw:frame draw:name="${name}" ${more}><draw:text-box><text:p>${text}</text:p></draw:text-box></draw:frame>`;
    const units = await parse(
      "ODP",
      await makeOdf(
        "presentation",
        `<draw:page>${frame("Title", "One", 'presentation:class="title"')}${frame(`Box${"x".repeat(200)}`, "words")}` +
          `<presentation:notes>${frame("Notes", "say it")}</presentation:notes></draw:page>` +
          `<draw:page>${frame("", "without a name")}</draw:page>`,
      ),
    );
    expect(spotOf(units, "One")).toEqual({ slide: 1, shape: "Title" });
    expect(spotOf(units, "words")).toEqual({ slide: 1, shape: `Box${"x".repeat(125)}` });
    expect(spotOf(units, "say it")).toEqual({ slide: 1, part: "notes" });
    expect(spotOf(units, "without a name")).toEqual({ slide: 2 });
  });
});

test("formats that do not say where their words stand have no places", async () => {
  const units = await parse("RTF", String.raw`{\rtf1 one\par two\par}`);
  expect(units.map(({ places }) => places)).toEqual([undefined, undefined]);
});

test("a row of a table is one location", async () => {
  const units = await parse(
    "HTML",
    "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>",
  );
  expect(units.flatMap(({ places }) => locationsOf(unpackPlaces(places)))).toEqual([
    { element: "table[1]/tr[1]" },
    { element: "table[1]/tr[2]" },
  ]);
});
