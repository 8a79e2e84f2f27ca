/** PDF files of known text, and files that are no PDF. */

import { describe, expect, test } from "vitest";
import type { ParseInput } from "../../../src/parsers/parser.ts";
import { pdf } from "../../../src/parsers/pdf/pdf.ts";
import { pdfDateAsIso, xmpMetadata } from "../../../src/parsers/pdf/metadata.ts";
import { unpdfPageCount, unpdfParse } from "../../../src/parsers/pdf/unpdf.ts";
import { makeGarbagePdf, makeLongPdf, makePdf, makeUnicodePdf, truncated } from "../../support/files/text.ts";

const input = (bytes: Buffer, pages?: [number, number]): ParseInput => ({ fileType: "PDF", bytes, pages });

const SENTENCE =
  "The quick brown fox jumps over the lazy dog, and then it writes snake_case and 2*3 with a \\ sign.";
const row = (cells: string[], y: number) => cells.map((text, column) => ({ text, x: 72 + column * 130, y }));
const report = makePdf(
  [
    [
      { text: "Annual report", size: 24 },
      SENTENCE,
      "1. first point",
      "2. second point",
      ...row(["Name", "Count", "Price"], 500),
      ...row(["Apple", "3", "1.50"], 485),
      ...row(["Pear", "5", "2.50"], 470),
    ],
    [{ text: "Second chapter", size: 24 }, "Text of the second page."],
  ],
  { title: "The report", author: "Ann" },
);

test("headings, paragraphs, lists and tables have page, heading path and text", async () => {
  const parsed = await pdf.parse(input(report));
  expect(parsed).toMatchObject({ parser_name: "liteparse", page_count: 2, warnings: [] });
  expect(parsed.units.map((unit) => ({ ...unit, places: undefined }))).toEqual([
    { type: "heading", text: "Annual report", page: 1, heading_path: ["Annual report"], level: 1 },
    { type: "paragraph", text: SENTENCE, page: 1, heading_path: ["Annual report"] },
    { type: "list", text: "1. first point\n2. second point", page: 1, heading_path: ["Annual report"] },
    {
      type: "table",
      text: "| Name | Count | Price |\n| --- | --- | --- |\n| Apple | 3 | 1.50 |\n| Pear | 5 | 2.50 |",
      page: 1,
      heading_path: ["Annual report"],
    },
    { type: "heading", text: "Second chapter", page: 2, heading_path: ["Second chapter"], level: 1 },
    { type: "paragraph", text: "Text of the second page.", page: 2, heading_path: ["Second chapter"] },
  ]);
});

test("two columns are read one after the other", async () => {
  const column = (name: string, x: number) =>
    Array.from({ length: 12 }, (_, line) => ({
      text: `${name} column line ${line} of it`,
      x,
      y: 700 - line * 14,
    }));
  const parsed = await pdf.parse(input(makePdf([[...column("left", 72), ...column("right", 330)]])));
  const text = parsed.units.map((unit) => unit.text).join(" ");
  expect(text.lastIndexOf("left")).toBeLessThan(text.indexOf("right"));
});

test("East Asian text is as written, and right-to-left text is in reading order", async () => {
  const hebrew = "שלום עולם";
  const parsed = await pdf.parse(
    input(makeUnicodePdf(["数据库系统は速い。", Array.from(hebrew).toReversed().join("")])),
  );
  const text = parsed.units.map((unit) => unit.text).join("\n");
  expect(text).toContain("数据库系统は速い。");
  expect(text).toContain(hebrew);
});

describe("page ranges", () => {
  const long = makeLongPdf(60);

  test("a range gives only its pages, across batches, and the page count of the whole document", async () => {
    const parsed = await pdf.parse(input(long, [20, 55]));
    expect(parsed.page_count).toBe(60);
    expect([...new Set(parsed.units.map((unit) => unit.page))]).toEqual(
      Array.from({ length: 36 }, (_, index) => index + 20),
    );
  });

  test("all ranges together are the document", async () => {
    const parts = await Promise.all([pdf.parse(input(long, [1, 30])), pdf.parse(input(long, [31, 90]))]);
    expect(parts.flatMap((part) => part.units)).toEqual((await pdf.parse(input(long))).units);
  });

  test("the page count is told without reading the text", async () => {
    expect(await pdf.pageCount?.(input(long))).toBe(60);
    expect(await unpdfPageCount(input(long))).toBe(60);
  });
});

