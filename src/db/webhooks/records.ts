/** Makes, reads, lists, changes and ends webhooks. Their deliveries are in the files beside it. */
import type { EventType } from "../../domain/events/event-types.ts";
import { parameters } from "../filter-sql.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import type { Locking, Sql } from "../sql.ts";

type WebhookStatus = "active" | "paused" | "disabled";
/** `gone`: it answered 410. A deleted webhook is found by no function of this file. */
type WebhookReason = "by_user" | "reach_lost" | "failing" | "gone";

export interface WebhookRow {
  readonly id: string;
  readonly organization_id: string;
  /** Null: of the organization. */
  readonly space_id: string | null;
  readonly created_by: string;
  readonly url: string;
  /** Empty: all. */
  readonly types: EventType[];
  readonly description: string | null;
  readonly status: WebhookStatus;
  readonly status_reason: WebhookReason | null;
  readonly status_changed_at: Date;
  /** Since when no attempt has succeeded; null if the last one did. */
  readonly failing_since: Date | null;
  /** Until when the secret before the last roll signs too; null if it does not. */
  readonly overlap_ends_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** A secret that signs, sealed with the key of the organization that it names. */
export interface StoredSecret {
  readonly keyId: string;
  readonly sealed: Buffer;
}

const COLUMNS = `
  webhook.id,
  webhook.organization_id,
  webhook.space_id,
  webhook.created_by,
  webhook.url,
  webhook.types,
  webhook.description,
  webhook.status,
  webhook.status_reason,
  webhook.status_changed_at,
  webhook.failing_since,
  case when webhook.previous_until > now() then webhook.previous_until end as overlap_ends_at,
  webhook.created_at,
  webhook.updated_at`;

interface NewWebhook {
  readonly id: string;
  readonly organizationId: string;
  readonly spaceId: string | null;
  readonly createdBy: string;
  readonly url: string;
  readonly types: readonly EventType[];
  readonly description: string | null;
  readonly secret: StoredSecret;
}

/** Stores an active webhook, which is told what is placed in the log from now on. */
export async function insertWebhook(sql: Sql, webhook: NewWebhook): Promise<WebhookRow> {
  const { rows } = await sql.query<WebhookRow>(
    `insert into webhooks as webhook (
       id, organization_id, space_id, created_by, url, types, description, secret_key_id, sealed_secret, position
     )
     values (
       $1, $2, $3, $4, $5, $6, $7, $8, $9,
       coalesce((select last_position from event_positions where organization_id = $2), 0)
     )
     returning ${COLUMNS}`,
    [
      webhook.id,
      webhook.organizationId,
      webhook.spaceId,
      webhook.createdBy,
      webhook.url,
      webhook.types,
      webhook.description,
      webhook.secret.keyId,
      webhook.secret.sealed,
    ],
  );
  return rows[0]!;
}

/** Finds a webhook, whether or not the caller may see it: that is for `auth/policy.ts` to decide. */
export async function findWebhook(
  sql: Sql,
  organizationId: string,
  id: string,
  { lock = false }: Locking = {},
): Promise<WebhookRow | undefined> {
  const { rows } = await sql.query<WebhookRow>(
    `select ${COLUMNS}
     from webhooks webhook
     where webhook.id = $1
       and webhook.organization_id = $2
       and webhook.deleted_at is null
     ${lock ? "for no key update" : ""}`,
    [id, organizationId],
  );
  return rows[0];
}

interface WebhookSearch {
  readonly organizationId: string;
  readonly spaceIds: readonly string[];
  /** Whether those of the organization are listed too. */
  readonly withOrganization: boolean;
  readonly status: WebhookStatus | null;
}

/** Lists webhooks, newest first. */
export async function listWebhooks(
  sql: Sql,
  { organizationId, spaceIds, withOrganization, status }: WebhookSearch,
  page: PageRequest,
): Promise<Page<WebhookRow>> {
  return readPage<WebhookRow>(
    sql,
    {
      columns: COLUMNS,
      from: "webhooks webhook",
      where: `webhook.organization_id = $1
       and webhook.deleted_at is null
       and (webhook.space_id = any($2::uuid[]) or (webhook.space_id is null and $3::boolean))
       and ($4::text is null or webhook.status = $4)`,
      order: "webhook.created_at desc, webhook.id desc",
      params: parameters([organizationId, spaceIds, withOrganization, status]),
    },
    page,
  );
}

/** Counts webhooks of the organization and of one user in it; one transaction at a time may make more. */
export async function countWebhooks(
  sql: Sql,
  organizationId: string,
  userId: string,
): Promise<{ readonly total: number; readonly own: number }> {
  await sql.query("select pg_advisory_xact_lock(hashtextextended('webhooks ' || $1::text, 0))", [
    organizationId,
  ]);
  const { rows } = await sql.query<{ total: number; own: number }>(
    `select count(*)::int as total,
            count(*) filter (where created_by = $2)::int as own
     from webhooks
     where organization_id = $1
       and deleted_at is null`,
    [organizationId, userId],
  );
  return rows[0]!;
}

/** Whether the user may have the webhook now: as an owner of its space, or an admin. */
export async function makerStillReaches(
  sql: Sql,
  { created_by: userId, space_id: spaceId }: Pick<WebhookRow, "created_by" | "space_id">,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `select
     from users maker
     where maker.id = $1
       and maker.removed_at is null
       and case
             when $2::uuid is null then maker.role = 'admin'
             else exists (
               select
               from space_members member
               join spaces space on space.id = member.space_id and space.deleted_at is null
               where member.space_id = $2
                 and member.user_id = $1
                 and member.role = 'owner'
             )
           end`,
    [userId, spaceId],
  );
  return rowCount === 1;
}

