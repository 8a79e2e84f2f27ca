/** All SQL that gives events their positions. */
import { type Database, queryOnce } from "../pool.ts";

/** The channel on which `place_events` tells listeners the id of an organization that has new events. */
export const EVENTS_CHANNEL = "holdfast_events";

const EVENTS_A_ROUND = 1_000;

/**
 * Places all committed events of the organization, in rounds of a transaction each. Idempotent; several
 * processes may do it at once.
 * @returns whether it placed some of which webhooks may have to be told.
 */
export async function placeEvents(db: Database, organizationId: string): Promise<boolean> {
  let isForWebhooks = false;
  for (;;) {
    // A transaction of its own, without the two more round trips that a transaction of several takes.
    const { rows } = await queryOnce<{ placed: number; has_webhooks: boolean }>(
      db.system,
      "select placed, has_webhooks from place_events($1, $2)",
      [organizationId, EVENTS_A_ROUND],
    );
    const { placed, has_webhooks: hasWebhooks } = rows[0]!;
    isForWebhooks ||= placed > 0 && hasWebhooks;
    if (placed < EVENTS_A_ROUND) return isForWebhooks;
  }
}

/** Finds organizations with events that nobody has placed yet; at most `limit`. */
export async function findUnplaced(db: Database, limit: number): Promise<string[]> {
  const { rows } = await queryOnce<{ organization_id: string }>(db.system, {
    name: "events.unplaced",
    text: `with recursive unplaced as (
         (
           select organization_id
           from events
           where position is null
           order by organization_id
           limit 1
         )
         union all
         select next.organization_id
         from unplaced
         cross join lateral (
           select organization_id
           from events
           where position is null
             and organization_id > unplaced.organization_id
           order by organization_id
           limit 1
         ) next
       )
       select organization_id
       from unplaced
       limit $1`,
    values: [limit],
  });
  return rows.map((row) => row.organization_id);
}
