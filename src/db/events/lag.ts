/** SQL that measures how late events and deliveries are, and how many endpoints are not active. */
import type pg from "pg";
import { queryOnce } from "../pool.ts";

/** Seconds since the oldest event without a position was written; null if all have one. */
export async function readOldestUnplaced(system: pg.Pool): Promise<number | null> {
  const { rows } = await queryOnce<{ seconds: number | null }>(
    system,
    `select extract(epoch from now() - min(occurred_at))::float8 as seconds
     from events
     where position is null`,
  );
  return rows[0]!.seconds;
}

/**
 * The active endpoints with a delivery that is due, and since when, for `from`. An endpoint that fails is
 * tried when its own wait is over. Of each it looks at one entry of an index, however much is pending.
 */
export const DUE_WEBHOOKS = `
  (
    select webhook.id, webhook.leased_until, first.due_at
    from webhooks webhook,
         lateral (
           select greatest(
                    delivery.next_attempt_at,
                    case when webhook.failing_since is not null then webhook.next_attempt_at end
                  ) as due_at
           from webhook_deliveries delivery
           where delivery.webhook_id = webhook.id
             and delivery.status = 'pending'
           order by delivery.next_attempt_at
           limit 1
         ) first
    where webhook.status = 'active'
      and first.due_at < now()
  ) due`;

/** Seconds for which the first due delivery of an active endpoint has been due; null if none is. */
export async function readOldestDue(system: pg.Pool): Promise<number | null> {
  const { rows } = await queryOnce<{ seconds: number | null }>(
    system,
    `select extract(epoch from now() - min(due.due_at))::float8 as seconds
     from ${DUE_WEBHOOKS}`,
  );
  return rows[0]!.seconds;
}

export interface WebhookCount {
  readonly status: string;
  readonly reason: string;
  readonly webhooks: number;
}

/** Counts the endpoints of all organizations by status and by why they have it; deleted ones are left out. */
export async function countWebhooksByStatus(system: pg.Pool): Promise<WebhookCount[]> {
  const { rows } = await queryOnce<WebhookCount>(
    system,
    `select status,
            coalesce(status_reason, 'none') as reason,
            count(*)::int as webhooks
     from webhooks
     where status_reason is distinct from 'deleted'
     group by status, status_reason`,
  );
  return rows;
}
