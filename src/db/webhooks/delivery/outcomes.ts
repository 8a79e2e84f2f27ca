/** Writes what became of attempts, and what that says about their endpoint. */
import {
  GIVES_UP_AFTER_DAYS,
  deliveryWaitMs,
  endpointWaitMs,
} from "../../../domain/events/delivery-waits.ts";
import { type Database, inTenant } from "../../pool.ts";
import type { OrganizationRef, Sql } from "../../sql.ts";
import type { Endpoint } from "./endpoint.ts";
import { type EndReason, endEndpoint } from "./round.ts";

/** One attempt, or why none was made. */
export interface Outcome {
  readonly deliveryId: string;
  /** How many attempts were made before it. */
  readonly attempts: number;
  readonly result: "delivered" | "failed" | "skipped";
  /** Null if it was delivered. */
  readonly code: string | null;
  readonly httpStatus: number | null;
  readonly retryAfterMs: number | null;
  readonly durationMs: number | null;
}

/** The code of an answer that says that there is no such receiver any more. */
const GONE = "status_410";

/** Writes a batch's outcomes in one transaction. @returns why the endpoint ended; null if it did not. */
export async function writeOutcomes(
  db: Database,
  organization: OrganizationRef,
  endpoint: Endpoint,
  outcomes: readonly Outcome[],
): Promise<EndReason | null> {
  return inTenant(db, organization, async (sql) => {
    const tried = outcomes.filter(({ result }) => result !== "skipped");
    const hasSuccess = tried.some(({ result }) => result === "delivered");
    await lock(sql, endpoint.id);
    await updateDeliveries(sql, endpoint, outcomes);
    if (tried.some(({ code }) => code === GONE)) return end(sql, endpoint, "gone");
    if (hasSuccess) await noteSuccess(sql, endpoint);
    else if (tried.length > 0 && (await noteFailure(sql, endpoint, tried)))
      return end(sql, endpoint, "failing");
    return null;
  });
}

/** The endpoint before its deliveries, as everybody locks them. */
async function lock(sql: Sql, webhookId: string): Promise<void> {
  await sql.query("select from webhooks where id = $1 for no key update", [webhookId]);
}

/** @returns null if somebody else has paused or deleted it meanwhile. */
async function end(sql: Sql, endpoint: Endpoint, reason: EndReason): Promise<EndReason | null> {
  const { rows } = await sql.query("select from webhooks where id = $1 and status = 'active'", [endpoint.id]);
  if (rows.length === 0) return null;
  await endEndpoint(sql, endpoint, reason);
  return reason;
}

/**
 * A delivery is given up three days after its first attempt, or after the endpoint was resumed, if others
 * succeed meanwhile; as long as none does, the endpoint is what fails, and its deliveries stay pending.
 */
async function updateDeliveries(sql: Sql, { id }: Endpoint, outcomes: readonly Outcome[]): Promise<void> {
  const hasSuccess = outcomes.some(({ result }) => result === "delivered");
  const rows = outcomes.map(({ deliveryId, attempts, result, ...outcome }) => ({
    id: deliveryId,
    result,
    code: outcome.code,
    http_status: outcome.httpStatus,
    duration_ms: outcome.durationMs,
    is_gone: outcome.code === GONE,
    wait_ms: deliveryWaitMs(attempts + 1, outcome.retryAfterMs, Math.random()),
  }));
  await sql.query(
    `with outcome as (
       select written.*,
              delivery.id as delivery_id,
              case when delivery.gives_up_at is not null then greatest(
                     delivery.gives_up_at,
                     webhook.status_changed_at + interval '${GIVES_UP_AFTER_DAYS} days'
                   )
              end as gives_up_at,
              webhook.failing_since
       from jsonb_to_recordset($2::jsonb) as written (
         id uuid, result text, code text, http_status int, duration_ms int, is_gone boolean, wait_ms float8
       )
       join webhook_deliveries delivery on delivery.id = written.id
       join webhooks webhook on webhook.id = delivery.webhook_id
       where delivery.webhook_id = $1
         and delivery.status = 'pending'
     ),
     judged as (
       select outcome.*,
              case when outcome.result <> 'failed' then outcome.result
                   when outcome.is_gone then 'failed'
                   when outcome.gives_up_at < now() and ($3 or outcome.failing_since is null) then 'failed'
                   else 'pending'
              end as status
       from outcome
     )
     update webhook_deliveries delivery
     set status = judged.status,
         error_code = judged.code,
         attempts = delivery.attempts + case when judged.result = 'skipped' then 0 else 1 end,
         last_attempt_at = case when judged.result = 'skipped' then delivery.last_attempt_at else now() end,
         http_status = judged.http_status,
         duration_ms = judged.duration_ms,
         next_attempt_at = now() + judged.wait_ms * interval '1 millisecond',
         gives_up_at = coalesce(delivery.gives_up_at, now() + interval '${GIVES_UP_AFTER_DAYS} days'),
         completed_at = case when judged.status = 'pending' then null else now() end
     from judged
     where delivery.id = judged.delivery_id`,
    [id, JSON.stringify(rows), hasSuccess],
  );
}

/** A success opens the endpoint: what failed while it was down, or before it was resumed, is due at once. */
async function noteSuccess(sql: Sql, { id, failures }: Endpoint): Promise<void> {
  await sql.query(
    `with opened as (
       update webhook_deliveries delivery
       set next_attempt_at = now()
       from webhooks webhook
       where webhook.id = $1
         and delivery.webhook_id = webhook.id
         and delivery.status = 'pending'
         and delivery.next_attempt_at > now()
         and ($2::boolean or delivery.last_attempt_at < webhook.status_changed_at)
         and delivery.last_attempt_at < now() - interval '1 second'
     )
     update webhooks
     set failing_since = null,
         failures = 0,
         next_attempt_at = null
     where id = $1
       and (failing_since is not null or failures > 0)`,
    [id, failures > 0],
  );
}

/**
 * After a batch without one success the endpoint waits as a whole, if more than one delivery has failed: one
 * alone says nothing about the others, also if it is what is left of several, and has a wait of its own.
 * @returns whether the endpoint has failed for so long that it is to be paused.
 */
async function noteFailure(
  sql: Sql,
  { id, failures }: Endpoint,
  tried: readonly Outcome[],
): Promise<boolean> {
  const asked = tried.map(({ retryAfterMs }) => retryAfterMs).filter((ms) => ms !== null);
  const retryAfterMs = asked.length === 0 ? null : Math.max(...asked);
  const { rows } = await sql.query<{ is_over: boolean }>(
    `update webhooks
     set failing_since = coalesce(failing_since, now()),
         failures = case when waiting.are_several then failures + 1 else 0 end,
         next_attempt_at = case when waiting.are_several then now() + $2 * interval '1 millisecond' end
     from (
       select count(*) > 1 as are_several
       from (
         select
         from webhook_deliveries
         where webhook_id = $1
           and status = 'pending'
           and attempts > 0
         limit 2
       ) tried
     ) waiting
     where id = $1
     returning failing_since < now() - interval '${GIVES_UP_AFTER_DAYS} days' as is_over`,
    [id, endpointWaitMs(failures + 1, retryAfterMs, Math.random())],
  );
  return rows[0]?.is_over ?? false;
}
