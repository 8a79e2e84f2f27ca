/** Pictures of known text, as files and as scans in a PDF. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { LiteParse } from "@llamaindex/liteparse";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { unpackPlaces } from "../../src/domain/locations/packed.ts";
import type { TextUnit } from "../../src/domain/text-unit.ts";
import { detectFileKind } from "../../src/parsers/file-kind.ts";
import { image } from "../../src/parsers/pdf/image.ts";
import { prepareOcrData } from "../../src/parsers/pdf/ocr-data.ts";
import type { OcrSettings } from "../../src/parsers/parser.ts";
import { pdf } from "../../src/parsers/pdf/pdf.ts";
import { makePdf, makeScannedPdf, makeTiff } from "../support/files/text.ts";

const LINES = [
  "The harbour office opens at seven.",
  "Every vessel reports its cargo",
  "before it enters the inner basin.",
  "Fees are paid on the same day.",
];
const WORDS = LINES.join(" ").split(" ");

let folder: string;
let ocr: OcrSettings;
let png: Buffer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-ocr-"));
  ocr = await prepareOcrData(["eng"], folder);
  const [page] = await new LiteParse({ quiet: true, dpi: 130 }).screenshot(
    makePdf([LINES.map((text, line) => ({ text, size: 16, y: 700 - line * 30 }))]),
    [1],
  );
  png = page!.imageBuffer;
});
afterAll(() => rmSync(folder, { recursive: true }));

const read = (units: readonly { text: string }[]): string => units.map((unit) => unit.text).join(" ");
const recall = (text: string): number => WORDS.filter((word) => text.includes(word)).length / WORDS.length;

/** Pixels of a PNG of 8 bits a channel with transparency, without it. */
function pixelsOf(file: Buffer): { width: number; height: number; rgb: Buffer } {
  const width = file.readUInt32BE(16);
  const height = file.readUInt32BE(20);
  const data: Buffer[] = [];
  for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at))
    if (file.toString("latin1", at + 4, at + 8) === "IDAT")
      data.push(file.subarray(at + 8, at + 8 + file.readUInt32BE(at)));
  const raw = inflateSync(Buffer.concat(data));
  const stride = width * 4;
  const rgb = Buffer.alloc(width * height * 3);
  let above = Buffer.alloc(stride);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)]!;
    const line = Buffer.from(raw.subarray(y * (stride + 1) + 1, (y + 1) * (stride + 1)));
    for (let x = 0; x < stride; x++) {
      const [left, up, corner] = [x < 4 ? 0 : line[x - 4]!, above[x]!, x < 4 ? 0 : above[x - 4]!];
      line[x] = (line[x]! + [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]!) & 255;
    }
    for (let x = 0; x < width; x++) line.copy(rgb, (y * width + x) * 3, x * 4, x * 4 + 3);
    above = line;
  }
  return { width, height, rgb };
}

function paeth(left: number, up: number, corner: number): number {
  const [a, b, c] = [up - corner, left - corner, left + up - 2 * corner].map(Math.abs) as [
    number,
    number,
    number,
  ];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

test("a picture of text gives its words", async () => {
  const parsed = await image.parse({ fileType: "PNG", bytes: png, ocr });
  expect(parsed).toMatchObject({ parser_name: "ocr", page_count: 1 });
  expect(recall(read(parsed.units))).toBeGreaterThanOrEqual(0.99);
});

/** The line of the picture in whose place each box is: the picture's lines are 30 points apart. */
function linesOfBoxes(units: readonly TextUnit[]): (readonly [string, number])[] {
  return units.flatMap((unit) =>
    unpackPlaces(unit.places).map(({ from, to, spot }) => {
      const middle = ((spot.box![1] + spot.box![3]) / 2) * 792;
      return [unit.text.slice(from, to), Math.round((middle - (792 - 700 - 6)) / 30)] as const;
    }),
  );
}

test("the words of a picture and of a scan stand where OCR saw them", async () => {
  const scan = makeScannedPdf(pixelsOf(png));
  for (const { units } of [
    await image.parse({ fileType: "PNG", bytes: png, ocr }),
    await pdf.parse({ fileType: "PDF", bytes: scan, ocr }),
  ])
    expect(linesOfBoxes(units)).toEqual(LINES.map((line, index) => [line, index]));
});

test("a fax in TIFF gives its words", async () => {
  const tiff = makeTiff(pixelsOf(png));
  expect(await detectFileKind(tiff, "fax.tif")).toMatchObject({ fileType: "TIFF" });
  expect(
    recall(read((await image.parse({ fileType: "TIFF", bytes: tiff, ocr })).units)),
  ).toBeGreaterThanOrEqual(0.99);
});

describe("a scanned PDF", () => {
  test("gives the words of its picture, and none without OCR", async () => {
    const scan = makeScannedPdf(pixelsOf(png));
    const parsed = await pdf.parse({ fileType: "PDF", bytes: scan, ocr });
    expect(recall(read(parsed.units))).toBeGreaterThanOrEqual(0.99);
    expect(parsed).toMatchObject({ page_count: 1, warnings: [] });
    await expect(pdf.parse({ fileType: "PDF", bytes: scan })).rejects.toMatchObject({ code: "no_text" });
  });

  test("of a blank sheet fails with no_text", async () => {
    const blank = makeScannedPdf({ width: 200, height: 300, rgb: Buffer.alloc(200 * 300 * 3, 255) });
    await expect(pdf.parse({ fileType: "PDF", bytes: blank, ocr })).rejects.toMatchObject({
      code: "no_text",
    });
  });
});

test("a file that is no picture is corrupt, and without OCR pictures are not supported", async () => {
  await expect(image.parse({ fileType: "PNG", bytes: Buffer.from("no picture"), ocr })).rejects.toMatchObject(
    { code: "corrupt" },
  );
  await expect(image.parse({ fileType: "PNG", bytes: png })).rejects.toMatchObject({
    code: "unsupported_file_type",
  });
});

test("a language without data is refused with the name of the package that has it", async () => {
  await expect(prepareOcrData(["xxx"], folder)).rejects.toThrow("npm install @tesseract.js-data/xxx");
});
