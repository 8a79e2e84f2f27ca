/** Makes, reads, lists and revokes API keys and the spaces that they are narrowed to. */
import type { Condition, OrderTerm } from "../../domain/requests/conditions.ts";
import type { Capability } from "../../domain/tenancy/principal.ts";
import { type FieldColumns, parameters } from "../filter-sql.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import type { OrganizationRef, Sql } from "../pool.ts";

export interface ApiKeyRow {
  readonly id: string;
  readonly user_id: string;
  readonly name: string;
  readonly prefix: string;
  /** Null means all spaces that its owner reaches. */
  readonly spaces: string[] | null;
  readonly capabilities: Capability[];
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
  readonly revoked_at: Date | null;
  /** Null if its owner, an administrator or the operator revoked it. */
  readonly revoked_reason: "leaked" | null;
  /** Null means the operator, by a provisioning file or the command line. */
  readonly created_by: string | null;
  /** In canonical form; null means that it may be used from everywhere. */
  readonly allowed_cidrs: string[] | null;
  readonly last_used_ip: string | null;
  readonly last_used_user_agent: string | null;
  /** Until when the text before the last roll is accepted; null: no longer. Never after `expires_at`. */
  readonly overlap_ends_at: Date | null;
}

export interface NewApiKey {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  readonly prefix: string;
  readonly hash: Buffer;
  readonly spaces: readonly string[] | null;
  readonly capabilities: readonly Capability[];
  readonly expiresAt: Date | null;
  /** The user who asked for it; null: the operator. A key made by another user reaches no private space. */
  readonly createdBy: string | null;
  /** In canonical form; null means that it may be used from everywhere. */
  readonly allowedCidrs: readonly string[] | null;
}

const COLUMNS = `
  key.id,
  key.user_id,
  key.name,
  key.prefix,
  key.capabilities,
  key.created_at,
  key.created_by,
  key.expires_at,
  key.revoked_at,
  key.revoked_reason,
  key.allowed_cidrs,
  key.last_used_at,
  host(key.last_used_ip) as last_used_ip,
  key.last_used_user_agent,
  (
    select max(least(superseded.valid_until, key.expires_at))
    from superseded_keys superseded
    where superseded.api_key_id = key.id
      and key.revoked_at is null
      and superseded.valid_until > now()
      and (key.expires_at is null or key.expires_at > now())
  ) as overlap_ends_at,
  case when key.all_spaces then null else array(
    select chosen.space_id
    from api_key_spaces chosen
    where chosen.api_key_id = key.id
    order by chosen.space_id
  ) end as spaces`;

