/** What a chunker takes and returns: the only contract between the registry, the chunkers and the pipeline. */

import type { TextUnit } from "../domain/text-unit.ts";

interface ChunkMetadata {
  /** The innermost heading that the chunk stands under. */
  readonly heading_text?: string;
  readonly heading_path?: readonly string[];
  /** `text` where the chunk holds nothing but paragraphs. */
  readonly format: "text" | "markdown";
  /** Runs of characters between white space. */
  readonly word_count: number;
  readonly language?: string;
}

export interface Chunk {
  readonly text: string;
  readonly token_count: number;
  /** 1-based; null where the format has no pages. */
  readonly page_start: number | null;
  readonly page_end: number | null;
  readonly metadata: ChunkMetadata;
}

export interface ChunkOptions {
  /** Tokens of a chunk, overlap included: 50–8192. */
  readonly maxTokens: number;
  /** Tokens at a chunk's start that repeat the end of the one before: 0 to half of `maxTokens`. */
  readonly overlapTokens: number;
  /** BCP 47, where the document says it: decides where sentences end. */
  readonly language?: string | undefined;
}

/**
 * The embedding model's own tokenizer. Counts add up over text that is cut at white space; what a tokenizer sees no token in (white space,
 * control characters) may be missing from chunks.
 */
export interface Tokenizer {
  countTokens(text: string): number;
  /** Offsets [start, end) in UTF-16 units of each token; they ascend. */
  tokenOffsets(text: string): readonly (readonly [number, number])[];
}

/** Pure: the same units give the same chunks, in the order of the document. */
export type Chunker = (units: readonly TextUnit[], options: ChunkOptions, tokenizer: Tokenizer) => Chunk[];

/** What stands between two units in a chunk's text. */
export const UNIT_SEPARATOR = "\n\n";

/** A chunk of text from these units, the first and last of which say its pages. */
export function makeChunk(
  text: string,
  tokenCount: number,
  units: readonly TextUnit[],
  language: string | undefined,
): Chunk {
  const described = units.find((unit) => unit.type !== "heading") ?? units.at(-1);
  const path = described?.heading_path ?? [];
  const heading = path.at(-1);
  return {
    text,
    token_count: tokenCount,
    page_start: units[0]?.page ?? null,
    page_end: units.at(-1)?.page ?? null,
    metadata: {
      ...(heading === undefined ? {} : { heading_text: heading, heading_path: path }),
      format: units.every((unit) => unit.type === "paragraph") ? "text" : "markdown",
      word_count: countWords(text),
      ...(language === undefined ? {} : { language }),
    },
  };
}

function countWords(text: string): number {
  let words = 0;
  let inWord = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const space =
      code === 0x20 ||
      (code >= 0x09 && code <= 0x0d) ||
      code === 0xa0 ||
      code === 0x3000 ||
      (code >= 0x2000 && code <= 0x200a);
    if (!space && !inWord) words++;
    inWord = !space;
  }
  return words;
}
