/** Office documents of known text, and archives that are no such documents. */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import type { FileType } from "../../src/domain/file-type.ts";
import { unitsAsMarkdown, type ParsedDocument, type TextUnit } from "../../src/domain/text-unit.ts";
import { detectFileKind } from "../../src/parsers/file-kind.ts";
import { parserFor } from "../../src/parsers/index.ts";
import { makeDocx, makeEpub, makeOdf, makePptx, makeSheets, makeZip } from "../support/files/office.ts";

const parse = (fileType: FileType, bytes: Buffer | string, name?: string): Promise<ParsedDocument> =>
  parserFor(fileType).parse({ fileType, bytes: Buffer.from(bytes as string), name });
const brief = (units: readonly TextUnit[]): unknown[] =>
  units.map((unit) => [
    unit.type,
    unit.text,
    ...(unit.level === undefined ? [] : [unit.level]),
    ...(unit.repeats ? ["repeats"] : []),
  ]);

test("DOCX: headings with levels, lists, notes, comments, tables, running headers, all scripts", async () => {
  const parsed = await parse("DOCX", await makeDocx());
  expect(brief(parsed.units)).toEqual([
    ["paragraph", "Confidential", "repeats"],
    ["heading", "Plan", 1],
    ["paragraph", "We build bold things.[^1]"],
    ["paragraph", "[^1]: A note at the foot."],
    ["quote", "> Comment by Bo: Is this so?"],
    ["heading", "Steps", 2],
    ["list", "- first point\n  - nested point\n1. one\n2. two"],
    [
      "table",
      "| Name | Count | Price |\n| --- | --- | --- |\n| Apple \\| Pear | 3 | 1.50 |\n| Total |  | 4.50 |",
    ],
    ["paragraph", "مرحبا بالعالم"],
    ["paragraph", "数据库系统は速い。"],
    ["paragraph", "Company footer", "repeats"],
  ]);
  expect(parsed.units.find((unit) => unit.type === "table")?.heading_path).toEqual(["Plan", "Steps"]);
  expect(parsed).toMatchObject({
    page_count: null,
    metadata: { title: "The plan", author: "Ann", created_at: expect.stringMatching(/^\d{4}-/) },
  });
});

test("PPTX: slides are pages under their titles, with tables and notes", async () => {
  const parsed = await parse("PPTX", await makePptx());
  expect(parsed.units.map((unit) => [unit.page, unit.type, unit.text])).toEqual([
    [1, "heading", "Results"],
    [1, "list", "- up\n- down"],
    [1, "table", "| Name | Count |\n| --- | --- |\n| Apple | 3 |"],
    [1, "heading", "Notes"],
    [1, "paragraph", "Say it slowly."],
    [2, "heading", "Slide 2"],
    [2, "paragraph", "No title here."],
  ]);
  expect(parsed.units.find((unit) => unit.text === "Say it slowly.")?.heading_path).toEqual([
    "Results",
    "Notes",
  ]);
  expect(parsed).toMatchObject({ page_count: 2, metadata: { title: "The deck", author: "Ann" } });
});

test.each(["XLSX", "XLS", "ODS"] as const)(
  "%s: sheets are pages under their names, with dates as dates and blocks of rows as tables",
  async (fileType) => {
    const parsed = await parse(
      fileType,
      makeSheets(fileType === "XLS" ? "biff8" : fileType === "XLSX" ? "xlsx" : "ods"),
    );
    expect(
      parsed.units.filter((unit) => unit.type !== "quote").map((unit) => [unit.page, unit.type, unit.text]),
    ).toEqual([
      [1, "heading", "Fruit"],
      [1, "paragraph", "Stock"],
      [
        1,
        "table",
        "| Name | Count | Since |\n| --- | --- | --- |\n" +
          "| Apple | 3 | 2026-01-17 |\n| Größe 数据 | 1.5 |  |",
      ],
      [2, "heading", "More"],
      [2, "table", "| a | b |\n| --- | --- |\n| 1 | 2 |"],
      [2, "table", "| c | d |\n| --- | --- |\n| 3 | 4 |"],
    ]);
    expect(parsed.page_count).toBe(2);
  },
);

test("XLSX: comments are quotes, and its properties are metadata", async () => {
  const parsed = await parse("XLSX", makeSheets("xlsx"));
  expect(parsed.units.find((unit) => unit.type === "quote")?.text).toBe("> Comment by Bo: Count again");
  expect(parsed.metadata).toMatchObject({ title: "The stock", author: "Ann" });
});

