/** All SQL on `rate_limits`. */
import { type Database, queryOnce } from "../pool.ts";

export interface CallerCount {
  readonly caller: string;
  /** Minutes since the epoch. */
  readonly minute: number;
  readonly count: number;
}

/** Adds to the counts of callers, each named once. @returns what each has by now in its minute, over all processes. */
export async function addCallerCounts(db: Database, counts: readonly CallerCount[]): Promise<CallerCount[]> {
  const { rows } = await queryOnce<CallerCount>(db.app, {
    name: "add caller counts",
    // In one order, so that processes that count the same callers never wait for one another in a circle.
    text: `insert into rate_limits as r (caller, minute, count)
       select * from unnest($1::text[], $2::bigint[], $3::int[]) as t (caller, minute, count) order by caller
       on conflict (caller) do update set minute = greatest(r.minute, excluded.minute),
         count = case when r.minute = excluded.minute then r.count + excluded.count when r.minute < excluded.minute then excluded.count else r.count end
       returning caller, minute, count`,
    values: [
      counts.map(({ caller }) => caller),
      counts.map(({ minute }) => minute),
      counts.map(({ count }) => count),
    ],
  });
  return rows;
}
