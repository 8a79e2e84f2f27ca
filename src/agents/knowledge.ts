/** Searches the spaces of an agent's scope, and merges the results into one list of passages. */
import type { Passage } from "../domain/work/turn.ts";
import { type SearchDeps, type SearchHit, hybridSearch } from "../search/hybrid.ts";
import type { KnowledgeScope } from "./reach.ts";

export const PASSAGES_DEFAULT = 8;
export const PASSAGES_MAX = 20;
const QUERY_MAX_CHARACTERS = 8_192;
/** The most characters that the passages of one search have together. */
const PASSAGES_MAX_CHARACTERS = 48_000;
const SPACES_AT_ONCE = 4;

/**
 * Finds the best passages for `query` in the whole scope, best first, at most 48,000 characters together. A
 * blank query finds none.
 * @throws the errors of {@link hybridSearch}.
 */
export async function searchKnowledge(
  deps: SearchDeps,
  scope: KnowledgeScope,
  query: { text: string; limit: number },
  signal: AbortSignal,
): Promise<Passage[]> {
  const text = query.text.trim().slice(0, QUERY_MAX_CHARACTERS);
  if (text === "") return [];
  const waiting = [...scope.spaces];
  const found: SearchHit[] = [];
  const drain = async (): Promise<void> => {
    for (let space = waiting.pop(); space; space = waiting.pop()) {
      const { results } = await hybridSearch(
        deps,
        { organization: scope.organization, space },
        { query: text, limit: query.limit, folder_ids: scope.folderIds },
        signal,
      );
      found.push(...results);
    }
  };
  await Promise.all(Array.from({ length: Math.min(SPACES_AT_ONCE, waiting.length) }, drain));
  const best = found
    .toSorted((one, other) => other.score - one.score || (one.chunk_id < other.chunk_id ? -1 : 1))
    .slice(0, query.limit);
  return withinBounds(best.map(toPassage));
}

function toPassage({
  chunk_id,
  document_id,
  document_name,
  chunk_index,
  text,
  metadata,
}: SearchHit): Passage {
  const page = metadata["page_start"];
  return {
    chunk_id,
    document_id,
    document_name,
    chunk_index,
    page: typeof page === "number" ? page : null,
    text,
  };
}

/** Drops passages from the end until the rest fits. The first passage is cut instead of dropped. */
export function withinBounds(
  passages: readonly Passage[],
  maxCharacters = PASSAGES_MAX_CHARACTERS,
): Passage[] {
  let left = maxCharacters;
  return passages.flatMap((passage, index) => {
    const text = index === 0 ? passage.text.slice(0, left) : passage.text;
    left -= text.length;
    return left < 0 ? [] : [{ ...passage, text }];
  });
}
