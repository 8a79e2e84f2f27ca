/** Gives the best passages of a search the text beside them, so that the model reads them in their place. */
import { type Database, readTenant } from "../db/pool.ts";
import { readNeighbours } from "../db/search/neighbours.ts";
import type { Passage, PassageContext } from "../domain/work/turn.ts";
import type { KnowledgeScope } from "./reach.ts";

/** Passages that get their neighbours: the best ones of a search, which an answer mostly rests on. */
const PASSAGES_WITH_NEIGHBOURS = 3;
/** Chunks on either side. */
const REACH = 1;
/** Of a longer neighbour what is next to the passage. */
const SIDE_MAX_CHARACTERS = 2_000;

/**
 * The passages, the best of them with what stands directly beside them. What is a passage itself is no
 * neighbour, and a chunk between two passages is given once, so that the model reads nothing twice.
 *
 * @param maxCharacters of all neighbours together.
 * @throws DomainError `database_unavailable`.
 */
export async function withNeighbours(
  db: Database,
  { organization, spaces }: Pick<KnowledgeScope, "organization" | "spaces">,
  passages: readonly Passage[],
  maxCharacters: number,
): Promise<Passage[]> {
  const best = passages.slice(0, PASSAGES_WITH_NEIGHBOURS);
  if (best.length === 0 || maxCharacters <= 0) return [...passages];
  const spaceIds = spaces.map(({ id }) => id);
  const found = await readTenant(db, organization, (sql) => readNeighbours(sql, spaceIds, best, REACH));
  const shown = new Set(passages.map((passage) => passage.chunk_id));
  let left = maxCharacters;
  const take = (context: PassageContext): PassageContext[] => {
    if (shown.has(context.chunk_id) || context.text.length > left) return [];
    shown.add(context.chunk_id);
    left -= context.text.length;
    return [context];
  };
  return passages.map((passage, at) => {
    const { before = [], after = [] } = found[at] ?? {};
    const context = [
      ...before.flatMap(({ chunk_id, text }) =>
        take({ chunk_id, side: "before", text: text.slice(-SIDE_MAX_CHARACTERS).toWellFormed() }),
      ),
      ...after.flatMap(({ chunk_id, text }) =>
        take({ chunk_id, side: "after", text: text.slice(0, SIDE_MAX_CHARACTERS).toWellFormed() }),
      ),
    ];
    return context.length === 0 ? passage : { ...passage, context };
  });
}
