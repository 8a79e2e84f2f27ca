/** The table of chunkers by name. A new chunker is one file in this folder, and one line here. */

import { DomainError } from "../domain/errors.ts";
import type { Chunker } from "./chunk.ts";
import { fixedTokens } from "./fixed-tokens.ts";
import { markdown } from "./markdown.ts";
import { pageBased } from "./page-based.ts";
import { recursive } from "./recursive.ts";
import { sentence } from "./sentence.ts";

export { type Chunk } from "./chunk.ts";

const CHUNKERS = {
  page_based: pageBased,
  markdown,
  recursive,
  sentence,
  fixed_tokens: fixedTokens,
} as const satisfies Record<string, Chunker>;

export type ChunkerName = keyof typeof CHUNKERS;

export const CHUNKER_NAMES = Object.keys(CHUNKERS) as readonly ChunkerName[];

/**
 * The chunker of a name. Throws `invalid`, with the known names, for a name that is none of
 * {@link CHUNKER_NAMES}.
 *
 * @example chunkerNamed("recursive")(units, { maxTokens: 512, overlapTokens: 64 }, tokenizer)
 */
export function chunkerNamed(name: string): Chunker {
  if (!Object.hasOwn(CHUNKERS, name))
    throw new DomainError("invalid", `Unknown chunker. Known chunkers: ${CHUNKER_NAMES.join(", ")}.`);
  return CHUNKERS[name as ChunkerName];
}