test("ODT: headings, lists, tables, notes and comments, without what was struck out", async () => {
  const cell = (text: string): string => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`;
  const row = (...cells: string[]): string =>
    `<table:table-row>${cells.map(cell).join("")}</table:table-row>`;
  const items = (...texts: string[]): string =>
    texts.map((text) => `<text:list-item><text:p>${text}</text:p></text:list-item>`).join("");
  const parsed = await parse(
    "ODT",
    await makeOdf(
      "text",
      "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>" +
        '<text:h text:outline-level="1">Plan</text:h>' +
        '<text:p>We<text:s text:c="2"/>build<text:note><text:note-citation>1</text:note-citation>' +
        "<text:note-body><text:p>A note.</text:p></text:note-body></text:note>" +
        "<office:annotation><dc:creator>Bo</dc:creator><text:p>Really?</text:p></office:annotation>" +
        "</text:p>" +
        `<text:list text:style-name="L1">${items("one", "two")}</text:list>` +
        `<text:list>${items("point")}</text:list>` +
        `<table:table>${row("Name", "Count")}${row("Größe", "3")}</table:table>`,
    ),
  );
  expect(brief(parsed.units)).toEqual([
    ["paragraph", "Confidential", "repeats"],
    ["heading", "Plan", 1],
    ["paragraph", "We  build[^1]"],
    ["paragraph", "[^1]: A note."],
    ["quote", "> Comment by Bo: Really?"],
    ["list", "1. one\n2. two"],
    ["list", "- point"],
    ["table", "| Name | Count |\n| --- | --- |\n| Größe | 3 |"],
  ]);
  expect(parsed.metadata).toEqual({ title: "The plan", author: "Ann" });
});

test("ODP: slides are pages under their titles, with notes", async () => {
  const box = (text: string): string => `<draw:text-box><text:p>${text}</text:p></draw:text-box>`;
  const parsed = await parse(
    "ODP",
    await makeOdf(
      "presentation",
      `<draw:page><draw:frame presentation:class="title">${box("Results")}</draw:frame>` +
        `<draw:frame>${box("Text.")}</draw:frame>` +
        `<presentation:notes><draw:frame>${box("Say it.")}</draw:frame></presentation:notes></draw:page>` +
        `<draw:page><draw:frame>${box("More.")}</draw:frame></draw:page>`,
    ),
  );
  expect(parsed.units.filter((unit) => !unit.repeats).map((unit) => [unit.page, unit.text])).toEqual([
    [1, "Results"],
    [1, "Text."],
    [1, "Notes"],
    [1, "Say it."],
    [2, "Slide 2"],
    [2, "More."],
  ]);
});

test("EPUB: chapters in the order of the spine, with self-closing tags", async () => {
  const parsed = await parse(
    "EPUB",
    await makeEpub(["<h1>One</h1><p>First.</p>", "<h1>Two</h1><ul><li>a</li></ul>"]),
  );
  expect(unitsAsMarkdown(parsed.units)).toBe("# One\n\nFirst.\n\n# Two\n\n- a");
  expect(parsed.metadata).toEqual({ title: "The book", author: "Ann", language: "de" });
});

/** Frees the memory of earlier tests, which is not to be counted. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}

describe("harmful archives fail with a code before they are unpacked", () => {
  const zeros = Buffer.alloc(130 * 1024 * 1024);

  test.each([
    [
      "DOCX",
      {
        "_rels/.rels":
          '<Relationships><Relationship Id="a" Type="x/officeDocument" Target="word/document.xml"/>' +
          "</Relationships>",
        "word/document.xml": zeros,
      },
      "too_large",
    ],
    ["ODT", { mimetype: "x", "content.xml": zeros }, "too_large"],
    ["XLSX", { "[Content_Types].xml": "<Types/>", "a.xml": zeros, "b.xml": zeros }, "too_large"],
    ["DOCX", { "readme.txt": "no document" }, "corrupt"],
    ["EPUB", { "readme.txt": "no book" }, "corrupt"],
  ] as const)("%s %#", async (fileType, files, code) => {
    const bytes = await makeZip(files);
    collectGarbage();
    const before = process.memoryUsage().rss;
    await expect(parse(fileType, bytes)).rejects.toMatchObject({ code });
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  test.each(["DOCX", "PPTX", "XLSX", "ODT", "EPUB"] as const)(
    "%s that is cut in half, or is nothing",
    async (fileType) => {
      const whole = await makeDocx();
      await expect(parse(fileType, whole.subarray(0, whole.length / 2))).rejects.toMatchObject({
        code: "corrupt",
      });
      await expect(parse(fileType, "")).rejects.toMatchObject({ code: "empty_file" });
    },
  );

  test("an Office document with a password is encrypted", async () => {
    const compound = Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(2048)]);
    expect((await detectFileKind(compound, "plan.docx")).fileType).toBe("DOCX");
    await expect(parse("DOCX", compound)).rejects.toMatchObject({ code: "encrypted" });
  });
});
