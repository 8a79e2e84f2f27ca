/** The only reader of the text of Word 6 and Word 95 files, which stands in one byte a character in the document's own stream. */

import { decodeText } from "../text/plain.ts";

/** Offsets in the file information block of Word 6 and 95, and its first two bytes. */
const FIB = { flags: 0x0a, textStart: 0x18, textEnd: 0x1c, bodyLength: 0x34, pieces: 0x160 } as const;
/** Western, and the East Asian editions. */
const WORD_95 = new Set([0xa5dc, 0xa697, 0xa698, 0xa699]);
/** Saved "fast": the text's pieces are put in order by a table. */
const COMPLEX = 0x0004;
const PIECE_TABLE = 2;
const PIECE_BYTES = 8;
/** Pieces together are as long as the text; those that overlap were made to. */
const MAX_PIECES_GROWTH = 2;

/** Field codes stand before their result; pictures, notes' marks and optional hyphens are no text. */
const FIELD_CODE = new RegExp(String.raw`\x13[^\x13\x14\x15]*\x14?`, "g");
const MARKS = new RegExp(String.raw`[\x00-\x06\x08\x0e-\x1d\x1f]`, "g");
const LINE_ENDS = new RegExp(String.raw`[\r\x0b\x0c]`, "g");
/** A cell ends with a mark, and a row with one more. */
const ROW_END = new RegExp(String.raw`\x07\x07\r?`, "g");
const CELL_END = new RegExp(String.raw`\x07`, "g");

/** A control character that Word has no use for. */
const BODY_END = "\x1a";

/** @param document The stream `WordDocument`. */
export const isWord95 = (document: Buffer): boolean =>
  document.length > FIB.pieces + 8 && WORD_95.has(document.readUInt16LE(0));

/**
 * Body, then notes, headers and the rest, in lines: one that ends with a tab is a row of a table, its cells between tabs.
 * Throws RangeError where the file is cut off or its table is broken.
 */
export function word95Text(document: Buffer): { readonly body: string; readonly rest: string } {
  const isComplex = (document.readUInt16LE(FIB.flags) & COMPLEX) !== 0;
  const bytes = isComplex
    ? Buffer.concat(pieces(document))
    : document.subarray(document.readUInt32LE(FIB.textStart), document.readUInt32LE(FIB.textEnd));
  const bodyLength = document.readUInt32LE(FIB.bodyLength);
  // One guess of the character set for all: the few words of a header are too little to tell Cyrillic from Western letters.
  const marked = Buffer.concat([
    bytes.subarray(0, bodyLength),
    Buffer.from(BODY_END),
    bytes.subarray(bodyLength),
  ]);
  const [body = "", ...rest] = decodeText(marked).split(BODY_END);
  return { body: lines(body), rest: lines(rest.join("")) };
}

function pieces(document: Buffer): Buffer[] {
  let at = document.readUInt32LE(FIB.pieces);
  while (document.readUInt8(at) !== PIECE_TABLE) at += 3 + document.readUInt16LE(at + 1);
  const count = (document.readUInt32LE(at + 1) - 4) / (4 + PIECE_BYTES);
  const positions = at + 5;
  const descriptors = positions + (count + 1) * 4;
  let left = document.length * MAX_PIECES_GROWTH;
  return Array.from({ length: count }, (_, index) => {
    const characters =
      document.readUInt32LE(positions + (index + 1) * 4) - document.readUInt32LE(positions + index * 4);
    const start = document.readUInt32LE(descriptors + index * PIECE_BYTES + 2);
    const piece = document.subarray(start, start + characters);
    left -= piece.length;
    if (left < 0) throw new RangeError("the pieces of text are the same bytes many times over");
    return piece;
  });
}

function lines(text: string): string {
  return text
    .replace(FIELD_CODE, "")
    .replace(ROW_END, "\t\n")
    .replace(CELL_END, "\t")
    .replace(LINE_ENDS, "\n")
    .replaceAll("\u001E", "-")
    .replace(MARKS, "");
}
