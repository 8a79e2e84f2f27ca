/** Parts of mails and archives: each place names its part, and keeps what it is inside of that part. */

import { describe, expect, test } from "vitest";
import type { FileType } from "../../../src/domain/file-type.ts";
import { unpackPlaces } from "../../../src/domain/locations/packed.ts";
import type { TextUnit } from "../../../src/domain/text-unit.ts";
import { parserFor } from "../../../src/parsers/index.ts";
import { makeSheets, makeZip } from "../../support/files/office.ts";
import { placedTexts, spotOf } from "../../support/files/places.ts";

async function parse(fileType: FileType, bytes: Buffer | string): Promise<readonly TextUnit[]> {
  return (await parserFor(fileType).parse({ fileType, bytes: Buffer.from(bytes as string) })).units;
}

describe("parts", () => {
  const mail = (parts: readonly { head: string; body: string | Buffer }[]): string =>
    [
      "From: Ann <ann@example.com>",
      "Subject: The plan",
      "MIME-Version: 1.0",
      'Content-Type: multipart/mixed; boundary="b"',
      "",
      ...parts.flatMap(({ head, body }) => [
        "--b",
        head,
        "Content-Transfer-Encoding: base64",
        "",
        Buffer.from(body as string).toString("base64"),
      ]),
      "--b--",
      "",
    ].join("\r\n");
  const attached = (name: string, body: string | Buffer): { head: string; body: string | Buffer } => ({
    head: `Content-Type: application/octet-stream\r\nContent-Disposition: attachment; filename="${name}"`,
    body,
  });

  test("EML: head, body and attachments are parts, and an attachment keeps its own places", async () => {
    const inner = await makeZip({ "notes/a.txt": "words\n\nof the archive", "book.html": "<p>a page</p>" });
    const units = await parse(
      "EML",
      mail([
        { head: "Content-Type: text/html", body: "<p>hello</p><p>see the plan</p>" },
        attached("stock.xlsx", makeSheets("xlsx")),
        attached("all.zip", inner),
        attached("lines.txt", "\none\n\n\nfour"),
      ]),
    );
    expect(spotOf(units, "The plan")).toEqual({ part: "headers" });
    expect(spotOf(units, "From: Ann")).toEqual({ part: "headers" });
    expect(spotOf(units, "see the plan")).toEqual({ part: "html", element: "p[2]" });
    expect(spotOf(units, "stock.xlsx")).toEqual({ part: "attachment 1: stock.xlsx" });
    expect(spotOf(units, "| Apple")).toEqual({
      part: "attachment 1: stock.xlsx",
      sheet: "Fruit",
      cells: [1, 3, 3, 3],
    });
    expect(spotOf(units, "of the archive")).toEqual({
      part: "attachment 2: all.zip > notes/a.txt",
      lines: [3, 3],
    });
    expect(spotOf(units, "a page")).toEqual({ part: "attachment 2: all.zip > book.html", element: "p[1]" });
    // The blank line at the start of a text is left out of a section, and no place is shifted by it.
    expect(placedTexts(units).slice(-2)).toEqual([
      ["one", { part: "attachment 3: lines.txt", lines: [2, 2] }],
      ["four", { part: "attachment 3: lines.txt", lines: [5, 5] }],
    ]);
    for (const unit of units) expect(unpackPlaces(unit.places)).not.toEqual([]);
  });

  test("EML: a body of plain text is a part without lines, which its encoding changes", async () => {
    const units = await parse("EML", mail([{ head: "Content-Type: text/plain", body: "one\r\n\r\ntwo" }]));
    expect(spotOf(units, "two")).toEqual({ part: "text" });
  });

  test("ZIP: a file is a part by its path, of which 256 characters are kept", async () => {
    const path = `${"folder/".repeat(60)}a.md`;
    const units = await parse(
      "ZIP",
      await makeZip({ "docs/a.md": "# Title\n\nwords", [path]: "more words" }),
    );
    expect(spotOf(units, "words")).toEqual({ part: "docs/a.md", lines: [3, 3] });
    expect(spotOf(units, "more words")).toEqual({ part: path.slice(0, 256), lines: [1, 1] });
  });
});

test("names with characters that cannot be stored are stored without them", async () => {
  const units = await parse("ZIP", await makeZip({ "a\0b.txt": "words" }));
  expect(spotOf(units, "words")?.part).toBe("ab.txt");
});

test("long names over many short units cost no more than the bound on the text", async () => {
  const name = `${"n".repeat(250)}.txt`;
  const units = await parse("ZIP", await makeZip({ [name]: "a\n\n".repeat(20_000) }));
  const size = units.reduce((sum, { places }) => sum + JSON.stringify(places ?? "").length, 0);
  expect(units.length).toBeGreaterThan(20_000);
  expect(size).toBeLessThan(20_000 * 80);
});
