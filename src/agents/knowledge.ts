/** Searches the spaces of an agent's scope for passages that its model is given. */
import type { Passage } from "../domain/work/turn.ts";
import { type SearchDeps, type SearchHit, searchSpaces } from "../search/hybrid.ts";
import { withNeighbours } from "./neighbours.ts";
import type { KnowledgeScope } from "./reach.ts";

export const PASSAGES_DEFAULT = 8;
export const PASSAGES_MAX = 20;
const QUERY_MAX_CHARACTERS = 8_192;
const PASSAGES_MAX_CHARACTERS = 48_000;

/**
 * Finds the best passages for `query` in the whole scope, best first, at most 48,000 characters together, the
 * text beside them included. A blank query finds none.
 * @throws the errors of {@link searchSpaces}.
 */
export async function searchKnowledge(
  deps: SearchDeps,
  scope: KnowledgeScope,
  query: { text: string; limit: number; neighbours: boolean },
  signal: AbortSignal,
): Promise<Passage[]> {
  const text = query.text.trim().slice(0, QUERY_MAX_CHARACTERS);
  if (text === "") return [];
  const { results, isUnrelated = false } = await searchSpaces(
    deps,
    scope,
    { query: text, limit: query.limit, folder_ids: scope.folderIds },
    signal,
  );
  // A provider's model sees for itself that passages are about something else; the built-in one quotes words.
  if (isUnrelated && !query.neighbours) return [];
  return fitPassages(deps.db, scope, results.map(toPassage), query.neighbours);
}

/**
 * The passages that a model is given of those that a search has found: within the bound of characters, of
 * which neighbours take what passages leave.
 * @param neighbours whether the best have theirs: not for the built-in model, which would quote them as if
 *   they were the passage.
 */
export async function fitPassages(
  db: SearchDeps["db"],
  scope: Pick<KnowledgeScope, "organization" | "spaces">,
  found: readonly Passage[],
  neighbours: boolean,
): Promise<Passage[]> {
  const passages = withinBounds(found);
  if (!neighbours) return passages;
  const used = passages.reduce((sum, { text }) => sum + text.length, 0);
  return withNeighbours(db, scope, passages, PASSAGES_MAX_CHARACTERS - used);
}

export function toPassage({
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
