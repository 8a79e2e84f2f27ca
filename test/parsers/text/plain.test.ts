/** Plain text in the character sets in which files come. */

import { expect, test } from "vitest";
import { parserFor } from "../../../src/parsers/index.ts";
import { decodeText, MAX_PARAGRAPH_CHARS, text } from "../../../src/parsers/text/plain.ts";

const parse = async (bytes: Buffer): Promise<string[]> =>
  (await text.parse({ fileType: "TEXT", bytes })).units.map((unit) => unit.text);

test("paragraphs end at blank lines and form feeds", async () => {
  expect(await parse(Buffer.from("one\ntwo\r\n\r\nthree\n \t\n\n  four\ffive\n"))).toEqual([
    "one\ntwo",
    "three",
    "four",
    "five",
  ]);
});

test.each([
  ["UTF-8 with its mark", Buffer.from("\uFEFFGrüße"), "Grüße"],
  ["UTF-8 that is nearly ASCII", Buffer.from(`${"plain ".repeat(500)}é`), `${"plain ".repeat(500)}é`],
  ["UTF-16 little-endian", Buffer.from("\uFEFFGrüße", "utf16le"), "Grüße"],
  ["UTF-16 big-endian", Buffer.from("\uFEFFGrüße", "utf16le").swap16(), "Grüße"],
  [
    "Windows-1252",
    Buffer.from(
      "Viele Gr\xfc\xdfe aus M\xfcnchen, wo es sch\xf6n ist und die Stra\xdfe \x93neu\x94 hei\xdft.",
      "latin1",
    ),
    "Viele Grüße aus München, wo es schön ist und die Straße “neu” heißt.",
  ],
  [
    "Shift_JIS",
    Buffer.from(
      "93fa967b8cea82cc8365834c8358836782c582b781420d0a" +
        "82b182ea82cd95b68e9a83528181836882cc8e8e8cb182c582b78142",
      "hex",
    ),
    "日本語のテキストです。",
  ],
])("%s is read right", (_name, bytes, expected) => {
  expect(decodeText(bytes)).toContain(expected);
});

test("NUL and lone surrogates are removed, since the database refuses them", () => {
  expect(decodeText(Buffer.from("a\0b"))).toBe("ab");
  expect(decodeText(Buffer.from([0xff, 0xfe, 0x41, 0x00, 0x3d, 0xd8, 0x42, 0x00])).isWellFormed()).toBe(true);
});

test("text without blank lines is cut into bounded pieces without losing anything", async () => {
  const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index} of a long log`).join("\n");
  const units = await parse(Buffer.from(lines));
  expect(units.join("\n")).toBe(lines);
  for (const unit of units) expect(unit.length).toBeLessThanOrEqual(MAX_PARAGRAPH_CHARS);
  const unbroken = "😀".repeat(50_000);
  expect((await parse(Buffer.from(unbroken))).join("")).toBe(unbroken);
});

test("a file that only begins like text is refused; text with a few control characters is not", async () => {
  const head = "words of a head ".repeat(5_000);
  const noise = Buffer.from(Array.from({ length: 20_000 }, (_, index) => (index * 7_919) % 256));
  for (const fileType of ["TEXT", "MARKDOWN", "CSV", "CODE"] as const) {
    await expect(
      parserFor(fileType).parse({ fileType, bytes: Buffer.concat([Buffer.from(head), noise]) }),
    ).rejects.toMatchObject({ code: "unsupported_file_type" });
  }
  expect(await parse(Buffer.from(`${head}\u001B[1m\0\u0001`))).toHaveLength(3);
});

test("UTF-16 without byte order mark is read right", async () => {
  const written = "Grüße und Café, ganz ohne Zeichen davor.";
  expect([
    await parse(Buffer.from(written, "utf16le")),
    await parse(Buffer.from(written, "utf16le").swap16()),
  ]).toEqual([[written], [written]]);
});

test("an empty file is empty_file, and one of blanks is no_text", async () => {
  await expect(parse(Buffer.alloc(0))).rejects.toMatchObject({ code: "empty_file" });
  await expect(parse(Buffer.from(" \n\t\n"))).rejects.toMatchObject({ code: "no_text" });
});
