/** Tables whose cells are merged: each row keeps its label, and each column of the head its name. */

import { utils, type WorkSheet, write } from "@e965/xlsx";
import { describe, expect, test } from "vitest";
import type { FileType } from "../../src/domain/file-type.ts";
import type { TextUnit } from "../../src/domain/text-unit.ts";
import { parserFor } from "../../src/parsers/index.ts";
import { makeOdf, makeZip } from "../support/files/office.ts";
import { placedTexts } from "../support/files/places.ts";

async function parse(fileType: FileType, bytes: Buffer | string): Promise<readonly TextUnit[]> {
  return (await parserFor(fileType).parse({ fileType, bytes: Buffer.from(bytes as string) })).units;
}

/** The tables without the line of dashes. */
const tables = (units: readonly TextUnit[]): string[][] =>
  units
    .filter((unit) => unit.type === "table")
    .map((unit) => unit.text.split("\n").filter((_, line) => line !== 1));

const MERGED = [
  "| Region | Sales Spring | Sales Autumn | Staff |",
  "| North | 1 | 2 | 3 |",
  "| North | 4 | 5 | 6 |",
  "| South | 7 | none at all |  |",
];

describe("HTML", () => {
  const head =
    "<tr><th rowspan=2>Region<th colspan=2>Sales<th rowspan=2>Staff</tr><tr><th>Spring<th>Autumn</tr>";
  const body =
    "<tr><th rowspan=2>North<td>1<td>2<td>3</tr><tr><td>4<td>5<td>6</tr>" +
    "<tr><th>South<td>7<td colspan=2>none at all</tr>";

  test.each([
    ["in a thead", `<table><thead>${head}</thead><tbody>${body}</tbody></table>`],
    ["of th alone", `<table>${head}${body}</table>`],
  ])("a head of two rows, %s, is one, and is in the table as a whole", async (_name, source) => {
    const units = await parse("HTML", source);
    expect(tables(units)).toEqual([MERGED]);
    expect(placedTexts(units).map(([, { element }]) => element)).toEqual([
      "table[1]",
      "table[1]/tr[3]",
      "table[1]/tr[4]",
      "table[1]/tr[5]",
    ]);
  });

  test("a title over all columns names none of them", async () => {
    const source = "<table><tr><th colspan=2>The title</tr><tr><th>a<th>b</tr><tr><td>1<td>2</tr></table>";
    expect(tables(await parse("HTML", source))).toEqual([["| The title a | b |", "| 1 | 2 |"]]);
  });

  test("what is repeated is no longer than the table itself", async () => {
    const label = "label ".repeat(30);
    const source = `<table><tr><td rowspan=100>${label}<td>x</tr>${"<tr><td>x</tr>".repeat(99)}</table>`;
    const text = (await parse("HTML", source)).map((unit) => unit.text).join("\n");
    expect(text.match(/label label/g)!.length).toBeGreaterThan(15);
    expect(text.length).toBeLessThan(source.length * 3);
  });
});

test("DOCX: a head of two rows is one, and merged cells are in each of their rows", async () => {
  const cell = (text: string, properties = ""): string =>
    `<w:tc><w:tcPr>${properties}</w:tcPr><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:tc>`;
  const row = (cells: string, properties = ""): string =>
    `<w:tr><w:trPr>${properties}</w:trPr>${cells}</w:tr>`;
  const starts = '<w:vMerge w:val="restart"/>';
  const goesOn = cell("", "<w:vMerge/>");
  const two = '<w:gridSpan w:val="2"/>';
  const isHead = "<w:tblHeader/>";
  const table =
    row(cell("Region", starts) + cell("Sales", two) + cell("Staff", starts), isHead) +
    row(goesOn + cell("Spring") + cell("Autumn") + goesOn, isHead) +
    row(cell("North", starts) + cell("1") + cell("2") + cell("3")) +
    row(goesOn + cell("4") + cell("5") + cell("6")) +
    row(cell("South") + cell("7") + cell("none at all", two));
  const units = await parse(
    "DOCX",
    await makeZip({
      "_rels/.rels":
        '<Relationships><Relationship Id="r" Type="x/officeDocument" Target="word/document.xml"/></Relationships>',
      "word/document.xml": `<w:document xmlns:w="w"><w:body><w:tbl>${table}</w:tbl></w:body></w:document>`,
    }),
  );
  expect(tables(units)).toEqual([MERGED]);
  expect(placedTexts(units).map(([, { element }]) => element)).toEqual([
    "tbl[1]",
    "tbl[1]/tr[3]",
    "tbl[1]/tr[4]",
    "tbl[1]/tr[5]",
  ]);
});

test("ODT: merged cells are in each of their rows, and in the head in each of their columns", async () => {
  const cell = (text: string, more = ""): string =>
    `<table:table-cell ${more}><text:p>${text}</text:p></table:table-cell>`;
  const covered = "<table:covered-table-cell/>";
  const row = (cells: string): string => `<table:table-row>${cells}</table:table-row>`;
  const rows = [
    cell("Region") + cell("Sales", 'table:number-columns-spanned="2"') + covered,
    cell("North", 'table:number-rows-spanned="2"') + cell("1") + cell("2"),
    covered + cell("3") + cell("4"),
    cell("South") + cell("none", 'table:number-columns-spanned="2"') + covered,
  ];
  const units = await parse(
    "ODT",
    await makeOdf("text", `<table:table>${rows.map(row).join("")}</table:table>`),
  );
  expect(tables(units)).toEqual([
    ["| Region | Sales | Sales |", "| North | 1 | 2 |", "| North | 3 | 4 |", "| South | none |  |"],
  ]);
});

