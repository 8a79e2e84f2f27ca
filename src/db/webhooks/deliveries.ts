/** Lists the deliveries of a webhook, and makes one pending again. Delivering is in the folder `delivery`. */
import type { Sql } from "../sql.ts";

type DeliveryStatus = "pending" | "delivered" | "failed" | "skipped";

export interface DeliveryRow {
  readonly id: string;
  /** Null for a stretch of the log that was not kept long enough. */
  readonly event_id: string | null;
  readonly event_type: string | null;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly http_status: number | null;
  readonly error_code: string | null;
  readonly duration_ms: number | null;
  readonly created_at: Date;
  readonly last_attempt_at: Date | null;
  /** Null unless it is pending. */
  readonly next_attempt_at: Date | null;
  readonly completed_at: Date | null;
}

const COLUMNS = `
  delivery.id,
  delivery.event_id,
  delivery.event_type,
  delivery.status,
  delivery.attempts,
  delivery.http_status,
  delivery.error_code,
  delivery.duration_ms,
  delivery.created_at,
  delivery.last_attempt_at,
  case when delivery.status = 'pending' then delivery.next_attempt_at end as next_attempt_at,
  delivery.completed_at`;

/** How many deliveries one page looks at, whatever its filters leave: a page has a bounded cost. */
const LOOKED_AT = 10_000;

interface DeliverySearch {
  readonly webhookId: string;
  readonly status: DeliveryStatus | null;
  readonly eventType: string | null;
  /** The id of a delivery: only older ones; null for the newest. */
  readonly after: string | null;
  readonly limit: number;
}

interface DeliveryPage {
  readonly items: DeliveryRow[];
  /** `after` of the page after this one; null if there is none. */
  readonly next: string | null;
}

/** Lists deliveries, newest first. A page may be short of its limit, or empty, although there are more. */
export async function listDeliveries(sql: Sql, search: DeliverySearch): Promise<DeliveryPage> {
  const { webhookId, status, eventType, after, limit } = search;
  const { rows: items } = await sql.query<DeliveryRow>(
    `select ${COLUMNS}
     from (
       select *
       from webhook_deliveries
       where webhook_id = $1
         and ($2::uuid is null or num < (select num from webhook_deliveries where id = $2 and webhook_id = $1))
       order by num desc
       limit ${LOOKED_AT}
     ) delivery
     where ($3::text is null or delivery.status = $3)
       and ($4::text is null or delivery.event_type = $4)
     order by delivery.num desc
     limit $5`,
    [webhookId, after, status, eventType, limit + 1],
  );
  if (items.length > limit) return { items: items.slice(0, limit), next: items[limit - 1]!.id };
  return { items, next: await lastLookedAt(sql, webhookId, after) };
}

/** The last delivery that a page after `after` looks at; null if it looks at all that there are. */
async function lastLookedAt(sql: Sql, webhookId: string, after: string | null): Promise<string | null> {
  const { rows } = await sql.query<{ id: string }>(
    `select id
     from webhook_deliveries
     where webhook_id = $1
       and ($2::uuid is null or num < (select num from webhook_deliveries where id = $2 and webhook_id = $1))
     order by num desc
     limit 1
     offset ${LOOKED_AT - 1}`,
    [webhookId, after],
  );
  return rows[0]?.id ?? null;
}

export async function findDelivery(
  sql: Sql,
  webhookId: string,
  id: string,
): Promise<DeliveryRow | undefined> {
  const { rows } = await sql.query<DeliveryRow>(
    `select ${COLUMNS}
     from webhook_deliveries delivery
     where delivery.id = $1
       and delivery.webhook_id = $2`,
    [id, webhookId],
  );
  return rows[0];
}

/** Makes the delivery due, as if it had not been tried. It has three days again. */
export async function makePendingAgain(sql: Sql, id: string): Promise<DeliveryRow> {
  const { rows } = await sql.query<DeliveryRow>(
    `update webhook_deliveries delivery
     set status = 'pending',
         attempts = 0,
         next_attempt_at = now(),
         gives_up_at = null,
         error_code = null,
         http_status = null,
         duration_ms = null,
         completed_at = null
     where delivery.id = $1
     returning ${COLUMNS}`,
    [id],
  );
  return rows[0]!;
}

/** Bounds what the transaction costs. After a resume the first success makes the others due. */
const MADE_DUE = 1_000;

/** Makes deliveries due that wait for another attempt, those that would be next first. */
export async function makeWaitingDue(sql: Sql, webhookId: string): Promise<void> {
  await sql.query(
    `update webhook_deliveries
     set next_attempt_at = now()
     where num = any(array(
       select num
       from webhook_deliveries
       where webhook_id = $1
         and status = 'pending'
         and next_attempt_at > now()
       order by next_attempt_at
       limit ${MADE_DUE}
     ))`,
    [webhookId],
  );
}

/** Whether the event of the delivery is still in the log; its message is made of it anew. */
export async function isEventKept(sql: Sql, organizationId: string, deliveryId: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `select
     from webhook_deliveries delivery
     join events event on event.num = delivery.event_num
     where delivery.id = $1
       and event.organization_id = $2`,
    [deliveryId, organizationId],
  );
  return rowCount === 1;
}
