/** Text that a file repeats by reference, count or position stays as small as the file. */

import { describe, expect, test } from "vitest";
import type { FileType } from "../../src/domain/file-type.ts";
import type { ParsedDocument } from "../../src/domain/text-unit.ts";
import { parserFor } from "../../src/parsers/index.ts";
import { pipeTables } from "../../src/parsers/text/markdown-format.ts";
import { makeZip } from "../support/files/office.ts";

const read = (fileType: FileType, bytes: Buffer | string): Promise<ParsedDocument> =>
  parserFor(fileType).parse({ fileType, bytes: Buffer.from(bytes) });
const textOf = (document: ParsedDocument): string => document.units.map((unit) => unit.text).join("\n");
/** Counts tables without their heads, which each part repeats. */
const lengthOf = (document: ParsedDocument): number =>
  document.units.reduce(
    (sum, unit) =>
      sum + (unit.type === "table" ? unit.text.split("\n").slice(2).join("\n") : unit.text).length,
    0,
  );

const relations = (of: Readonly<Record<string, readonly [kind: string, target: string]>>): string =>
  `<Relationships>${Object.entries(of)
    .map(([id, [kind, target]]) => `<Relationship Id="${id}" Type="http://x/${kind}" Target="${target}"/>`)
    .join("")}</Relationships>`;

const paragraph = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
const docx = (body: string, part: { kind: string; xml: string }): Promise<Buffer> =>
  makeZip({
    "_rels/.rels": relations({ a: ["officeDocument", "word/document.xml"] }),
    "word/document.xml": `<w:document><w:body>${body}</w:body></w:document>`,
    "word/_rels/document.xml.rels": relations({ b: [part.kind, "part.xml"] }),
    "word/part.xml": part.xml,
  });

describe("DOCX", () => {
  test("a note that is referred to again is text once", async () => {
    const body = '<w:p><w:r><w:t>see</w:t><w:footnoteReference w:id="1"/></w:r></w:p>'.repeat(500);
    const parsed = await read(
      "DOCX",
      await docx(body, {
        kind: "footnotes",
        xml: `<w:footnotes><w:footnote w:id="1">${paragraph("the note")}</w:footnote></w:footnotes>`,
      }),
    );
    expect(textOf(parsed).match(/the note/g)).toHaveLength(1);
    expect(textOf(parsed).match(/see\[\^1\]/g)).toHaveLength(500);
  });

  test("a list that counts from two billion in letters has numbers, and no marker is long", async () => {
    const item =
      '<w:p><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>item</w:t></w:r></w:p>';
    const level =
      '<w:lvl w:ilvl="0"><w:numFmt w:val="lowerLetter"/><w:start w:val="2000000000"/>' +
      `<w:lvlText w:val="%1)${"!".repeat(5_000)}"/></w:lvl>`;
    const xml =
      `<w:numbering><w:abstractNum w:abstractNumId="1">${level}</w:abstractNum>` +
      '<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num></w:numbering>';
    const [list] = (await read("DOCX", await docx(item.repeat(3), { kind: "numbering", xml }))).units;
    expect(list?.text).toMatch(/^2000000000\)!{50,70} item\n2000000001\)/);
    expect(list?.text.length).toBeLessThan(300);
  });
});

describe("PPTX", () => {
  const pptx = (slides: string, chart = ""): Promise<Buffer> =>
    makeZip({
      "_rels/.rels": relations({ a: ["officeDocument", "ppt/presentation.xml"] }),
      "ppt/presentation.xml": `<p:presentation><p:sldIdLst>${slides}</p:sldIdLst></p:presentation>`,
      "ppt/_rels/presentation.xml.rels": relations({ s: ["slide", "slides/slide.xml"] }),
      "ppt/slides/slide.xml":
        "<p:sld><p:cSld><p:spTree><p:graphicFrame><a:graphic><a:graphicData>" +
        '<c:chart r:id="c"/>' +
        "</a:graphicData></a:graphic></p:graphicFrame></p:spTree></p:cSld></p:sld>",
      "ppt/slides/_rels/slide.xml.rels": relations({ c: ["chart", "../charts/chart.xml"] }),
      "ppt/charts/chart.xml": `<c:chartSpace>${chart}</c:chartSpace>`,
    });
  const point = (place: number): string => `<c:pt idx="${place}"><c:v>${place} apples</c:v></c:pt>`;
  const series = (...points: string[]): string => `<c:ser><c:val>${points.join("")}</c:val></c:ser>`;

  test("a slide that is listed a thousand times is one", async () => {
    const parsed = await read("PPTX", await pptx('<p:sldId r:id="s"/>'.repeat(1_000), series(point(0))));
    expect([parsed.page_count, textOf(parsed).match(/apples/g)?.length]).toEqual([1, 1]);
  });

  test("a value at place four billion is a row of its table like any", async () => {
    expect(
      textOf(await read("PPTX", await pptx('<p:sldId r:id="s"/>', series(point(1), point(4_000_000_000))))),
    ).toContain("|  | 1 apples |\n|  | 4000000000 apples |");
  });

  test("series that share no place are a row each", async () => {
    const parsed = await read(
      "PPTX",
      await pptx(
        '<p:sldId r:id="s"/>',
        Array.from({ length: 2_000 }, (_, index) => series(point(index))).join(""),
      ),
    );
    expect(new Set(textOf(parsed).match(/\d+ apples/g)).size).toBe(2_000);
    expect(textOf(parsed).length).toBeLessThan(100_000);
  });
});

