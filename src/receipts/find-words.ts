/** Finds the words of a quote in the version of a document that is published now. */
import {
  findChunkLike,
  findChunkWith,
  findUnitLike,
  type FoundChunk,
  type FoundUnit,
  type LooseWords,
} from "../db/receipts/words.ts";
import type { Sql } from "../db/pool.ts";
import type { Location } from "../domain/locations/location.ts";
import { chunkLocations, unitLocations } from "../domain/locations/of-chunk.ts";

/** In longer documents only exact words are looked for, since matching white space reads all of the text. */
const MAX_CHUNKS_MATCHED = 20_000;

/** Where words stand. What is unknown is absent. */
export interface FoundWords {
  /** Null if no chunk has all of the words. */
  readonly chunk_id: string | null;
  readonly chunk_index: number | null;
  /** UTF-16 offsets in the chunk. */
  readonly quote_start?: number;
  readonly quote_end?: number;
  /** UTF-16 offsets in the document as Markdown. */
  readonly start?: number;
  readonly end?: number;
  readonly locations?: readonly Location[];
}

interface Published {
  readonly run_num: number;
  readonly chunk_count: number | null;
}

/**
 * Looks for the exact words first, then for the same words with other white space between them.
 * @returns null if they are gone; undefined if the document is too long to be sure of that.
 */
export async function findWords(
  sql: Sql,
  { run_num: runNum, chunk_count: chunkCount }: Published,
  quote: string,
): Promise<FoundWords | null | undefined> {
  const exact = await findChunkWith(sql, runNum, quote);
  if (exact !== undefined) return inChunk(exact, exact.text.indexOf(quote), quote.length);
  if ((chunkCount ?? 0) > MAX_CHUNKS_MATCHED) return undefined;
  const words = looseWords(quote);
  if (words === undefined) return null;
  const chunk = await findChunkLike(sql, runNum, words);
  const unit = chunk === undefined ? await findUnitLike(sql, runNum, words) : undefined;
  const match = placeOf(quote, chunk?.text ?? unit?.text ?? "");
  if (match === undefined) return null;
  const { at, length } = match;
  return chunk === undefined ? inUnit(unit!, at, length) : inChunk(chunk, at, length);
}

/** The words between white space; undefined if there are none. */
function looseWords(quote: string): LooseWords | undefined {
  const words = quote.split(/\s+/u).filter((word) => word !== "");
  if (words.length === 0) return undefined;
  return {
    pattern: words
      .map((word) => word.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`))
      .join(String.raw`\s+`),
    longest: words.reduce((longest, word) => (word.length > longest.length ? word : longest)),
  };
}

/** Where the words stand in the text, whatever white space is between them. */
function placeOf(quote: string, text: string): { at: number; length: number } | undefined {
  const words = spaced(quote.trim()).text;
  const { text: searched, offsets } = spaced(text);
  const index = searched.indexOf(words);
  if (index < 0) return undefined;
  const at = offsets[index]!;
  return { at, length: offsets[index + words.length - 1]! + 1 - at };
}

/** The text with one space for each run of white space, and where in `text` each code unit was. */
function spaced(text: string): { text: string; offsets: number[] } {
  const kept: string[] = [];
  const offsets: number[] = [];
  let wasSpace = false;
  for (let at = 0; at < text.length; at++) {
    const isSpace = /\s/u.test(text[at]!);
    if (isSpace && wasSpace) continue;
    kept.push(isSpace ? " " : text[at]!);
    offsets.push(at);
    wasSpace = isSpace;
  }
  return { text: kept.join(""), offsets };
}

function inChunk(chunk: FoundChunk, at: number, length: number): FoundWords {
  const { id, chunk_index: index, text, start, end } = chunk;
  // A chunk that repeats a heading is no stretch of the document, so that its offsets say nothing of a part.
  const isStretch = start !== null && end !== null && end - start === text.length;
  const locations = chunkLocations(chunk, at, at + length);
  return {
    chunk_id: id,
    chunk_index: index,
    quote_start: at,
    quote_end: at + length,
    ...(isStretch ? { start: start + at, end: start + at + length } : {}),
    ...(locations === undefined ? {} : { locations }),
  };
}

function inUnit(unit: FoundUnit, at: number, length: number): FoundWords {
  const { start } = unit;
  const locations = unitLocations(unit, at, at + length);
  return {
    chunk_id: null,
    chunk_index: null,
    ...(start === undefined ? {} : { start: start + at, end: start + at + length }),
    ...(locations === undefined ? {} : { locations }),
  };
}
