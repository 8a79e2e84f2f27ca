/** Gives the hits of a search what stands beside them in their documents. */
import { type Database, type OrganizationRef, readTenant } from "../db/pool.ts";
import { readNeighbours } from "../db/search/neighbours.ts";
import type { SpaceRef } from "../db/search/scope.ts";
import { searchStage } from "../telemetry/stage.ts";
import { MAX_NEIGHBOURS, type SearchHit } from "./request.ts";

/**
 * The hits with up to `reach` chunks on either side. These are read once the hits are chosen, so that nothing
 * is read for those that a limit or a reranker leaves out; a hit whose version was replaced or deleted
 * meanwhile has none.
 *
 * @throws DomainError `database_unavailable`.
 */
export async function withNeighbours(
  db: Database,
  { organization, spaces }: { readonly organization: OrganizationRef; readonly spaces: readonly SpaceRef[] },
  hits: readonly SearchHit[],
  reach: number,
): Promise<SearchHit[]> {
  if (hits.length === 0) return [];
  const spaceIds = spaces.map(({ id }) => id);
  const found = await searchStage("context", () =>
    readTenant(db, organization, (sql) =>
      readNeighbours(sql, spaceIds, hits, Math.min(MAX_NEIGHBOURS, reach)),
    ),
  );
  return hits.map((hit, at) => {
    const context = found[at];
    return context === undefined ? hit : { ...hit, context };
  });
}
