/** Counts the requests of callers over all processes. */
import { type Database, queryOnce } from "../pool.ts";

export interface CallerCount {
  readonly caller: string;
  /** Minutes since the epoch. */
  readonly minute: number;
  readonly count: number;
}

/**
 * Adds to the counts of callers. Counts of an earlier minute than the stored one are not added.
 * @param counts each caller once.
 * @returns the count of each in its minute, over all processes.
 */
export async function addCallerCounts(db: Database, counts: readonly CallerCount[]): Promise<CallerCount[]> {
  const { rows } = await queryOnce<CallerCount>(db.app, {
    name: "add caller counts",
    // All processes lock callers in the same order, so they cannot deadlock.
    text: `
      insert into rate_limits as stored (caller, minute, count)
      select *
      from unnest($1::text[], $2::bigint[], $3::int[]) as added (caller, minute, count)
      order by caller
      on conflict (caller) do update
      set minute = greatest(stored.minute, excluded.minute),
          count = case
            when stored.minute = excluded.minute then stored.count + excluded.count
            when stored.minute < excluded.minute then excluded.count
            else stored.count
          end
      returning caller, minute, count`,
    values: [
      counts.map(({ caller }) => caller),
      counts.map(({ minute }) => minute),
      counts.map(({ count }) => count),
    ],
  });
  return rows;
}
