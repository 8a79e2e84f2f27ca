/** Merges the segments of a space, as a worker does after it has published. */
import { type Database, inTenant } from "../../src/db/pool.ts";
import { mergeSegments } from "../../src/search/index/segments.ts";
import type { SearchSpace } from "../../test/support/stack/search-space.ts";

/** Merges until nothing is due, or `most` times, each in its own transaction. */
export async function mergeWhatIsDue(
  db: Database,
  { organization, space }: SearchSpace,
  most = Number.POSITIVE_INFINITY,
): Promise<void> {
  let merged = 1;
  for (let round = 0; round < most && merged > 0; round++)
    merged = await inTenant(db, organization, (sql) => mergeSegments(sql, organization.num, space.num));
}
