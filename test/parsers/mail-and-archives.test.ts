/** Mails with attachments, archives of documents, old Office documents, and bounds on nested documents. */

import { describe, expect, test } from "vitest";
import type { FileType } from "../../src/domain/file-type.ts";
import { unitsAsMarkdown, type ParsedDocument } from "../../src/domain/text-unit.ts";
import { unpackRtf } from "../../src/parsers/legacy/compressed-rtf.ts";
import { parserFor } from "../../src/parsers/index.ts";
import { makeDoc, makeDualPpt, makeMsg, makePpt, makeWord95 } from "../support/files/compound.ts";
import { makePdf } from "../support/files/text.ts";
import { makeDocx, makeZip } from "../support/files/office.ts";

const parse = (fileType: FileType, bytes: Buffer | string): Promise<ParsedDocument> =>
  parserFor(fileType).parse({ fileType, bytes: Buffer.from(bytes as string) });

/** A mail with a body and attachments, each base64. */
function makeEml(
  subject: string,
  body: string,
  attachments: readonly { name: string; bytes: Buffer }[] = [],
): Buffer {
  const boundary = `b-${subject.length}-${attachments.length}`;
  const parts = attachments.map(({ name, bytes }) =>
    [
      `--${boundary}`,
      `Content-Type: application/octet-stream; name="${name}"`,
      `Content-Disposition: attachment; filename="${name}"`,
      "Content-Transfer-Encoding: base64",
      "",
      bytes
        .toString("base64")
        .match(/.{1,76}/g)!
        .join("\r\n"),
    ].join("\r\n"),
  );
  return Buffer.from(
    [
      "From: Ann <ann@example.com>",
      "To: Bo <bo@example.com>, Cy <cy@example.com>",
      `Subject: =?utf-8?B?${Buffer.from(subject).toString("base64")}?=`,
      "Date: Sat, 17 Jan 2026 10:00:00 +0000",
      "MIME-Version: 1.0",
      `Content-Type: multipart/mixed; boundary="${boundary}"`,
      "",
      `--${boundary}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${body}`,
      ...parts,
      `--${boundary}--`,
      "",
    ].join("\r\n"),
  );
}

