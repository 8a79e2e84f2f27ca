/** Where the lines of PDFs stand on their pages, as another reader (pdf.js) finds them. */

import { describe, expect, test } from "vitest";
import { isInside, readWords } from "../../../bench/receipts/reader.ts";
import type { Box } from "../../../src/domain/locations/location.ts";
import { unpackPlaces } from "../../../src/domain/locations/packed.ts";
import type { TextUnit } from "../../../src/domain/text-unit.ts";
import { pdf } from "../../../src/parsers/pdf/pdf.ts";
import { unpdfParse } from "../../../src/parsers/pdf/unpdf.ts";
import { makePdf, makeUnicodePdf, type PdfLine, truncated } from "../../support/files/text.ts";

interface PlacedLine {
  readonly text: string;
  readonly page: number;
  readonly box: Box;
}

function linesOf(units: readonly TextUnit[]): PlacedLine[] {
  return units.flatMap((unit) =>
    unpackPlaces(unit.places).map(({ from, to, spot }) => ({
      text: unit.text.slice(from, to),
      page: spot.page!,
      box: spot.box!,
    })),
  );
}

/** Each place with the words that the other reader finds in its box. */
async function readBack(bytes: Buffer, units: readonly TextUnit[]): Promise<(readonly [string, string])[]> {
  const words = await readWords(bytes);
  return linesOf(units).map((line) => [
    line.text,
    words
      .filter((word) => isInside(word, [line]))
      .map((word) => word.text)
      .join(" "),
  ]);
}

const parse = async (bytes: Buffer): Promise<readonly TextUnit[]> =>
  (await pdf.parse({ fileType: "PDF", bytes })).units;

const WORDS: PdfLine[] = [
  { text: "Alpha stands above all others", x: 150, y: 600 },
  { text: "Beta stands far below it", x: 200, y: 300 },
];

describe("boxes are fractions of the page as it is shown", () => {
  test.each([
    ["upright", {}],
    ["turned by 90 degrees", { pageEntries: "/Rotate 90" }],
    ["turned by 180 degrees", { pageEntries: "/Rotate 180" }],
    ["turned by 270 degrees", { pageEntries: "/Rotate 270" }],
    ["turned to the left", { pageEntries: "/Rotate -90" }],
    ["cropped", { pageEntries: "/CropBox [100 200 500 700]" }],
    ["cropped and turned", { pageEntries: "/Rotate 90 /CropBox [100 200 500 700]" }],
    ["cropped and turned back", { pageEntries: "/Rotate 270 /CropBox [100 200 500 700]" }],
    ["with another origin", { mediaBox: [50, 100, 650, 900] as const }],
    ["with a larger unit", { pageEntries: "/UserUnit 2" }],
    ["of 5 m", { mediaBox: [0, 0, 14_173, 14_173] as const }],
  ])("%s", async (_name, options) => {
    const bytes = makePdf([WORDS], options);
    const units = await parse(bytes);
    expect(units.map((unit) => unit.text)).toEqual(WORDS.map((line) => line.text));
    expect(await readBack(bytes, units)).toEqual(WORDS.map(({ text }) => [text, text]));
    const fallback = await unpdfParse({ fileType: "PDF", bytes });
    expect(await readBack(bytes, fallback.units)).toEqual(
      expect.arrayContaining(WORDS.map(({ text }) => [text, text])),
    );
    for (const { box } of [...linesOf(units), ...linesOf(fallback.units)])
      expect(box.every((side) => side >= 0 && side <= 1)).toBe(true);
  });

  test("the box of a line is that of its letters", async () => {
    const [line] = linesOf(await parse(makePdf([[{ text: "Alpha", x: 306, y: 396, size: 24 }]])));
    expect(line?.text).toBe("Alpha");
    const [left, top, right, bottom] = line!.box;
    expect(left).toBeCloseTo(306 / 612, 2);
    expect(bottom).toBeGreaterThan(0.49);
    expect(bottom).toBeLessThan(0.52);
    expect(bottom - top).toBeLessThan(30 / 792);
    expect(right - left).toBeLessThan(80 / 612);
  });

  test("text outside of what is shown has no place", async () => {
    const bytes = makePdf([WORDS], { pageEntries: "/CropBox [100 500 500 700]" });
    const found = await readBack(bytes, await parse(bytes));
    expect(found).toEqual([[WORDS[0]!.text, WORDS[0]!.text]]);
  });
});

