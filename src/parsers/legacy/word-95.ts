/** Reads the text of Word 6 and 95 files: one byte for each character, in the document's stream. */

import { decodeText } from "../text/plain.ts";

/** Offsets in the file information block of Word 6 and 95. */
const FIB = { flags: 0x0a, textStart: 0x18, textEnd: 0x1c, bodyLength: 0x34, pieces: 0x160 } as const;
/** The first two bytes of files of the Western and the East Asian editions. */
const WORD_95 = new Set([0xa5dc, 0xa697, 0xa698, 0xa699]);
/** Set in files that were saved "fast": a table gives the order of the text's pieces. */
const COMPLEX = 0x0004;
const PIECE_TABLE = 2;
const PIECE_BYTES = 8;
/** Pieces together are as long as the text; a file in which they overlap was made to exhaust its reader. */
const MAX_PIECES_GROWTH = 2;

/** A field's code, which comes before its result. */
const FIELD_CODE = new RegExp(String.raw`\x13[^\x13\x14\x15]*\x14?`, "g");
/** Pictures, marks of notes and optional hyphens. */
const MARKS = new RegExp(String.raw`[\x00-\x06\x08\x0e-\x1d\x1f]`, "g");
const LINE_ENDS = new RegExp(String.raw`[\r\x0b\x0c]`, "g");
/** Each cell ends with a mark, and each row with one more. */
const ROW_END = new RegExp(String.raw`\x07\x07\r?`, "g");
const CELL_END = new RegExp(String.raw`\x07`, "g");

/** A control character that Word does not use. */
const BODY_END = "\x1a";

/** @param document The stream `WordDocument` of the compound file. */
export const isWord95 = (document: Buffer): boolean =>
  document.length > FIB.pieces + 8 && WORD_95.has(document.readUInt16LE(0));

/**
 * The body, and then notes, headers and the rest, both in lines. A line that ends with a tab is a table row,
 * whose cells are separated by tabs.
 * @throws RangeError if the file is cut off or its table of pieces is broken.
 */
export function word95Text(document: Buffer): { readonly body: string; readonly rest: string } {
  const isComplex = (document.readUInt16LE(FIB.flags) & COMPLEX) !== 0;
  const bytes = isComplex
    ? Buffer.concat(pieces(document))
    : document.subarray(document.readUInt32LE(FIB.textStart), document.readUInt32LE(FIB.textEnd));
  const bodyLength = document.readUInt32LE(FIB.bodyLength);
  // The character set is guessed once for all parts: the few words of a header do not tell Cyrillic from
  // Western.
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