test("EML: head, body, and attachments as sections below the subject", async () => {
  const mail = makeEml("Grüße", "Hello Bo,\r\n\r\nsee the plan.", [
    { name: "plan.docx", bytes: await makeDocx() },
    { name: "page.pdf", bytes: makePdf([["Text of the page."]]) },
    { name: "blob.bin", bytes: Buffer.from([0, 1, 2, 255]) },
  ]);
  const parsed = await parse("EML", mail);
  const markdown = unitsAsMarkdown(parsed.units);
  expect(markdown).toMatch(
    /^# Grüße\n\nFrom: Ann <ann@example.com>\nTo: Bo <bo@example.com>, Cy <cy@example.com>\nDate: .*2026/,
  );
  expect(markdown).toMatch(/\nDate: .*\n\nHello Bo,\n\nsee the plan.\n\n## plan.docx\n\n/);
  expect(markdown).toContain("### Plan\n\nWe build bold things.");
  expect(markdown).toContain("## page.pdf");
  expect(parsed.units.find((unit) => unit.text === "Text of the page.")).toMatchObject({
    heading_path: ["Grüße", "page.pdf"],
    page: null,
  });
  expect(parsed.warnings).toEqual([{ pages: null, code: "unsupported_file_type" }]);
  expect(parsed.metadata).toEqual({
    title: "Grüße",
    author: "Ann <ann@example.com>",
    created_at: "2026-01-17T10:00:00.000Z",
  });
});

test("MSG: Unicode and ANSI properties, the best body, attachments and attached messages", async () => {
  const parsed = await parse(
    "MSG",
    makeMsg({
      "__substg1.0_0037001F": "Grüße",
      "__substg1.0_0C1A001F": "Ann",
      "__substg1.0_0C1F001F": "ann@example.com",
      "__substg1.0_0E04001E": Buffer.from("Bo"),
      "__substg1.0_1000001F": "Hello Bo.",
      "__attach_version1.0_#00000000/__substg1.0_3707001F": "notes.md",
      "__attach_version1.0_#00000000/__substg1.0_37010102": Buffer.from("# Notes\n\nMore."),
      "__attach_version1.0_#00000001/__substg1.0_3701000D/__substg1.0_0037001F": "Inner",
      "__attach_version1.0_#00000001/__substg1.0_3701000D/__substg1.0_1000001F": "Said inside.",
    }),
  );
  const markdown = unitsAsMarkdown(parsed.units);
  expect(markdown).toContain(
    "# Grüße\n\nFrom: Ann <ann@example.com>\nTo: Bo\n\nHello Bo.\n\n## notes.md\n\n### Notes\n\nMore.",
  );
  expect(markdown).toMatch(/## Inner\.eml\n\n### Inner\n\n[^]*Said inside\./);
  const html = await parse(
    "MSG",
    makeMsg({
      "__substg1.0_0037001F": "S",
      "__substg1.0_10130102": Buffer.from("<p>As <b>HTML</b></p>"),
      "__substg1.0_1000001F": "As text",
    }),
  );
  expect(unitsAsMarkdown(html.units)).toBe("# S\n\nAs HTML");
  await expect(parse("MSG", Buffer.alloc(4096))).rejects.toMatchObject({ code: "corrupt" });
});

test("compressed RTF is unpacked as the format's description has it", () => {
  // The example of [MS-OXRTFCP], section 4.1.
  const packed =
    "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0";
  expect(unpackRtf(Buffer.from(packed, "hex")).toString("latin1")).toBe(
    "{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n",
  );
  expect(unpackRtf(Buffer.alloc(3))).toHaveLength(0);
});

test("PPT: slides with their titles, shapes and notes, without the prompts of the master", async () => {
  const parsed = await parse(
    "PPT",
    makePpt([
      { title: "One", body: "first\rsecond", shape: "in a shape", notes: "Say it." },
      { title: "Zwei 数据", body: "third", shape: "another", notes: "Say more." },
    ]),
  );
  expect(unitsAsMarkdown(parsed.units)).toBe(
    "# One\n\nfirst\n\nsecond\n\nin a shape\n\n## Notes\n\nSay it.\n\n" +
      "# Zwei 数据\n\nthird\n\nanother\n\n## Notes\n\nSay more.",
  );
  expect(parsed).toMatchObject({ page_count: 2 });
  await expect(parse("PPT", Buffer.from("nothing"))).rejects.toMatchObject({ code: "corrupt" });
});

test("DOC: headings with levels, paragraphs in a code page and in Unicode, tables, footnotes", async () => {
  const file = makeDoc({
    body: [
      "# Harbour",
      "The harbour office opens at seven.",
      "## Fees",
      "Every vessel reports its cargo.",
      ["Berth", "Fee"],
      ["North", "12.50 €"],
      ["Süd | alt", "9.75 €"],
      "### Fällig",
      "Gebühren fällig am selben Tag, 数据.",
    ],
    footnotes: ["Since 1901."],
  });
  const parsed = await parse("DOC", file);
  expect(parsed.units.map((unit) => [unit.type, unit.text])).toEqual([
    ["heading", "Harbour"],
    ["paragraph", "The harbour office opens at seven."],
    ["heading", "Fees"],
    ["paragraph", "Every vessel reports its cargo."],
    ["table", "| Berth | Fee |\n| --- | --- |\n| North | 12.50 € |\n| Süd \\| alt | 9.75 € |"],
    ["heading", "Fällig"],
    ["paragraph", "Gebühren fällig am selben Tag, 数据."],
    ["paragraph", "Since 1901."],
  ]);
  expect(parsed.units.find((unit) => unit.text.startsWith("Gebühren"))?.heading_path).toEqual([
    "Harbour",
    "Fees",
    "Fällig",
  ]);
  await expect(parse("DOC", makeDoc({ body: [" "] }))).rejects.toMatchObject({ code: "no_text" });
  await expect(parse("DOC", Buffer.from("nothing"))).rejects.toMatchObject({ code: "corrupt" });
});

test("PPT that PowerPoint 95 can open too: its newer form is read", async () => {
  const file = makeDualPpt(makePpt([{ title: "One", body: "first", shape: "a shape", notes: "Say it." }]));
  expect(unitsAsMarkdown((await parse("PPT", file)).units)).toBe(
    "# One\n\nfirst\n\na shape\n\n## Notes\n\nSay it.",
  );
});

const WORD_95 = {
  body:
    "Компания предлагает вина со склада в Москве.\r" +
    "Наименование\x07Цена\x07\x07\rБелое\x07100\x07\x07\r" +
    "См. \x13 HYPERLINK x \x14страницу\x15 два\x0bи три.\r",
  notes: "\x02 Сноска о ценах.\r",
};

test.each([
  ["whole", makeWord95(WORD_95)],
  ["saved fast, in pieces", makeWord95({ ...WORD_95, fast: true })],
])(
  "DOC of Word 95, %s: paragraphs in its code page, tables, the results of fields, and then notes",
  async (...[, file]) => {
    expect((await parse("DOC", file)).units.map((unit) => [unit.type, unit.text])).toEqual([
      ["paragraph", "Компания предлагает вина со склада в Москве."],
      ["table", "| Наименование | Цена |\n| --- | --- |\n| Белое | 100 |"],
      ["paragraph", "См. страницу два"],
      ["paragraph", "и три."],
      ["paragraph", "Сноска о ценах."],
    ]);
  },
);

test("DOC that cannot be read gives a code: a password, Word 2, a damaged table of pieces", async () => {
  const withPassword = makeDoc({ body: ["Secret."] });
  const head = withPassword.indexOf(Buffer.from("eca5c100", "hex"));
  withPassword[head + 0x0b]! |= 0x01;
  await expect(parse("DOC", withPassword)).rejects.toMatchObject({ code: "encrypted" });
  await expect(
    parse("DOC", Buffer.concat([Buffer.from("dba52d00", "hex"), Buffer.alloc(600)])),
  ).rejects.toMatchObject({ code: "unsupported_file_type" });
  const broken = makeWord95({ ...WORD_95, fast: true });
  broken.writeUInt32LE(0x7fffffff, broken.indexOf(Buffer.from("dca5", "hex")) + 0x160);
  await expect(parse("DOC", broken)).rejects.toMatchObject({ code: "corrupt" });
});

describe("archives", () => {
  test.each([-1, 1])("one that gives a wrong length of its comment is read (%i byte)", async (difference) => {
    const file = await makeZip({ "a.md": "# About\n\nRead me." });
    const mended = difference < 0 ? Buffer.concat([file, Buffer.from(" ")]) : file;
    if (difference > 0) mended.writeUInt16LE(difference, mended.length - 2);
    expect(unitsAsMarkdown((await parse("ZIP", mended)).units)).toContain("Read me.");
  });

  test("each file that a parser reads is a section; others are named with a warning", async () => {
    const parsed = await parse(
      "ZIP",
      await makeZip({
        "a/notes.md": "# Notes\n\nText.",
        "__MACOSX/a": "x",
        "a/.hidden": "x",
        "b.csv": "x,y\n1,2\n",
        "blob.bin": Buffer.from([0, 1, 2, 255]),
        "empty.pdf": "",
      }),
    );
    expect(unitsAsMarkdown(parsed.units)).toBe(
      "# a/notes.md\n\n## Notes\n\nText.\n\n" +
        "# b.csv\n\n| x | y |\n| --- | --- |\n| 1 | 2 |\n\n# blob.bin\n\n# empty.pdf",
    );
    expect(parsed.warnings.map((warning) => warning.code)).toEqual(["unsupported_file_type", "empty_file"]);
  });

  test("three nested archives are opened, and the fourth is named", async () => {
    let inner = await makeZip({ "deepest.md": "the deepest text" });
    for (const name of ["d3.zip", "d2.zip", "d1.zip"])
      inner = await makeZip({ [name]: inner, "note.md": `beside ${name}` });
    const parsed = await parse("ZIP", inner);
    const markdown = unitsAsMarkdown(parsed.units);
    expect(markdown).toContain("beside d3.zip");
    expect(markdown).not.toContain("the deepest text");
    expect(parsed.warnings.map((warning) => warning.code)).toContain("too_deep");
  });

  test("an archive of archives of archives is bounded as a whole", async () => {
    const many = (content: Buffer | string): Promise<Buffer> =>
      makeZip(Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`${index}.md`, content])));
    const zips = async (content: Buffer): Promise<Buffer> =>
      makeZip(Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`${index}.zip`, content])));
    const parsed = await parse("ZIP", await zips(await many("text")));
    expect(parsed.units.filter((unit) => unit.text === "text").length).toBeLessThan(1_000);
    expect(parsed.warnings.map((warning) => warning.code)).toContain("too_many_files");
  });

  test("one without readable text fails with no_text", async () => {
    await expect(parse("ZIP", await makeZip({ "a.bin": Buffer.from([0, 255, 1]) }))).rejects.toMatchObject({
      code: "no_text",
    });
    await expect(parse("ZIP", Buffer.from("PK no"))).rejects.toMatchObject({ code: "corrupt" });
  });
});
