/**
 * Finds the headings of old Word files (Word 97 and newer) by the styles of their paragraphs.
 *
 * @see [MS-DOC]
 */

import { openCompoundFile } from "./compound-file.ts";

const BLOCK = 512;
/** Offsets in the file information block. */
const FIB = { version: 0x02, flags: 0x0a, paragraphPages: 0x0102, pieces: 0x01a2 } as const;
const WORD_97 = 0x00c1;
const SECOND_TABLE = 0x0200;
/** Styles 1 to 9 are "heading 1" to "heading 9" in every file. */
const LEVELS = 9;
/** One entry of a page of paragraph properties: a word offset, and heights that old versions stored. */
const PROPERTIES_BYTES = 13;
/** Set in a piece's offset if its text has one byte for each character; the offset is then doubled. */
const NARROW = 0x40000000;
/** A longer paragraph is not read as a heading, whatever its style is. */
const MAX_HEADING_BYTES = 8_192;
/**
 * Each heading is looked for in all pieces of text. A document that was edited for years has thousands of
 * pieces and hundreds of headings.
 */
const MAX_COMPARISONS = 20_000_000;
const westernText = new TextDecoder("windows-1252");
const wideText = new TextDecoder("utf-16le");

interface Piece {
  readonly start: number;
  readonly end: number;
  readonly isNarrow: boolean;
}

const FIELD_CODE = new RegExp(String.raw`\x13[^\x14\x15]*\x14?`, "g");
const BLANKS = new RegExp(String.raw`[\x00-\x1f\s]+`, "g");

/** The key of a line in {@link headingLevels}: its text without field codes (between 0x13 and 0x14). */
export function headingKey(line: string): string {
  return line.replace(FIELD_CODE, "").replace(BLANKS, " ").trim();
}

/** Levels 1 to 9 by {@link headingKey}. Empty before Word 97, and if styles cannot be read. */
export function headingLevels(bytes: Buffer): ReadonlyMap<string, number> {
  const levels = new Map<string, number>();
  const file = openCompoundFile(bytes);
  const document = file.stream("WordDocument");
  if (document === undefined || document.length < BLOCK || document.readUInt16LE(FIB.version) < WORD_97)
    return levels;
  const table = file.stream((document.readUInt16LE(FIB.flags) & SECOND_TABLE) === 0 ? "0Table" : "1Table");
  if (table === undefined) return levels;
  try {
    const pieces = readPieces(table, document.readUInt32LE(FIB.pieces));
    const headings = paragraphPages(document, table).flatMap((page) => [...headingsOf(page)]);
    const readable = headings
      .slice(0, Math.floor(MAX_COMPARISONS / Math.max(pieces.length, 1)))
      .filter(({ start, end }) => end - start <= MAX_HEADING_BYTES);
    for (const { level, start, end } of readable)
      levels.set(headingKey(textBetween(document, pieces, start, end)), level);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  levels.delete("");
  return levels;
}

/** Where the pieces of text are in the stream, and whether a character has one byte or two. */
function readPieces(table: Buffer, clx: number): Piece[] {
  let at = clx;
  while (table.readUInt8(at) === 1) at += 3 + table.readUInt16LE(at + 1);
  const count = (table.readUInt32LE(at + 1) - 4) / 12;
  const positions = at + 5;
  const descriptors = positions + (count + 1) * 4;
  return Array.from({ length: count }, (_, index) => {
    const characters =
      table.readUInt32LE(positions + (index + 1) * 4) - table.readUInt32LE(positions + index * 4);
    const offset = table.readUInt32LE(descriptors + index * 8 + 2);
    const isNarrow = (offset & NARROW) !== 0;
    const start = isNarrow ? (offset & ~NARROW) / 2 : offset;
    return { start, end: start + characters * (isNarrow ? 1 : 2), isNarrow };
  });
}

function paragraphPages(document: Buffer, table: Buffer): Buffer[] {
  const start = document.readUInt32LE(FIB.paragraphPages);
  const count = Math.max(0, (document.readUInt32LE(FIB.paragraphPages + 4) - 4) / 8);
  const numbers = new Set(
    Array.from({ length: count }, (_, index) => table.readUInt32LE(start + (count + 1) * 4 + index * 4)),
  );
  return [...numbers]
    .map((number) => document.subarray(number * BLOCK, (number + 1) * BLOCK))
    .filter((page) => page.length === BLOCK);
}

function* headingsOf(page: Buffer): Generator<{ level: number; start: number; end: number }> {
  const count = page.readUInt8(BLOCK - 1);
  for (let index = 0; index < count; index += 1) {
    const properties = page.readUInt8((count + 1) * 4 + index * PROPERTIES_BYTES) * 2;
    if (properties === 0) continue;
    const style = page.readUInt16LE(properties + (page.readUInt8(properties) === 0 ? 2 : 1));
    if (style >= 1 && style <= LEVELS)
      yield { level: style, start: page.readUInt32LE(index * 4), end: page.readUInt32LE((index + 1) * 4) };
  }
}

function textBetween(document: Buffer, pieces: readonly Piece[], start: number, end: number): string {
  return pieces
    .filter((piece) => piece.start < end && piece.end > start)
    .map((piece) =>
      (piece.isNarrow ? westernText : wideText).decode(
        document.subarray(Math.max(start, piece.start), Math.min(end, piece.end)),
      ),
    )
    .join("");
}
