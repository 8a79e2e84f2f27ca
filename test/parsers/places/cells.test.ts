/** The cells of tables of values: each row of a table is where the sheet has it. */

import { type BookType, read, utils, type WorkSheet, write } from "@e965/xlsx";
import { describe, expect, test } from "vitest";
import type { FileType } from "../../../src/domain/file-type.ts";
import { rangeName } from "../../../src/domain/locations/location.ts";
import { packedSize } from "../../../src/domain/locations/packed.ts";
import type { TextUnit } from "../../../src/domain/text-unit.ts";
import { parserFor } from "../../../src/parsers/index.ts";
import { tableCells } from "../../../src/parsers/text/markdown-lines.ts";
import { makeZip } from "../../support/files/office.ts";
import { placedTexts, spotOf } from "../../support/files/places.ts";

async function parse(fileType: FileType, bytes: Buffer | string): Promise<readonly TextUnit[]> {
  return (await parserFor(fileType).parse({ fileType, bytes: Buffer.from(bytes as string) })).units;
}

function book(bookType: BookType, sheets: Readonly<Record<string, WorkSheet>>): Buffer {
  const made = utils.book_new();
  for (const [name, sheet] of Object.entries(sheets)) utils.book_append_sheet(made, sheet, name);
  return write(made, { type: "buffer", bookType }) as Buffer;
}

/** The stretches with cells, by their range: `Sheet!B2:D2`. */
const ranges = (units: readonly TextUnit[]): [text: string, range: string][] =>
  placedTexts(units).flatMap(([text, { sheet = "", cells }]): [string, string][] =>
    cells === undefined ? [] : [[text, `${sheet}!${rangeName(cells)}`]],
  );

const filled = (cells: readonly string[]): string[] => cells.filter((cell) => cell !== "");

/** Each row has the words of its range, neither more nor fewer, as another reader of the file finds them. */
function expectCellsToHold(units: readonly TextUnit[], file: Buffer): void {
  const { Sheets: sheets, SheetNames: names } = read(file, { type: "buffer" });
  // SheetJS leaves the names of OpenDocument escaped.
  const sheetOf = new Map(names.map((name) => [name.replace("&amp;", "&"), sheets[name]]));
  const found = placedTexts(units).filter(([, { cells }]) => cells !== undefined);
  expect(found.length).toBeGreaterThan(0);
  for (const [text, { sheet = "", cells = [1, 1, 1, 1] }] of found) {
    const [left, top, right, bottom] = cells;
    const words: string[] = [];
    for (let row = top; row <= bottom; row++)
      for (let column = left; column <= right; column++)
        words.push(sheetOf.get(sheet)?.[utils.encode_cell({ r: row - 1, c: column - 1 })]?.w ?? "");
    expect(filled(words)).toEqual(text.startsWith("|") ? filled(tableCells(text)) : [text]);
    expect([words[0], words.at(-1)]).not.toContain("");
  }
}

/**
 * Two sheets with empty rows and columns at the start, gaps, two tables one below the other, a hidden row.
 */
function spacedSheets(): Record<string, WorkSheet> {
  const spaced = utils.sheet_add_aoa(
    {},
    [
      ["Stock of fruit"],
      ["Name", "Count", "Since"],
      ["Apple", 3, "May"],
      ["", 5, ""],
      ["Pear", "", "June"],
      [],
      [],
      ["Total", 8],
      ["Rest", 1],
    ],
    { origin: "C4" },
  );
  spaced["!rows"] = [];
  spaced["!rows"][5] = { hidden: true };
  return {
    "Fruit & more": spaced,
    Second: utils.sheet_add_aoa(
      {},
      [
        ["a", "b"],
        [1, 2],
      ],
      { origin: "AB200" },
    ),
  };
}

describe.each<[FileType, BookType]>([
  ["XLSX", "xlsx"],
  ["XLS", "biff8"],
  ["ODS", "ods"],
])("%s", (fileType, bookType) => {
  test("rows have their cells, after empty rows and columns, gaps and hidden rows", async () => {
    const file = book(bookType, spacedSheets());
    const units = await parse(fileType, file);
    expect(ranges(units)).toEqual([
      ["Stock of fruit", "Fruit & more!C4"],
      ["| Name | Count | Since |", "Fruit & more!C5:E5"],
      ["| Apple | 3 | May |", "Fruit & more!C6:E6"],
      ["|  | 5 |  |", "Fruit & more!D7"],
      ["| Pear |  | June |", "Fruit & more!C8:E8"],
      ["| Total | 8 |", "Fruit & more!C11:D11"],
      ["| Rest | 1 |", "Fruit & more!C12:D12"],
      ["| a | b |", "Second!AB200:AC200"],
      ["| 1 | 2 |", "Second!AB201:AC201"],
    ]);
    expectCellsToHold(units, file);
    expect(spotOf(units, "Fruit & more")).toEqual({ sheet: "Fruit & more" });
  });

  test("rows of a long and wide table have their cells in each of its parts", async () => {
    const rows = Array.from({ length: 700 }, (_, row) =>
      Array.from({ length: 40 }, (_, column) => `r${row + 3}c${column + 2}`),
    );
    const units = await parse(
      fileType,
      book(bookType, { S: utils.sheet_add_aoa({}, rows, { origin: "B3" }) }),
    );
    const found = ranges(units);
    expect(units.length).toBeGreaterThan(2);
    for (const [text, range] of found) {
      const number = /r(\d+)c2/.exec(text)?.[1];
      expect(range).toBe(`S!B${number}:AO${number}`);
    }
    expect(new Set(found.map(([, range]) => range)).size).toBe(700);
  });
});