/** Stores the key with its chosen spaces. The texts of keys never come here, only their hashes. */
export async function insertApiKey(
  sql: Sql,
  organization: OrganizationRef,
  key: NewApiKey,
): Promise<ApiKeyRow> {
  await sql.query(
    `insert into api_keys (
       id, organization_id, user_id, name, prefix, hash,
       all_spaces, capabilities, expires_at, created_by, allowed_cidrs
     )
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      key.id,
      organization.id,
      key.userId,
      key.name,
      key.prefix,
      key.hash,
      key.spaces === null,
      key.capabilities,
      key.expiresAt,
      key.createdBy,
      key.allowedCidrs,
    ],
  );
  await setKeySpaces(sql, organization, key.id, key.spaces ?? []);
  return (await findApiKey(sql, key.id))!;
}

export async function findApiKey(sql: Sql, id: string): Promise<ApiKeyRow | undefined> {
  const { rows } = await sql.query<ApiKeyRow>(
    `select ${COLUMNS}
     from api_keys key
     where key.id = $1`,
    [id],
  );
  return rows[0];
}

/** Finds a key of the organization and locks its row until the transaction ends. */
export async function lockApiKey(
  sql: Sql,
  organizationId: string,
  id: string,
): Promise<ApiKeyRow | undefined> {
  const { rows } = await sql.query<ApiKeyRow>(
    `select ${COLUMNS}
     from api_keys key
     where key.id = $1
       and key.organization_id = $2
     for no key update of key`,
    [id, organizationId],
  );
  return rows[0];
}

/**
 * Lets one transaction at a time make keys of the user, or give expired ones a new expiry. To avoid deadlocks
 * it comes before the lock of any key.
 */
export async function lockKeysOfUser(sql: Sql, userId: string): Promise<void> {
  await sql.query("select from users where id = $1 for no key update", [userId]);
}

/** Counts keys of the user that are neither revoked nor expired. Needs {@link lockKeysOfUser}. */
export async function countLiveKeys(sql: Sql, userId: string): Promise<number> {
  const { rows } = await sql.query<{ live: number }>(
    `select count(*)::int as live
     from api_keys
     where user_id = $1
       and revoked_at is null
       and (expires_at is null or expires_at > now())`,
    [userId],
  );
  return rows[0]!.live;
}

/** Whether the key has expired, so that a new expiry would make it work again. False for a revoked key. */
export async function hasExpired(sql: Sql, id: string): Promise<boolean> {
  // Not now(): the key may have expired since the transaction began, while it waited for lockKeysOfUser.
  const { rowCount } = await sql.query(
    `select
     from api_keys
     where id = $1
       and revoked_at is null
       and expires_at <= clock_timestamp()`,
    [id],
  );
  return rowCount === 1;
}

/** Makes `spaces` the chosen spaces of the key. Idempotent. @returns whether that changed anything. */
export async function setKeySpaces(
  sql: Sql,
  organization: OrganizationRef,
  keyId: string,
  spaces: readonly string[],
): Promise<boolean> {
  const removed = await sql.query(
    `delete from api_key_spaces
     where api_key_id = $1
       and space_id <> all ($2::uuid[])`,
    [keyId, spaces],
  );
  const added = await sql.query(
    `insert into api_key_spaces (api_key_id, space_id, organization_id)
     select $1, space_id, $2
     from unnest($3::uuid[]) as chosen (space_id)
     on conflict do nothing`,
    [keyId, organization.id, spaces],
  );
  return (removed.rowCount ?? 0) + (added.rowCount ?? 0) > 0;
}

const FIELDS: FieldColumns = {
  id: "key.id",
  name: "key.name",
  user_id: "key.user_id",
  created_by: "key.created_by",
  created_at: "key.created_at",
  expires_at: "key.expires_at",
  last_used_at: "key.last_used_at",
  unused_since: "coalesce(key.last_used_at, key.created_at)",
  revoked_at: "key.revoked_at",
};

interface KeySearch {
  readonly organizationId: string;
  /** Whose keys; null means those of all its users. */
  readonly userId: string | null;
  readonly filters: readonly Condition[];
  readonly order_by: readonly OrderTerm[];
}

/** Lists keys of one user or the organization, revoked ones too; newest first by default. */
export async function listApiKeys(sql: Sql, search: KeySearch, page: PageRequest): Promise<Page<ApiKeyRow>> {
  const where = "key.organization_id = $1 and ($2::uuid is null or key.user_id = $2)";
  const filters = { conditions: search.filters, fields: FIELDS };
  const params = parameters([search.organizationId, search.userId]);
  return readPage<ApiKeyRow>(
    sql,
    {
      columns: COLUMNS,
      from: "api_keys key",
      where,
      order: { terms: search.order_by, fields: FIELDS },
      params,
      filters,
    },
    page,
  );
}

/** @returns the id of the user who owns the key. */
export async function findKeyOwner(
  sql: Sql,
  organizationId: string,
  id: string,
): Promise<string | undefined> {
  const { rows } = await sql.query<{ user_id: string }>(
    `select user_id
     from api_keys
     where id = $1
       and organization_id = $2`,
    [id, organizationId],
  );
  return rows[0]?.user_id;
}

/**
 * Revokes the key. Idempotent: the time of the first revocation stays.
 * @param userId the owner that the key must have; null means any.
 * @returns false if there is no such key.
 */
export async function revokeApiKey(sql: Sql, id: string, userId: string | null): Promise<boolean> {
  const { rowCount } = await sql.query(
    `update api_keys
     set revoked_at = coalesce(revoked_at, now())
     where id = $1
       and ($2::uuid is null or user_id = $2)`,
    [id, userId],
  );
  return rowCount === 1;
}
