/** Finds endpoints whose workflow has something to do, and leases them to who starts it. */
import type pg from "pg";
import type { WebhookInput } from "../../../domain/work/webhook.ts";
import { START_LEASE } from "../../outbox/leases.ts";
import { queryOnce } from "../../pool.ts";

export interface DueEndpoint extends WebhookInput {
  readonly spaceId: string | null;
}

interface DueRow {
  readonly id: string;
  readonly space_id: string | null;
  readonly organization_id: string;
  readonly organization_num: number;
}

/**
 * Leases at most `limit` endpoints that have something to do: events after their position, an attempt that is
 * due, or a round whose lease has passed, such as of a workflow that was terminated. An endpoint that waits
 * because it fails is not woken by new events.
 * @param organizationId null: of all organizations. Their attempts are taken once they are two seconds late,
 * because a workflow that waits for one starts it itself.
 */
export async function takeDueEndpoints(
  system: pg.Pool,
  organizationId: string | null,
  limit: number,
): Promise<DueEndpoint[]> {
  const { rows } = await queryOnce<DueRow>(system, {
    name: "webhooks.take-due",
    text: `with due as (
         select webhook.id
         from webhooks webhook
         join organizations organization on organization.id = webhook.organization_id
         left join event_positions log on log.organization_id = webhook.organization_id
         where webhook.status = 'active'
           and organization.deleted_at is null
           and ($1::uuid is null or webhook.organization_id = $1)
           and (webhook.leased_until is null or webhook.leased_until < now())
           and (
             not webhook.is_resting
             or webhook.next_attempt_at <= now() - case when $1 is null then interval '2 seconds'
                                                        else interval '0' end
             or (
               webhook.position < log.last_position
               and (webhook.failures = 0 or webhook.next_attempt_at is null)
             )
           )
         limit $2
         for update of webhook skip locked
       )
       update webhooks leased
       set leased_until = now() + interval '${START_LEASE}'
       from organizations organization
       where organization.id = leased.organization_id
         and leased.id in (select id from due)
       returning leased.id, leased.space_id, leased.organization_id, organization.num as organization_num`,
    values: [organizationId, limit],
  });
  return rows.map((row) => ({
    organization: { id: row.organization_id, num: row.organization_num },
    webhookId: row.id,
    spaceId: row.space_id,
  }));
}

/**
 * Ends the leases of endpoints whose workflow could not be started, for the next round. A row that somebody
 * has locked is left out: a lease ends by itself, and whoever locks several rows waits for none.
 */
export async function endWebhookLeases(system: pg.Pool, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await queryOnce(
    system,
    `update webhooks
     set leased_until = null
     where id in (
       select id
       from webhooks
       where id = any($1::uuid[])
       for no key update skip locked
     )`,
    [ids],
  );
}