describe("spreadsheets", () => {
  const ods = (rows: string): Promise<Buffer> =>
    makeZip({
      mimetype: "application/vnd.oasis.opendocument.spreadsheet",
      "META-INF/manifest.xml":
        '<manifest:manifest><manifest:file-entry manifest:full-path="content.xml" ' +
        'manifest:media-type="text/xml"/></manifest:manifest>',
      "styles.xml": "<office:document-styles/>",
      "content.xml":
        '<office:document-content xmlns:office="o" xmlns:table="t" xmlns:text="x">' +
        `<office:body><office:spreadsheet><table:table table:name="Sheet">${rows}</table:table>` +
        "</office:spreadsheet></office:body></office:document-content>",
    });
  const cell = (text: string, columns = 1): string =>
    `<table:table-cell office:value-type="string" table:number-columns-repeated="${columns}">` +
    `<text:p>${text}</text:p></table:table-cell>`;

  test("a cell that fills a million rows of a thousand columns is no more than a table", async () => {
    const parsed = await read(
      "ODS",
      await ods(
        `<table:table-row table:number-rows-repeated="1048576">${cell("x", 1_000)}</table:table-row>`,
      ),
    );
    expect(lengthOf(parsed)).toBeLessThan(20_000);
  });

  test("equal cells, and empty ones up to the edge, keep their columns", async () => {
    const filler =
      '<table:table-row table:number-rows-repeated="1048000">' +
      '<table:table-cell table:number-columns-repeated="16384"/></table:table-row>';
    const row =
      `<table:table-row table:number-rows-repeated="2">${cell("a")}` +
      `<table:table-cell table:number-columns-repeated="2"/>${cell("b", 2)}</table:table-row>`;
    expect(textOf(await read("ODS", await ods(`${row}${filler}`)))).toContain(
      "| a |  |  | b | b |\n| --- | --- | --- | --- | --- |\n| a |  |  | b | b |",
    );
  });
});

test("EPUB: a chapter that the spine names a thousand times is read once", async () => {
  const book = await makeZip({
    "META-INF/container.xml": '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>',
    "b.opf":
      '<package><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>' +
      `<spine>${'<itemref idref="a"/>'.repeat(1_000)}</spine></package>`,
    "a.xhtml": "<html><body><p>Chapter</p></body></html>",
  });
  expect(textOf(await read("EPUB", book))).toBe("Chapter");
});

describe("HTML", () => {
  test("cells that span a hundred rows and columns do not fill a table with empty cells", async () => {
    const wide = `<tr>${'<td rowspan="100" colspan="100">a'.repeat(10)}`;
    const parsed = await read("HTML", `<table>${`${wide}${"<tr><td>x".repeat(99)}`.repeat(20)}</table>`);
    expect(textOf(parsed).match(/x/g)).toHaveLength(20 * 99);
    expect(lengthOf(parsed)).toBeLessThan(4 * 20 * (wide.length + 99 * 8));
  });

  test("a caption deep inside tables is text once", async () => {
    const parsed = await read(
      "HTML",
      `${"<table><tr><td>".repeat(50)}<table><caption>The caption</caption><tr><td>a</td></tr></table>`,
    );
    expect(textOf(parsed).match(/The caption/g)).toHaveLength(1);
  });
});

describe("tables", () => {
  const written = (rows: readonly (readonly string[])[]): string[] =>
    [...pipeTables(rows)].map(({ text }) => text);
  const row = (length: number, text: string): string[] =>
    Array.from({ length }, (_, index) => `${text}${index}`);

  test("rows that are a little short are filled up, and those under a wide head stay short", () => {
    expect(written([["a", "b"], ["1"]])).toEqual(["| a | b |\n| --- | --- |\n| 1 |  |"]);
    const [first = ""] = written([row(400, "h"), ...Array.from({ length: 150 }, () => ["x"])]);
    expect(first.split("\n").at(-1)).toBe("| x |");
  });

  test("of thousands of columns are several side by side, each under its part of the head", () => {
    const parts = written([row(1_200, "h"), row(1_200, "v"), ["last"]]);
    expect(parts.map((part) => part.split("\n").length)).toEqual([4, 3, 3]);
    expect(parts[1]).toMatch(/^\| h500 \|/);
    expect(parts.join("\n").match(/v\d+/g)).toEqual(row(1_200, "v"));
  });

  test("with hardly a cell filled are written without the empty ones", () => {
    const sparse = Array.from({ length: 40 }, (_, index) => [
      ...Array.from({ length: index * 10 }, () => ""),
      `v${index}`,
    ]);
    expect(written(sparse).join("\n")).toContain("| v38 |\n| v39 |");
  });
});

test.each([
  ["JSON", `[${"1,".repeat(50_000)}1]`, "[\n  1,"],
  ["JSON", `${"[".repeat(1_000)}${"1,".repeat(50_000)}1${"]".repeat(1_000)}`, "[\n[\n"],
  ["CODE", Array.from({ length: 400 }, (_, index) => "`".repeat(index)).join("\n"), "```"],
] as const)(
  "%s on one line, nested or of backticks is at most four times as long",
  async (fileType, source, part) => {
    const parsed = await read(fileType, source);
    expect(textOf(parsed)).toContain(part);
    expect([lengthOf(parsed) <= 4 * source.length, parsed.warnings]).toEqual([true, []]);
  },
);
