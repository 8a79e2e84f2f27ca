/** Ends webhooks: by request, with their space, or because their maker has left. */
import type { Sql } from "../sql.ts";

const SET_DELETED = `
  set status = 'disabled',
      status_reason = 'deleted',
      status_changed_at = now(),
      secret_key_id = null,
      sealed_secret = null,
      previous_secret_key_id = null,
      sealed_previous_secret = null,
      previous_until = null,
      updated_at = now(),
      deleted_at = now()`;

/** Locks in one order, so that two that lock several rows wait for each other in one direction only. */
const lockedInOrder = (condition: string): string => `
  select id
  from webhooks
  where ${condition}
  order by id
  for no key update`;

/** Nothing is delivered from the commit on, and the secrets are gone. Maintenance deletes the row later. */
export async function markWebhookDeleted(sql: Sql, id: string): Promise<void> {
  await sql.query(
    `update webhooks
     ${SET_DELETED}
     where id = $1
       and deleted_at is null`,
    [id],
  );
}

/** As {@link markWebhookDeleted}, for all webhooks of a space. */
export async function markWebhooksOfSpaceDeleted(sql: Sql, spaceId: string): Promise<void> {
  await sql.query(
    `update webhooks
     ${SET_DELETED}
     where id in (${lockedInOrder("space_id = $1 and deleted_at is null")})`,
    [spaceId],
  );
}

/** Pauses what the user has made, because nobody's reach bounds it any more. @returns what was active. */
export async function pauseWebhooksOfUser(
  sql: Sql,
  userId: string,
): Promise<{ readonly id: string; readonly space_id: string | null }[]> {
  const { rows } = await sql.query<{ id: string; space_id: string | null }>(
    `update webhooks
     set status = 'paused',
         status_reason = 'reach_lost',
         status_changed_at = now(),
         updated_at = now()
     where id in (${lockedInOrder("created_by = $1 and status = 'active'")})
     returning id, space_id`,
    [userId],
  );
  return rows;
}
