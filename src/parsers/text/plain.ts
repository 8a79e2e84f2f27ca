/** The parser of plain text, and the detection of character sets for all parsers of text. */

import { isUtf8 } from "node:buffer";
import { analyse } from "chardet";
import { DomainError } from "../../domain/errors.ts";
import type { TextUnit } from "../../domain/text-unit.ts";
import { packPlaces } from "../../domain/locations/packed.ts";
import { readInput, storableText, type ParseInput, type Parser } from "../parser.ts";
import { createLineCounter, type LineCounter } from "./line-counter.ts";

/** A longer paragraph is cut at the end of a line or else at a space: no piece is too long to pass on. */
export const MAX_PARAGRAPH_CHARS = 32_768;

/** The number of bytes by which a character set is guessed. */
const CHARSET_SAMPLE_BYTES = 64 * 1024;

export const text: Parser = {
  name: "text",
  runsIn: "worker",
  async parse(input) {
    const whole = await readTextInput(input);
    const counter = createLineCounter(whole);
    const units = Array.from(paragraphs(whole), (piece) => paragraphUnit(piece, counter));
    if (units.length === 0) throw new DomainError("no_text", "The file contains no text.");
    return { parser_name: text.name, units, page_count: null, metadata: {}, warnings: [] };
  },
};

/**
 * The input as text. Throws `empty_file`, and `unsupported_file_type` for a file that only begins like text,
 * for example a picture after a text header.
 *
 * @param declared Finds the character set that the file declares, if it declares one.
 */
export async function readTextInput(
  input: ParseInput,
  declared?: (bytes: Buffer) => string | undefined,
): Promise<string> {
  const bytes = await readInput(input);
  if (isBinary(bytes))
    throw new DomainError("unsupported_file_type", "The file starts like text, but most of it is not text.");
  return decodeText(bytes, declared?.(bytes));
}

/** Text has hardly any control characters; of the bytes of other files about one in ten is one. */
const MAX_CONTROL_SHARE = 0.01;
const FORGIVEN_CONTROLS = 16;
/** Tab, line feed, form feed, carriage return; backspace and escape, which control terminals, printers. */
const TEXT_CONTROLS: ReadonlySet<number> = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d, 0x1b]);

/** Fewer zeros are strays in text of another character set. */
const MIN_WIDE_ZEROS = 8;

function isBinary(bytes: Buffer): boolean {
  if (wideCharset(bytes) !== undefined) return false;
  let controls = 0;
  for (const byte of bytes) {
    if (byte < 0x20 && !TEXT_CONTROLS.has(byte)) controls++;
  }
  return controls > FORGIVEN_CONTROLS && controls > bytes.length * MAX_CONTROL_SHARE;
}

type WideCharset = "utf-16le" | "utf-16be";

function wideCharset(bytes: Buffer): WideCharset | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  return bytes[0] === 0xfe && bytes[1] === 0xff
    ? "utf-16be"
    : unmarkedWideCharset(bytes.subarray(0, CHARSET_SAMPLE_BYTES));
}

/** Recognizes UTF-16 without a byte order mark: of each pair one byte is often zero, the other hardly. */
function unmarkedWideCharset(sample: Buffer): WideCharset | undefined {
  let even = 0;
  let odd = 0;
  sample.forEach((byte, at) => {
    if (byte === 0 && at % 2 === 0) even++;
    else if (byte === 0) odd++;
  });
  const many = Math.max(sample.length / 4, MIN_WIDE_ZEROS);
  if (odd > many && even * 20 < odd) return "utf-16le";
  return even > many && odd * 20 < even ? "utf-16be" : undefined;
}

/**
 * Bytes as text, without NUL and lone surrogates. The character set is, in this order: UTF-16 by its mark or
 * its zeros, strict UTF-8, the declared one, the likeliest one. Strict UTF-8 goes before guesses since
 * chardet takes UTF-8 that is mostly ASCII for ISO-8859-1.
 */
export function decodeText(bytes: Buffer, declared?: string): string {
  return storableText(new TextDecoder(charsetOf(bytes, declared)).decode(bytes));
}

function charsetOf(bytes: Buffer, declared: string | undefined): string {
  const wide = wideCharset(bytes);
  if (wide !== undefined) return wide;
  if (isUtf8(bytes)) return "utf-8";
  if (declared !== undefined && isKnownToDecoder(declared) && !/^utf-?\d/i.test(declared)) return declared;
  return likeliestCharset(bytes);
}

