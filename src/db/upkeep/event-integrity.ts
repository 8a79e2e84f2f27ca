/** Counts what is wrong with the log of events of one organization, and with their deliveries. */
import type { Sql } from "../sql.ts";

/** Each must be 0 while the service runs. */
export interface EventFaultCounts {
  /** Committed events that nobody has given a position for more than a minute. */
  readonly events_unplaced: number;
  /** Positions of the log that no event has, and events after its end. */
  readonly events_misplaced: number;
  /** Deliveries due for over a minute of events that are gone: they end as skipped when tried. */
  readonly deliveries_without_event: number;
  /** Active endpoints that have had something to deliver for more than a minute, and nobody delivers it. */
  readonly webhooks_not_started: number;
}

/**
 * Late work, which a process catches up on when it starts. A backup that was made between a commit and what
 * comes after it has such rows too, so they are no fault of a backup.
 */
export const LATE_EVENTS = ["events_unplaced", "webhooks_not_started"] as const;

/** The numbers of placed events are read from an index alone: about 0.1 s for a million. */
const COUNT = `
  with log as (
    select coalesce(max(last_position), 0) as last_position,
           coalesce(max(expired_position), 0) as expired_position
    from event_positions
    where organization_id = $1
  ),
  placed as (
    select count(event.num) filter (where event.position <= log.last_position) as within,
           count(event.num) filter (where event.position > log.last_position) as beyond
    from log
    left join events event
      on event.organization_id = $1
      and event.position > log.expired_position
  )
  select
    (
      select count(*)::int
      from events event
      where event.organization_id = $1
        and event.position is null
        and event.occurred_at < now() - interval '1 minute'
    ) as events_unplaced,
    (
      select (abs(log.last_position - log.expired_position - placed.within) + placed.beyond)::int
      from log, placed
    ) as events_misplaced,
    (
      select count(*)::int
      from webhook_deliveries delivery
      join webhooks webhook on webhook.id = delivery.webhook_id
      where delivery.organization_id = $1
        and delivery.status = 'pending'
        and webhook.status = 'active'
        and (webhook.failures = 0 or webhook.next_attempt_at is null)
        and delivery.next_attempt_at < now() - interval '1 minute'
        and not exists (select from events event where event.num = delivery.event_num)
    ) as deliveries_without_event,
    (
      select count(*)::int
      from webhooks webhook
      where webhook.organization_id = $1
        and webhook.status = 'active'
        and (webhook.leased_until is null or webhook.leased_until < now() - interval '1 minute')
        and (
          not webhook.is_resting
          or webhook.next_attempt_at < now() - interval '1 minute'
          -- One that fails is tried when its own wait is over.
          or (
            (webhook.failures = 0 or webhook.next_attempt_at is null)
            and (
              exists (
                select
                from webhook_replays replay
                where replay.webhook_id = webhook.id
                  and replay.completed_at is null
                  and replay.created_at < now() - interval '1 minute'
              )
              or (
                select event.occurred_at
                from events event
                where event.organization_id = $1
                  and event.position > webhook.position
                order by event.position
                limit 1
              ) < now() - interval '1 minute'
            )
          )
        )
    ) as webhooks_not_started`;

/** Call it in a transaction of the organization that sees one moment. */
export async function countEventFaults(sql: Sql, organizationId: string): Promise<EventFaultCounts> {
  const { rows } = await sql.query<EventFaultCounts>(COUNT, [organizationId]);
  return rows[0]!;
}
