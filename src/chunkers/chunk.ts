/** The contract between the table of chunkers, the chunkers and the pipeline. */

import type { PackedPlaces } from "../domain/locations/packed.ts";
import type { ChunkMetadata, TextUnit } from "../domain/text-unit.ts";
import { extentOf, placesIn, type Stretch } from "./stretches.ts";

export interface Chunk {
  readonly text: string;
  readonly token_count: number;
  /** 1-based; null if the format has no pages. */
  readonly page_start: number | null;
  readonly page_end: number | null;
  readonly metadata: ChunkMetadata;
  /** UTF-16 offsets in the document as Markdown [start, end); absent if its units do not know theirs. */
  readonly start?: number;
  readonly end?: number;
  /** Where stretches of `text` stand in the file; absent if unknown. */
  readonly places?: PackedPlaces;
}

export interface ChunkOptions {
  /** The most tokens of a chunk, including the overlap: 50–8192. */
  readonly maxTokens: number;
  /** Tokens at the start of a chunk that repeat the end of the previous one: 0 to half of `maxTokens`. */
  readonly overlapTokens: number;
  /** BCP 47, if the document says it; decides where sentences end. */
  readonly language?: string | undefined;
}

/**
 * The embedding model's own tokenizer. Counts of text that is cut at white space add up. Text without tokens
 * (white space, control characters) may be missing from chunks.
 */
export interface Tokenizer {
  countTokens(text: string): number;
  /** The offsets [start, end) of each token in UTF-16 code units, ascending. */
  tokenOffsets(text: string): readonly (readonly [number, number])[];
}

/** A pure function: the same units give the same chunks, in the order of the document. */
export type Chunker = (units: readonly TextUnit[], options: ChunkOptions, tokenizer: Tokenizer) => Chunk[];

/** The text between two units of a chunk. */
export const UNIT_SEPARATOR = "\n\n";

export interface ChunkText {
  readonly text: string;
  readonly tokens: number;
  /** In the document's order. */
  readonly units: readonly TextUnit[];
  /** Everything in the text except separators. */
  readonly stretches: readonly Stretch[];
}

/** Makes a chunk; its pages are those of the first and last of its units. */
export function makeChunk(
  { text, tokens, units, stretches }: ChunkText,
  language: string | undefined,
): Chunk {
  const described = units.find((unit) => unit.type !== "heading") ?? units.at(-1);
  const path = described?.heading_path ?? [];
  const heading = path.at(-1);
  const places = placesIn(stretches, path);
  return {
    text,
    token_count: tokens,
    page_start: units[0]?.page ?? null,
    page_end: units.at(-1)?.page ?? null,
    metadata: {
      ...(heading === undefined ? {} : { heading_text: heading, heading_path: path }),
      format: units.every((unit) => unit.type === "paragraph") ? "text" : "markdown",
      word_count: countWords(text),
      ...(language === undefined ? {} : { language }),
    },
    ...extentOf(stretches),
    ...(places === undefined ? {} : { places }),
  };
}

function countWords(text: string): number {
  let words = 0;
  let isInWord = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const isSpace =
      code === 0x20 ||
      (code >= 0x09 && code <= 0x0d) ||
      code === 0xa0 ||
      code === 0x3000 ||
      (code >= 0x2000 && code <= 0x200a);
    if (!isSpace && !isInWord) words++;
    isInWord = !isSpace;
  }
  return words;
}