describe("lines", () => {
  const column = (name: string, x: number): PdfLine[] =>
    Array.from({ length: 12 }, (_, line) => ({
      text: `${name} column line ${line} of it`,
      x,
      y: 700 - line * 14,
    }));

  test("of two columns have boxes of their own, although they are side by side", async () => {
    const bytes = makePdf([[...column("left", 72), ...column("right", 330)]]);
    const found = await readBack(bytes, await parse(bytes));
    expect(found).toHaveLength(24);
    for (const [text, read] of found) expect(read).toBe(text);
  });

  test("that repeat the same words are told apart by their order", async () => {
    const lines = Array.from({ length: 5 }, (_, line) => ({
      text: "the same words",
      x: 72,
      y: 700 - line * 14,
    }));
    const placed = linesOf(await parse(makePdf([lines])));
    expect(placed.map((line) => line.text)).toEqual(lines.map(({ text }) => text));
    const tops = placed.map(({ box }) => box[1]);
    expect(tops).toEqual(tops.toSorted((one, other) => one - other));
  });

  test("keep the part of a word before a hyphen, and ligatures", async () => {
    const bytes = makeUnicodePdf(["eﬃcient ofﬁce and ﬂow of inter-", "national words in lines."]);
    const [unit, ...others] = await parse(bytes);
    expect(others).toEqual([]);
    const places = unpackPlaces(unit!.places);
    expect(places).toHaveLength(2);
    expect(unit!.text.slice(places[1]!.from)).toBe("national words in lines.");
    expect(unit!.text.slice(places[0]!.from, places[0]!.to)).toMatch(/inter$/);
    expect(places[0]!.spot.box![1]).toBeLessThan(places[1]!.spot.box![1]);
  });

  test("of Chinese stand where they are", async () => {
    const lines = ["数据库系统是管理数据的软件。", "第二行也有文字。"];
    const bytes = makeUnicodePdf(lines);
    expect(await readBack(bytes, await parse(bytes))).toEqual(lines.map((line) => [line, line]));
  });

  test("of Arabic are in reading order and stand where they are", async () => {
    const drawn = (text: string): string => Array.from(text).toReversed().join("");
    const lines = ["مرحبا بالعالم الجديد هنا", "السفن تصل كل يوم"];
    const bytes = makeUnicodePdf(lines.map(drawn));
    const placed = linesOf(await parse(bytes));
    expect(placed.map(({ text }) => text)).toEqual(lines);
    placed.forEach(({ box }, index) => {
      expect(box[0]).toBeCloseTo(72 / 612, 2);
      expect(box[2]).toBeCloseTo((72 + lines[index]!.length * 9.8) / 612, 2);
      const baseline = (792 - 700 + index * 40) / 792;
      expect(box[1]).toBeLessThan(baseline - 0.004);
      expect(box[3]).toBeGreaterThan(baseline - 0.004);
    });
  });

  test("of Arabic in two columns are read from the right one on, and numbers from left to right", async () => {
    const column = (word: string, price: string) =>
      Array.from({ length: 4 }, () => `${price} ${Array.from(`${word} هنا كل يوم`).toReversed().join("")}`);
    const right = column("ميناء", "250");
    const left = column("مكتب", "17");
    const bytes = makeUnicodePdf(
      left.map((line, index) => `${line}${" ".repeat(34 - line.length)}${right[index]!}`),
    );
    const text = (await parse(bytes)).map((unit) => unit.text).join(" ");
    expect(text).toContain("ميناء هنا كل يوم 250");
    expect(text.lastIndexOf("ميناء")).toBeLessThan(text.indexOf("مكتب"));
    expect(text).toContain("مكتب هنا كل يوم 17");
  });

  test("of lists, headings and running heads have places", async () => {
    const pages = ["one", "two", "three", "four"].map((word) => [
      { text: "Company confidential", y: 770, size: 9 },
      { text: `Chapter of ${word}`, size: 24, y: 700 },
      { text: `1. first point of ${word}`, y: 600 },
      { text: `2. second point of ${word}`, y: 585 },
    ]);
    const bytes = makePdf(pages);
    const units = await parse(bytes);
    expect(units.filter((unit) => unit.repeats)).toHaveLength(4);
    const found = await readBack(bytes, units);
    expect(found).toHaveLength(16);
    for (const [text, read] of found) expect(read).toBe(text);
  });
});

describe("files that are damaged", () => {
  test("have no place or a right one, wherever they are cut", async () => {
    const whole = makePdf([WORDS, WORDS]);
    for (const bytes of [truncated(whole), whole.subarray(0, whole.length - 40)]) {
      const parsed = await pdf.parse({ fileType: "PDF", bytes }).catch(() => undefined);
      for (const { box, page } of linesOf(parsed?.units ?? [])) {
        expect(page).toBeLessThanOrEqual(2);
        expect(box.every((side) => side >= 0 && side <= 1)).toBe(true);
      }
    }
  });

  test("of thousands of equal letters take no minutes", async () => {
    const lines = Array.from({ length: 8_000 }, (_, index) => ({
      text: "a",
      x: 20 + (index % 90) * 6,
      y: 780 - Math.floor(index / 90) * 8,
      size: 5,
    }));
    const start = performance.now();
    await pdf.parse({ fileType: "PDF", bytes: makePdf([lines]) });
    expect(performance.now() - start).toBeLessThan(20_000);
  }, 60_000);
});
