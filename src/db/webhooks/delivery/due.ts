/** The deliveries of an endpoint that are due, and when the next one is. */
import { EVENT_COLUMNS, type EventRow } from "../../events/event-row.ts";
import { VISIBLE, viewerValues } from "../../events/visible.ts";
import type { Sql } from "../../sql.ts";
import type { Endpoint } from "./endpoint.ts";

export interface DueDelivery {
  readonly id: string;
  readonly eventNum: number;
  readonly resourceId: string | null;
  readonly attempts: number;
  /** Null if its event is not kept any more, or is out of the maker's reach by now. */
  readonly event: EventRow | null;
  readonly skippedFor: "expired" | "reach_lost" | null;
}

interface DueRow extends EventRow {
  readonly delivery_id: string;
  readonly event_num: number;
  readonly resource_id: string | null;
  readonly attempts: number;
  readonly is_kept: boolean;
  readonly is_visible: boolean;
}

/**
 * The deliveries that are due, the oldest first. Those of events that were never tried come in the log's
 * order, because they fall due when they are made. Of an endpoint that fails one alone, due or not: if
 * possible one that was never tried, because the receiver may refuse just those that it has refused already.
 */
export async function listDue(sql: Sql, endpoint: Endpoint, limit: number): Promise<DueDelivery[]> {
  const isProbe = endpoint.failures > 0;
  const { rows } = await sql.query<DueRow>(
    `select delivery.id as delivery_id,
            delivery.event_num,
            delivery.resource_id,
            delivery.attempts,
            event.num is not null as is_kept,
            coalesce(${VISIBLE}, false) as is_visible,
            ${EVENT_COLUMNS}
     from (
       select *
       from webhook_deliveries
       where webhook_id = $7
         and status = 'pending'
         -- A default of now() is rounded to milliseconds, perhaps up.
         and ($8::boolean or next_attempt_at <= now() + interval '1 millisecond')
       order by ${isProbe ? "attempts > 0, " : ""}next_attempt_at, num
       limit $9
     ) delivery
     left join events event on event.num = delivery.event_num
     order by delivery.next_attempt_at, delivery.num`,
    [...viewerValues(endpoint.viewer), endpoint.id, isProbe, isProbe ? 1 : limit],
  );
  return rows.map((row) => ({
    id: row.delivery_id,
    eventNum: row.event_num,
    resourceId: row.resource_id,
    attempts: row.attempts,
    event: row.is_visible ? row : null,
    skippedFor: row.is_visible ? null : row.is_kept ? "reach_lost" : "expired",
  }));
}

/** Milliseconds until the next delivery is due; null if none is pending. */
export async function nextDueMs(sql: Sql, webhookId: string): Promise<number | null> {
  const { rows } = await sql.query<{ wait_ms: number }>(
    `select greatest(ceil(1000 * extract(epoch from next_attempt_at - now())), 0)::float8 as wait_ms
     from webhook_deliveries
     where webhook_id = $1
       and status = 'pending'
     order by next_attempt_at
     limit 1`,
    [webhookId],
  );
  return rows[0]?.wait_ms ?? null;
}
