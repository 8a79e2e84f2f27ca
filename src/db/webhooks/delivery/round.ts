/** One round of an endpoint's activity: makes deliveries, then hands out what is due, or lets it rest. */
import { appendAudit } from "../../audit/append.ts";
import { RUNNING_LEASE } from "../../outbox/leases.ts";
import { type Database, inTenant } from "../../pool.ts";
import type { OrganizationRef, Sql } from "../../sql.ts";
import { type DueDelivery, listDue, nextDueMs } from "./due.ts";
import { type Endpoint, lockEndpoint } from "./endpoint.ts";
import { makeDeliveries, makeReplays } from "./make.ts";

/** Why an endpoint is not active any more, as its row and its event say. */
export type EndReason = "reach_lost" | "failing" | "gone";

export type Round =
  /** The endpoint is gone, paused or disabled; `ended` if this round did that. */
  | { readonly type: "ended"; readonly ended: EndReason | null }
  | { readonly type: "send"; readonly endpoint: Endpoint; readonly due: readonly DueDelivery[] }
  /** There was nothing to send, but there is more of the log. */
  | { readonly type: "again" }
  /** Nothing before the next attempt, if there is one at all. */
  | { readonly type: "rest"; readonly waitMs: number | null };

/**
 * The maker's rights are read with everything else, so a right that was lost before the round began carries
 * nothing any more.
 * @param limit of deliveries that are handed out.
 */
export async function beginRound(
  db: Database,
  organization: OrganizationRef,
  webhookId: string,
  limit: number,
): Promise<Round> {
  return inTenant(db, organization, async (sql): Promise<Round> => {
    const endpoint = await lockEndpoint(sql, organization, webhookId);
    if (endpoint === undefined) return { type: "ended", ended: null };
    if (!endpoint.isAllowed) {
      await endEndpoint(sql, endpoint, "reach_lost");
      return { type: "ended", ended: "reach_lost" };
    }
    const isClosed = endpoint.failures > 0 && endpoint.waitMs !== null;
    if (isClosed) return rest(sql, endpoint, endpoint.waitMs);
    const hasMoreEvents = await makeDeliveries(sql, endpoint);
    const hasMoreReplays = await makeReplays(sql, endpoint);
    const due = await listDue(sql, endpoint, limit);
    if (due.length === 0 && !hasMoreEvents && !hasMoreReplays)
      return rest(sql, endpoint, await nextDueMs(sql, endpoint.id));
    await sql.query(
      `update webhooks
       set is_resting = false,
           leased_until = now() + interval '${RUNNING_LEASE}'
       where id = $1`,
      [endpoint.id],
    );
    return due.length === 0 ? { type: "again" } : { type: "send", endpoint, due };
  });
}

async function rest(sql: Sql, { id }: Endpoint, waitMs: number | null): Promise<Round> {
  await sql.query(
    `update webhooks
     set is_resting = true,
         leased_until = null,
         next_attempt_at = now() + $2 * interval '1 millisecond'
     where id = $1`,
    [id, waitMs],
  );
  return { type: "rest", waitMs };
}

/**
 * Whether the log went on while the endpoint came to rest. Ask it after the rest was committed: whoever
 * places events looks for endpoints at rest after that was committed, so one of the two sees the other.
 */
export async function hasNewEvents(
  db: Database,
  organization: OrganizationRef,
  webhookId: string,
): Promise<boolean> {
  return inTenant(
    db,
    organization,
    async (sql) => {
      const { rows } = await sql.query(
        `select
         from webhooks webhook
         join event_positions log on log.organization_id = webhook.organization_id
         where webhook.id = $1
           and webhook.status = 'active'
           and webhook.position < log.last_position
           and (webhook.failures = 0 or webhook.next_attempt_at is null)`,
        [webhookId],
      );
      return rows.length > 0;
    },
    "read only",
  );
}

/** Pauses the endpoint, or disables it if its receiver says that it is gone. What is pending stays so. */
export async function endEndpoint(
  sql: Sql,
  { id, spaceId, viewer }: Pick<Endpoint, "id" | "spaceId" | "viewer">,
  reason: EndReason,
): Promise<void> {
  const status = reason === "gone" ? "disabled" : "paused";
  await sql.query(
    `update webhooks
     set status = $2,
         status_reason = $3,
         status_changed_at = now(),
         updated_at = now(),
         is_resting = true,
         leased_until = null,
         next_attempt_at = null
     where id = $1`,
    [id, status, reason],
  );
  await appendAudit(
    sql,
    { authMethod: "system", organization: { id: viewer.organizationId } },
    {
      action: reason === "gone" ? "webhooks:disable" : "webhooks:pause",
      resource_type: "webhook",
      resource_id: id,
      space_id: spaceId,
      request_id: null,
      outcome: "success",
      events: [{ type: `webhook.${status}`, data: { reason } }],
    },
  );
}