export interface WebhookValues {
  readonly url: string;
  readonly types: readonly EventType[];
  readonly description: string | null;
  readonly status: WebhookStatus;
  readonly reason: WebhookReason | null;
  /** Tries again at once, as if nothing had failed. Rows of deliveries stay as they are here. */
  readonly startsAfresh: boolean;
}

/** Writes the values of a webhook that the transaction has locked. */
export async function updateWebhook(sql: Sql, id: string, values: WebhookValues): Promise<WebhookRow> {
  const { rows } = await sql.query<WebhookRow>(
    `update webhooks webhook
     set url = $2,
         types = $3,
         description = $4,
         status_changed_at = case when webhook.status = $5 then webhook.status_changed_at else now() end,
         status = $5,
         status_reason = $6,
         failing_since = case when $7 then null else webhook.failing_since end,
         failures = case when $7 then 0 else webhook.failures end,
         next_attempt_at = case when $7 then now() else webhook.next_attempt_at end,
         -- A round that was under way when it was paused may be over.
         leased_until = case when not $7 then webhook.leased_until end,
         updated_at = now()
     where webhook.id = $1
     returning ${COLUMNS}`,
    [id, values.url, values.types, values.description, values.status, values.reason, values.startsAfresh],
  );
  return rows[0]!;
}

/** Replaces the secret; the one before signs too for `overlapSeconds`, and the one before that does not. */
export async function replaceSecret(
  sql: Sql,
  id: string,
  { keyId, sealed }: StoredSecret,
  overlapSeconds: number,
): Promise<WebhookRow> {
  const { rows } = await sql.query<WebhookRow>(
    `update webhooks webhook
     set previous_secret_key_id = case when $4 > 0 then webhook.secret_key_id end,
         sealed_previous_secret = case when $4 > 0 then webhook.sealed_secret end,
         previous_until = case when $4 > 0 then now() + make_interval(secs => $4) end,
         secret_key_id = $2,
         sealed_secret = $3,
         updated_at = now()
     where webhook.id = $1
     returning ${COLUMNS}`,
    [id, keyId, sealed, overlapSeconds],
  );
  return rows[0]!;
}

/** Makes the workflow of the webhook look at once what there is to do. */
export async function makeDue(sql: Sql, id: string): Promise<void> {
  await sql.query(
    `update webhooks
     set next_attempt_at = now()
     where id = $1`,
    [id],
  );
}
