/** What is a table in a PDF, what only looks like one, and which cells are in which row. */

import { expect, test } from "vitest";
import { unpackPlaces } from "../../../../src/domain/locations/packed.ts";
import type { TextUnit } from "../../../../src/domain/text-unit.ts";
import { pdf } from "../../../../src/parsers/pdf/pdf.ts";
import { tableParts } from "../../../../src/parsers/pdf/layout/tables.ts";
import { withNeighbours } from "../../../../src/parsers/pdf/layout/table-neighbours.ts";
import { pageRuns } from "../../../../src/parsers/pdf/layout/page-runs.ts";
import { makePdf, type PdfLine } from "../../../support/files/text.ts";

const parse = async (lines: readonly PdfLine[]): Promise<readonly TextUnit[]> =>
  (await pdf.parse({ fileType: "PDF", bytes: makePdf([lines]) })).units;

const row = (cells: readonly string[], y: number, xs = [72, 160, 260, 340]): PdfLine[] =>
  cells.flatMap((text, column) => (text === "" ? [] : [{ text, x: xs[column]!, y, size: 10 }]));

interface Item {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly fontName?: string;
}

const item = (text: string, x: number, y: number, fontName = "Body"): Item => ({
  text,
  x,
  y,
  width: text.length * 5,
  height: 10,
  fontName,
});
const cell = ({ text, x, y, width, height }: Item) => ({ text, bbox: { x, y, width, height } });

test("justified lines that were cut after their first word are paragraphs and headings again", () => {
  const lines = [
    [item("2", 100, 10, "Bold"), item("Working with it", 120, 10, "Bold")],
    [item("The", 100, 30), item("class is an extension of the standard", 120, 30)],
    [item("defining", 100, 42), item("styles and spacing of head-", 145, 42)],
    [item("ings", 100, 54), item("and captions.", 125, 54)],
  ];
  const runs = pageRuns(lines.flat()).runs;
  const parts = tableParts({ kind: "table", rows: lines.map((line) => line.map(cell)) }, runs);
  expect(
    parts.map(({ type, level, pieces }) => [type, level, pieces.map(({ text }) => text).join()]),
  ).toEqual([
    ["heading", 1, "2 Working with it"],
    [
      "paragraph",
      undefined,
      "The class is an extension of the standard defining styles and spacing of headings and captions.",
    ],
  ]);
});

test("a row in which two were put together is two rows, and a cell of two lines stays one", () => {
  const lines = [
    ["", "Hours", "Rate", "Cost"],
    ["Parts", "", "", "2,100"],
    ["Labor", "2", "150", "300"],
    ["Paint", "1", "150", "150"],
  ].map((texts, index) => texts.map((text, column) => item(text, 50 + column * 80, 20 + index * 14)));
  const [head, parts, ...others] = lines;
  const merged = head!.map((above, column) => {
    const both = [above, parts![column]!].filter(({ text }) => text !== "");
    const tall = both.length === 2;
    return {
      text: both.map(({ text }) => text).join(" "),
      bbox: { ...cell(both[0]!).bbox, height: tall ? 24 : 10 },
    };
  });
  const runs = pageRuns(lines.flat()).runs;
  const rows = [merged, ...others.map((line) => line.map(cell))];
  const [table] = tableParts({ kind: "table", rows }, runs);
  expect(table?.pieces.map(({ text }) => text)).toEqual([
    "|  | Hours | Rate | Cost |",
    "| --- | --- | --- | --- |",
    "| Parts |  |  | 2,100 |",
    "| Labor | 2 | 150 | 300 |",
    "| Paint | 1 | 150 | 150 |",
  ]);
});

test("lines above and below whose cells fit the columns are rows of the table", () => {
  const table = [
    ["Name", "Ann", "Year", "2022"],
    ["Claim", "SF-1", "Make", "Jeep"],
    ["Policy", "POL-2", "Model", "Grand"],
  ].map((texts, index) => texts.map((text, column) => item(text, 50 + column * 80, 40 + index * 14)));
  const above = [item("Customer", 52, 26), item("Vehicle", 215, 26)];
  const below = [item("Order", 50, 92), item("RO-3", 130, 92), item("Agent", 210, 92), item("Bo", 290, 92)];
  const block = (kind: "heading" | "paragraph", items: readonly Item[]) => ({
    kind,
    text: items.map(({ text }) => text).join(" "),
    bbox: { x: 50, y: items[0]!.y, width: 300, height: 10 },
  });
  const runs = pageRuns([...above, ...table.flat(), ...below]).runs;
  const after = {
    kind: "paragraph" as const,
    text: "Prose.",
    bbox: { x: 50, y: 120, width: 30, height: 10 },
  };
  const blocks = withNeighbours(
    [
      block("heading", above),
      { kind: "table", rows: table.map((line) => line.map(cell)) },
      { kind: "rule" },
      block("paragraph", below),
      after,
    ],
    runs,
  );
  expect(blocks.map(({ kind }) => kind)).toEqual(["table", "paragraph"]);
  expect(blocks[0]?.rows?.map((cells) => cells.map(({ text }) => text))).toEqual([
    ["Customer", "", "Vehicle", ""],
    ["Name", "Ann", "Year", "2022"],
    ["Claim", "SF-1", "Make", "Jeep"],
    ["Policy", "POL-2", "Model", "Grand"],
    ["Order", "RO-3", "Agent", "Bo"],
  ]);
});

test("each row of a table has a box around its cells", async () => {
  const units = await parse([
    ...row(["Name", "Count", "Price"], 500),
    ...row(["Apple", "3", "1.50"], 485),
    ...row(["Pear", "5", "2.50"], 470),
  ]);
  expect(units.map((unit) => unit.type)).toEqual(["table"]);
  const [table] = units;
  const places = unpackPlaces(table!.places);
  expect(places.map(({ from, to }) => table!.text.slice(from, to))).toEqual([
    "| Name | Count | Price |",
    "| Apple | 3 | 1.50 |",
    "| Pear | 5 | 2.50 |",
  ]);
  for (const [index, { spot }] of places.entries()) {
    const baseline = (792 - (500 - index * 15)) / 792;
    expect(spot.box![1]).toBeLessThan(baseline - 0.004);
    expect(spot.box![3]).toBeGreaterThan(baseline - 0.004);
    expect(spot.box![2]).toBeGreaterThan(260 / 612);
  }
});