test("a sheet that is nearly empty keeps the cells of what it has", async () => {
  const sheet: WorkSheet = { "!ref": "A1:ALL200" };
  for (let at = 0; at < 200; at++)
    sheet[utils.encode_cell({ r: at, c: at * 4 })] = { t: "s", v: `word${at}` };
  const file = book("xlsx", { S: sheet });
  const units = await parse("XLSX", file);
  expectCellsToHold(units, file);
  expect(ranges(units)).toHaveLength(200);
});

test("the rows after a long gap of an OpenDocument sheet keep their numbers, although it is shortened", async () => {
  const cell = (text: string): string =>
    `<table:table-cell office:value-type="string"><text:p>${text}</text:p></table:table-cell>`;
  const row = (inner: string, times = 1): string =>
    `<table:table-row table:number-rows-repeated="${times}">${inner}</table:table-row>`;
  const sheet = (name: string, rows: string): string =>
    `<table:table table:name="${name}">${rows}</table:table>`;
  const gap = row('<table:table-cell table:number-columns-repeated="1024"/>', 5_000);
  const namespaces = ["office", "text", "table"]
    .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
    .join(" ");
  const first =
    row(cell("a") + cell("b")) + gap + row(cell("c") + cell("d"), 2) + gap + row(cell("e") + cell("f"));
  const file = await makeZip({
    mimetype: "application/vnd.oasis.opendocument.spreadsheet",
    "META-INF/manifest.xml": "<manifest/>",
    "styles.xml": "<styles/>",
    "content.xml":
      `<office:document-content ${namespaces}><office:body><office:spreadsheet>` +
      `${sheet("First", first)}${sheet("Second", row(cell("g") + cell("h")))}` +
      "</office:spreadsheet></office:body></office:document-content>",
  });
  expect(ranges(await parse("ODS", file))).toEqual([
    ["| a | b |", "First!A1:B1"],
    ["| c | d |", "First!A5002:B5002"],
    ["| c | d |", "First!A5003:B5003"],
    ["| e | f |", "First!A10004:B10004"],
    ["| g | h |", "Second!A1:B1"],
  ]);
});

describe("CSV", () => {
  test.each([
    ["LF", "\n"],
    ["CRLF", "\r\n"],
  ])(
    "rows are counted as a spreadsheet does, with empty lines and breaks in cells: %s",
    async (_name, end) => {
      const lines = ["", "name,count", 'Apple,"3', '4"', "", "", "Pear,", ",5", "Plum,6,7"];
      const units = await parse("CSV", `\uFEFF${lines.join(end)}${end}`);
      expect(ranges(units).map(([, range]) => range)).toEqual(["!A2:B2", "!A3:B3", "!A6", "!B7", "!A8:C8"]);
    },
  );

  test("rows without empty lines are counted too", async () => {
    expect(ranges(await parse("TSV", "a\tb\n1\t2\n3\t4"))).toEqual([
      ["| a | b |", "!A1:B1"],
      ["| 1 | 2 |", "!A2:B2"],
      ["| 3 | 4 |", "!A3:B3"],
    ]);
  });

  test("a stray quote changes no number", async () => {
    const rows = Array.from(
      { length: 50_000 },
      (_, at) => `name ${at},${at === 7 ? '"' : at},some more words`,
    );
    const units = await parse("CSV", ["name,count,more", "", ...rows].join("\n"));
    for (const [text, range] of ranges(units).filter(([found]) => !found.startsWith("| name | count")))
      expect(range).toMatch(new RegExp(`^!A${Number(/name (\d+)/.exec(text)?.[1]) + 3}:`));
  });

  test("a hundred thousand rows take at most sixteen characters each for their places", async () => {
    const units = await parse("CSV", `name,count\n${"some words,1\n".repeat(100_000)}`);
    const size = units.reduce((sum, unit) => sum + packedSize(unit.places), 0);
    expect(ranges(units).at(-1)?.[1]).toBe("!A100001:B100001");
    expect(size).toBeLessThan(100_000 * 16);
  });
});