describe("files that cannot be read end with their code", () => {
  test.each([
    ["of no bytes", Buffer.alloc(0), "empty_file"],
    ["with a password", makePdf([["secret"]], { userPassword: "secret" }), "encrypted"],
    ["of noise", makeGarbagePdf(), "corrupt"],
    ["of plain text", Buffer.from("hello"), "corrupt"],
    ["cut in half", truncated(makeLongPdf(10)), "corrupt"],
    ["without any text", makePdf([[], []]), "no_text"],
  ])("a file %s", async (_name, bytes, code) => {
    await expect(pdf.parse(input(bytes))).rejects.toMatchObject({ code });
  });

  test("a file whose password is empty opens for everyone", async () => {
    expect((await pdf.parse(input(makePdf([["open"]], { userPassword: "" })))).units[0]?.text).toBe("open");
  });
});

test("pages without text give warnings, adjacent ones together", async () => {
  const parsed = await pdf.parse(input(makePdf([["one"], [], [], ["four"], []])));
  expect(parsed.warnings).toEqual([
    { pages: [2, 3], code: "no_text" },
    { pages: [5, 5], code: "no_text" },
  ]);
});

test("text that the first parser takes for hidden is found by the second one", async () => {
  const flat = Buffer.from(
    makePdf([["Narrow words."]])
      .toString("latin1")
      .replace("72 709 Td", "0 Tz 9 Td"),
    "latin1",
  );
  for (const pages of [undefined, [1, 1] as [number, number]]) {
    const parsed = await pdf.parse(input(flat, pages));
    expect(parsed.parser_name).toBe("unpdf");
    expect(parsed.units.map((unit) => unit.text)).toEqual(["Narrow words."]);
  }
});

test("the fallback gives pages, text, title and codes without the native part", async () => {
  const parsed = await unpdfParse(input(report));
  expect(parsed).toMatchObject({
    parser_name: "unpdf",
    page_count: 2,
    metadata: { title: "The report", author: "Ann" },
  });
  expect(
    parsed.units
      .filter((unit) => unit.page === 2)
      .map((unit) => unit.text)
      .join("\n"),
  ).toContain("Text of the second page.");
  expect((await unpdfParse(input(makeLongPdf(9), [3, 4]))).units.map((unit) => unit.page)).toEqual([3, 4]);
  await expect(unpdfParse(input(makePdf([["secret"]], { userPassword: "x" })))).rejects.toMatchObject({
    code: "encrypted",
  });
  await expect(unpdfParse(input(makeGarbagePdf()))).rejects.toMatchObject({ code: "corrupt" });
});

describe("running headers and footers", () => {
  const bodies = [
    "Wheat was sold early.",
    "Rain fell for a week.",
    "Boats stayed in port.",
    "Nobody counted the crates.",
  ];
  const paged = (header: (page: number) => string): Buffer =>
    makePdf(
      bodies.map((body, index) => [
        { text: header(index + 1), y: 770, size: 9 },
        { text: body, y: 500 },
        { text: `Page ${index + 1} of 4`, y: 20, size: 9 },
      ]),
    );

  test("that recur are marked, with their numbers, and stay in the text", async () => {
    const { units } = await pdf.parse(input(paged(() => "Company confidential")));
    expect(units.filter((unit) => unit.repeats).map((unit) => unit.text)).toEqual(
      [1, 2, 3, 4].flatMap((page) => ["Company confidential", `Page ${page} of 4`]),
    );
    expect(units.filter((unit) => !unit.repeats).map((unit) => unit.text)).toEqual(bodies);
    expect(units.every((unit) => unit.heading_path.length === 0)).toBe(true);
  });

  test("that differ are text", async () => {
    const { units } = await pdf.parse(
      input(paged((page) => ["On wheat", "On rain", "On boats", "On crates"][page - 1]!)),
    );
    expect(units.filter((unit) => unit.repeats).every((unit) => unit.text.startsWith("Page"))).toBe(true);
  });

  test("on chapters that are numbered at the top of their pages there is none", async () => {
    const { units } = await pdf.parse(input(makeLongPdf(12)));
    expect(units.filter((unit) => unit.repeats)).toEqual([]);
    expect(units.filter((unit) => unit.type === "heading")).toHaveLength(12);
  });
});

test("title and author come from the older dictionary if there is no XMP", async () => {
  expect((await pdf.parse(input(report))).metadata).toMatchObject({ title: "The report", author: "Ann" });
});

test("dates and XMP are read as they are written", () => {
  expect(pdfDateAsIso("D:20230112174637+01'00'")).toBe("2023-01-12T16:46:37.000Z");
  expect(pdfDateAsIso("D:2023")).toBe("2023-01-01T00:00:00.000Z");
  expect(pdfDateAsIso("yesterday")).toBeUndefined();
  const xmp =
    "<dc:title><rdf:Alt><rdf:li xml:lang='x-default'>A &amp; B</rdf:li></rdf:Alt></dc:title>" +
    "<dc:creator><rdf:Seq><rdf:li>Ann</rdf:li><rdf:li>Bo</rdf:li></rdf:Seq></dc:creator>";
  expect(xmpMetadata(xmp)).toEqual({ title: "A & B", author: "Ann, Bo" });
});
