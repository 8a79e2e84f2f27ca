/** Finds stretches of the log by time, and asks for them to be delivered again. */
import type { EventType } from "../../domain/events/event-types.ts";
import type { Sql } from "../sql.ts";

/**
 * A transaction may place an event that it wrote this long ago. Each of its statements and pauses is bounded
 * to a minute, and few transactions have more than one as long.
 */
const LONGEST_TRANSACTION = "interval '15 minutes'";

export interface ReplayRow {
  readonly id: string;
  readonly types: EventType[];
  readonly from: Date;
  readonly to: Date;
  readonly created_at: Date;
  readonly completed_at: Date | null;
}

/** When the oldest event that is kept happened, if older ones were deleted; null if none was. */
export async function oldestKept(sql: Sql, organizationId: string): Promise<Date | null> {
  const { rows } = await sql.query<{ at: Date | null }>(
    `select coalesce(
              (
                select event.occurred_at
                from events event
                where event.organization_id = log.organization_id
                  and event.position > log.expired_position
                order by event.position
                limit 1
              ),
              now()
            ) as at
     from event_positions log
     where log.organization_id = $1
       and log.expired_position > 0`,
    [organizationId],
  );
  return rows[0]?.at ?? null;
}

export async function countOpenReplays(sql: Sql, webhookId: string): Promise<number> {
  const { rows } = await sql.query<{ open: number }>(
    `select count(*)::int as open
     from webhook_replays
     where webhook_id = $1
       and completed_at is null`,
    [webhookId],
  );
  return rows[0]!.open;
}

interface NewReplay {
  readonly id: string;
  readonly organizationId: string;
  readonly webhookId: string;
  readonly from: Date;
  readonly to: Date;
  readonly types: readonly EventType[];
}

/**
 * Stores the replay with the stretch of positions that its time is in. The stretch is found by halving the
 * log, since positions follow the time but for the length of a transaction.
 */
export async function insertReplay(sql: Sql, replay: NewReplay): Promise<ReplayRow> {
  const { rows } = await sql.query<ReplayRow>(
    `with recursive bounds (edge, moment) as (
       values ('first', $4::timestamptz - ${LONGEST_TRANSACTION}), ('last', $5::timestamptz + ${LONGEST_TRANSACTION})
     ),
     halving (edge, moment, low, high) as (
       select bounds.edge, bounds.moment, log.expired_position, log.last_position + 1
       from bounds
       join event_positions log on log.organization_id = $2
       union all
       select halving.edge,
              halving.moment,
              case when middle.is_before then (halving.low + halving.high) / 2 else halving.low end,
              case when middle.is_before then halving.high else (halving.low + halving.high) / 2 end
       from halving
       cross join lateral (
         select coalesce(bool_and(event.occurred_at < halving.moment), true) as is_before
         from events event
         where event.organization_id = $2
           and event.position = (halving.low + halving.high) / 2
       ) middle
       where halving.high - halving.low > 1
     ),
     found as (
       select coalesce(max(low) filter (where edge = 'first'), 0) as position,
              coalesce(max(low) filter (where edge = 'last'), 0) as until_position
       from halving
       where high - low <= 1
     )
     insert into webhook_replays (
       id, organization_id, webhook_id, types, occurred_from, occurred_until, position, until_position
     )
     select $1, $2, $3, $6, $4, $5, found.position, found.until_position
     from found
     returning id, types, occurred_from as "from", occurred_until as "to", created_at, completed_at`,
    [replay.id, replay.organizationId, replay.webhookId, replay.from, replay.to, replay.types],
  );
  return rows[0]!;
}