test("PPTX: merged cells are in each of their rows, and in the head in each of their columns", async () => {
  const cell = (text: string, more = ""): string =>
    `<a:tc ${more}><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`;
  const rows = [
    cell("Region") + cell("Sales", 'gridSpan="2"') + cell("", 'hMerge="1"'),
    cell("North", 'rowSpan="2"') + cell("1") + cell("2"),
    cell("", 'vMerge="1"') + cell("3") + cell("4"),
    cell("South") + cell("none", 'gridSpan="2"') + cell("", 'hMerge="1"'),
  ];
  const table = rows.map((cells) => `<a:tr>${cells}</a:tr>`).join("");
  const relation = (id: string, type: string, target: string): string =>
    `<Relationships><Relationship Id="${id}" Type="x/${type}" Target="${target}"/></Relationships>`;
  const units = await parse(
    "PPTX",
    await makeZip({
      "_rels/.rels": relation("r", "officeDocument", "ppt/presentation.xml"),
      "ppt/_rels/presentation.xml.rels": relation("s", "slide", "slides/slide1.xml"),
      "ppt/presentation.xml": '<p:presentation><p:sldIdLst><p:sldId r:id="s"/></p:sldIdLst></p:presentation>',
      "ppt/slides/slide1.xml":
        '<p:sld><p:cSld><p:spTree><p:graphicFrame><p:nvGraphicFramePr><p:cNvPr name="The table"/>' +
        `</p:nvGraphicFramePr><a:graphic><a:graphicData><a:tbl>${table}</a:tbl></a:graphicData></a:graphic>` +
        "</p:graphicFrame></p:spTree></p:cSld></p:sld>",
    }),
  );
  expect(tables(units)).toEqual([
    ["| Region | Sales | Sales |", "| North | 1 | 2 |", "| North | 3 | 4 |", "| South | none |  |"],
  ]);
  expect(placedTexts(units).at(-1)?.[1]).toEqual({ slide: 1, shape: "The table" });
});

describe("sheets", () => {
  const book = (sheet: WorkSheet, bookType: "xlsx" | "biff8" | "ods" = "xlsx"): Buffer => {
    const made = utils.book_new();
    utils.book_append_sheet(made, sheet, "S");
    return write(made, { type: "buffer", bookType }) as Buffer;
  };
  const merge = (range: string): ReturnType<typeof utils.decode_range> => utils.decode_range(range);

  test.each([
    ["XLSX", "xlsx"],
    ["XLS", "biff8"],
    ["ODS", "ods"],
  ] as const)("%s: merged cells, with a title above", async (fileType, bookType) => {
    const sheet = utils.aoa_to_sheet([
      ["The title"],
      ["Region", "Sales", null, "Staff"],
      [null, "Spring", "Autumn", null],
      ["North", 1, 2, 3],
      [null, 4, 5, 6],
      ["South", 7, "none at all"],
    ]);
    sheet["!merges"] = ["A1:D1", "A2:A3", "B2:C2", "D2:D3", "A4:A5", "C6:D6"].map(merge);
    const units = await parse(fileType, book(sheet, bookType));
    expect(units.map(({ type, text }) => (type === "table" ? "" : text))).toEqual(["S", "The title", ""]);
    expect(tables(units)).toEqual([MERGED]);
    expect(placedTexts(units).map(([, { cells }]) => cells)).toEqual([
      undefined,
      [1, 1, 1, 1],
      [1, 2, 4, 3],
      [1, 4, 4, 4],
      [1, 5, 4, 5],
      [1, 6, 3, 6],
    ]);
  });

  test("numbers under a merged head are no names", async () => {
    const sheet = utils.aoa_to_sheet([
      ["Region", "Sales", null],
      ["North", 1, 2],
      ["South", 3, 4],
    ]);
    sheet["!merges"] = [merge("B1:C1")];
    expect(tables(await parse("XLSX", book(sheet)))).toEqual([
      ["| Region | Sales | Sales |", "| North | 1 | 2 |", "| South | 3 | 4 |"],
    ]);
  });

  test("a table beside and below another has its own head, and notes beside a table stay with its rows", async () => {
    const sheet = utils.aoa_to_sheet([
      ["a", "b", null, null, null, null, null],
      [1, 2],
      [3, 4, null, "c", "d", null, "a note"],
      [5, 6, null, 7, 8],
    ]);
    const units = await parse("XLSX", book(sheet));
    expect(tables(units)).toEqual([
      ["| a | b |", "| 1 | 2 |", "| 3 | 4 |", "| 5 | 6 |"],
      ["| c | d |  | a note |", "| 7 | 8 |  |  |"],
    ]);
    expect(
      placedTexts(units)
        .slice(-2)
        .map(([, { cells }]) => cells),
    ).toEqual([
      [4, 3, 7, 3],
      [4, 4, 5, 4],
    ]);
  });

  test("columns that an empty one separates stay a table if their heads are in one row", async () => {
    const sheet = utils.aoa_to_sheet([
      ["a", null, "b"],
      [1, null, 2],
      [3, null, 4],
    ]);
    expect(tables(await parse("XLSX", book(sheet)))).toEqual([
      ["| a |  | b |", "| 1 |  | 2 |", "| 3 |  | 4 |"],
    ]);
  });
});