function likeliestCharset(bytes: Buffer): string {
  const sample = bytes.subarray(0, CHARSET_SAMPLE_BYTES);
  const guesses = analyse(sample).filter((guess) => guess.confidence > 0 && isKnownToDecoder(guess.name));
  const [likeliest] = guesses;
  if (likeliest === undefined) return "windows-1252";
  const eastAsian =
    likeliest.confidence < UNSURE_BELOW && isMostlyHigh(sample)
      ? guesses.find((guess) => EAST_ASIAN.has(guess.name) && isStrictly(guess.name, bytes))
      : undefined;
  return (eastAsian ?? likeliest).name;
}

/**
 * chardet takes short East Asian text for Western. Below this confidence (of 100), an East Asian character
 * set in which all bytes are valid is preferred.
 */
const UNSURE_BELOW = 30;
const EAST_ASIAN = new Set(["Shift_JIS", "EUC-JP", "EUC-KR", "Big5", "GB18030"]);

/** Whether most letters are outside of ASCII, as they are not in Western text. */
function isMostlyHigh(sample: Buffer): boolean {
  let high = 0;
  let letters = 0;
  for (const byte of sample) {
    if (byte >= 0x80) high++;
    else if ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a) letters++;
  }
  return high > letters;
}

function isStrictly(charset: string, bytes: Buffer): boolean {
  try {
    return !/\p{Co}/u.test(new TextDecoder(charset, { fatal: true }).decode(bytes));
  } catch {
    return false;
  }
}

function isKnownToDecoder(charset: string): boolean {
  try {
    return new TextDecoder(charset).encoding !== "";
  } catch {
    return false;
  }
}

/** A stretch of a text, which begins at `from`. */
interface TextPiece {
  readonly text: string;
  readonly from: number;
}

function paragraphUnit({ text: paragraph, from }: TextPiece, counter: LineCounter): TextUnit {
  // A text may begin with a blank line, which is none of the paragraph's.
  const blank = paragraph.length - paragraph.trimStart().length;
  const lines = counter.linesOf(from + blank, from + paragraph.length);
  const places = packPlaces([{ from: blank, to: paragraph.length, spot: { lines } }]);
  return {
    type: "paragraph",
    text: paragraph,
    page: null,
    heading_path: [],
    ...(places === undefined ? {} : { places }),
  };
}

/** The text between blank lines or form feeds, in pieces of at most {@link MAX_PARAGRAPH_CHARS}. */
function* paragraphs(whole: string): Generator<TextPiece> {
  const blank = /\r?\n[^\S\n]*(?:\r?\n[^\S\n]*)+|\f/g;
  let start = 0;
  for (const match of whole.matchAll(blank)) {
    yield* placed(whole.slice(start, match.index), start);
    start = match.index + match[0].length;
  }
  yield* placed(whole.slice(start), start);
}

function* placed(paragraph: string, from: number): Generator<TextPiece> {
  for (const piece of pieces(paragraph)) yield { text: piece.text, from: from + piece.from };
}

/** The paragraph in pieces of at most {@link MAX_PARAGRAPH_CHARS}, without blank ones. */
export function* bounded(paragraph: string): Generator<string> {
  for (const { text: piece } of pieces(paragraph)) yield piece;
}

function* pieces(paragraph: string): Generator<TextPiece> {
  let start = 0;
  while (paragraph.length - start > MAX_PARAGRAPH_CHARS) {
    const end = cutBefore(paragraph, start, start + MAX_PARAGRAPH_CHARS);
    yield* nonBlank(paragraph.slice(start, end), start);
    start = end;
  }
  yield* nonBlank(paragraph.slice(start), start);
}

function* nonBlank(paragraph: string, from: number): Generator<TextPiece> {
  if (/\S/.test(paragraph)) yield { text: paragraph.trimEnd(), from };
}

/** The last line end or space in the second half of [start, limit); the first is not searched, for time. */
function cutBefore(paragraph: string, start: number, limit: number): number {
  const half = start + MAX_PARAGRAPH_CHARS / 2;
  const searched = paragraph.slice(half, limit);
  for (const separator of ["\n", " "]) {
    const at = searched.lastIndexOf(separator);
    if (at >= 0) return half + at + 1;
  }
  const before = paragraph.charCodeAt(limit - 1);
  return before >= 0xd800 && before <= 0xdbff ? limit - 1 : limit;
}
