/** Files that are damaged at random: each soon gives text or a code. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { DomainError } from "../../src/domain/errors.ts";
import type { FileType } from "../../src/domain/file-type.ts";
import { createParserPool, type ParserPool } from "../../src/parsers/process/child-process.ts";
import { makePpt } from "../support/files/compound.ts";
import { makeLongPdf } from "../support/files/text.ts";
import { makeDocx, makeEpub, makePptx, makeSheets, makeZip } from "../support/files/office.ts";

let pool: ParserPool;

beforeAll(() => {
  pool = createParserPool({ size: 2 });
});

afterAll(() => pool.close());

const VARIANTS = 12;
/** Codes that a damaged file may give; `timeout` and `out_of_memory` are not among them. */
const CODES = ["corrupt", "encrypted", "no_text", "too_large", "empty_file"];

function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

/** The file cut off somewhere, or with up to 20 bytes changed. */
function damaged(file: Buffer, seed: number): Buffer {
  const random = randomFrom(seed * 7_919 + file.length);
  if (seed % 3 === 0) return file.subarray(0, Math.floor(file.length * random()));
  const copy = Buffer.from(file);
  for (let count = 1 + Math.floor(random() * 20); count > 0; count--)
    copy[Math.floor(random() * copy.length)] = Math.floor(random() * 256);
  return copy;
}

const KINDS: readonly (readonly [FileType, () => Buffer | Promise<Buffer>])[] = [
  ["PDF", () => makeLongPdf(5)],
  ["DOCX", makeDocx],
  ["PPTX", makePptx],
  ["XLSX", () => makeSheets("xlsx")],
  ["ODS", () => makeSheets("ods")],
  ["PPT", () => makePpt([{ title: "One", body: "first", shape: "shape", notes: "note" }])],
  ["EPUB", () => makeEpub(["<h1>One</h1><p>First.</p>"])],
  ["ZIP", () => makeZip({ "a.md": "# A", "b.csv": "x,y\n1,2", "c.html": "<p>c</p>" })],
];

test.each(KINDS)("%s", async (fileType, make) => {
  const file = await make();
  const codes = await Promise.all(
    Array.from({ length: VARIANTS }, (_, seed) =>
      pool.parse({ fileType, bytes: damaged(file, seed) }).then(
        () => "text",
        (error: unknown) => (error instanceof DomainError ? error.code : String(error)),
      ),
    ),
  );
  expect(codes.filter((code) => code !== "text" && !CODES.includes(code))).toEqual([]);
});
