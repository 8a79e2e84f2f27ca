/** All SQL on `api_keys` and `api_key_spaces`. Key texts never come here, only their hashes. */
import { PRIVATE_SPACE } from "../../domain/tenancy/provision.ts";
import type { Capability, OrganizationRole, SpaceRole } from "../../domain/tenancy/principal.ts";
import type { Condition, OrderTerm } from "../../domain/conditions.ts";
import { type FieldColumns, parameters } from "../filter-sql.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import { type Database, type OrganizationKey, queryOnce, type Sql } from "../pool.ts";

/** What the database knows of a caller, before anybody decided whether it is let in. */
export interface CallerRow {
  readonly user: {
    readonly id: string;
    readonly email: string;
    readonly name: string;
    readonly avatar_url: string | null;
    readonly role: OrganizationRole;
    readonly removed: boolean;
  };
  readonly organization: {
    readonly id: string;
    readonly num: number;
    readonly name: string;
    readonly deleted: boolean;
    readonly is_home: boolean;
  };
  readonly has_private_space: boolean;
  readonly spaces: readonly {
    readonly id: string;
    readonly num: number;
    readonly role: SpaceRole;
    readonly is_private: boolean;
  }[];
}

export interface KeyCallerRow extends CallerRow {
  readonly key: {
    readonly id: string;
    readonly all_spaces: boolean;
    readonly capabilities: readonly Capability[];
    readonly expires_at: string | null;
    readonly revoked_at: string | null;
    readonly allowed_cidrs: readonly string[] | null;
  };
}

export interface ApiKeyRow {
  readonly id: string;
  readonly user_id: string;
  readonly name: string;
  readonly prefix: string;
  /** Null reaches all spaces of its owner. */
  readonly spaces: string[] | null;
  readonly capabilities: Capability[];
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
  readonly revoked_at: Date | null;
  /** Why, where it was not its owner, an administrator or the operator. */
  readonly revoked_reason: "leaked" | null;
  /** Null: the operator, by provisioning or the command line. */
  readonly created_by: string | null;
  /** Canonical; null is everywhere. */
  readonly allowed_cidrs: string[] | null;
  readonly last_used_ip: string | null;
  readonly last_used_user_agent: string | null;
  /** Until when the text before the last roll is accepted, at most until the key expires; null once it is not. */
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
  /** The user who asked for it; null is the operator. One made by another than its owner reaches no private space. */
  readonly createdBy: string | null;
  /** Canonical; null is everywhere. */
  readonly allowedCidrs: readonly string[] | null;
}

const COLUMNS = `k.id, k.user_id, k.name, k.prefix, k.capabilities, k.created_at, k.created_by, k.expires_at, k.revoked_at, k.revoked_reason,
  k.allowed_cidrs, k.last_used_at, host(k.last_used_ip) as last_used_ip, k.last_used_user_agent,
  (select max(least(s.valid_until, k.expires_at)) from superseded_keys s
    where s.api_key_id = k.id and k.revoked_at is null and s.valid_until > now() and (k.expires_at is null or k.expires_at > now())) as overlap_ends_at,
  case when k.all_spaces then null else array(select ks.space_id from api_key_spaces ks where ks.api_key_id = k.id order by ks.space_id) end as spaces`;

/** One statement, whatever the key is: its state, its owner and what it reaches. */
export async function findKeyCaller(db: Database, hash: Buffer): Promise<KeyCallerRow | null> {
  const { rows } = await queryOnce<{ caller: KeyCallerRow | null }>(db.app, {
    name: "authenticate_caller_key",
    text: "select authenticate_caller_key($1) as caller",
    values: [hash],
  });
  return rows[0]?.caller ?? null;
}

export interface KeyUse {
  readonly id: string;
  readonly at: Date;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

/** Sets when, from where and by what each key was last used; a time before the one that is stored changes nothing. */
export async function touchApiKeys(db: Database, uses: readonly KeyUse[]): Promise<void> {
  await queryOnce(db.app, "select touch_caller_keys($1::uuid[], $2::timestamptz[], $3::inet[], $4::text[])", [
    uses.map((use) => use.id),
    uses.map((use) => use.at.toISOString()),
    uses.map((use) => use.ip),
    uses.map((use) => use.userAgent),
  ]);
}

export async function insertApiKey(
  sql: Sql,
  organization: OrganizationKey,
  key: NewApiKey,
): Promise<ApiKeyRow> {
  await sql.query(
    `insert into api_keys (id, organization_id, user_id, name, prefix, hash, all_spaces, capabilities, expires_at, created_by, allowed_cidrs)
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
  const { rows } = await sql.query<ApiKeyRow>(`select ${COLUMNS} from api_keys k where k.id = $1`, [id]);
  return rows[0];
}

/** The organization's key, its row locked until the transaction ends. */
export async function lockApiKey(
  sql: Sql,
  organizationId: string,
  id: string,
): Promise<ApiKeyRow | undefined> {
  const { rows } = await sql.query<ApiKeyRow>(
    `select ${COLUMNS} from api_keys k where k.id = $1 and k.organization_id = $2 for no key update of k`,
    [id, organizationId],
  );
  return rows[0];
}

/** Lets one transaction at a time make keys of the user, or let expired ones live again. Comes before the lock of any key. */
export async function lockKeysOfUser(sql: Sql, userId: string): Promise<void> {
  await sql.query("select from users where id = $1 for no key update", [userId]);
}

/** How many keys the user has that are neither revoked nor expired. Needs {@link lockKeysOfUser}. */
export async function countLiveKeys(sql: Sql, userId: string): Promise<number> {
  const { rows } = await sql.query<{ live: number }>(
    "select count(*)::int as live from api_keys where user_id = $1 and revoked_at is null and (expires_at is null or expires_at > now())",
    [userId],
  );
  return rows[0]!.live;
}

/** Whether a new expiry would make the key live again. By the clock, since the transaction may have waited for {@link lockKeysOfUser}. */
export async function hasExpired(sql: Sql, id: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    "select from api_keys where id = $1 and revoked_at is null and expires_at <= clock_timestamp()",
    [id],
  );
  return rowCount === 1;
}

/** Makes `spaces` the chosen spaces of the key, whatever they were. @returns whether that changed anything. */
export async function setKeySpaces(
  sql: Sql,
  organization: OrganizationKey,
  keyId: string,
  spaces: readonly string[],
): Promise<boolean> {
  const removed = await sql.query(
    "delete from api_key_spaces where api_key_id = $1 and space_id <> all ($2::uuid[])",
    [keyId, spaces],
  );
  const added = await sql.query(
    "insert into api_key_spaces (api_key_id, space_id, organization_id) select $1, space_id, $2 from unnest($3::uuid[]) as chosen (space_id) on conflict do nothing",
    [keyId, organization.id, spaces],
  );
  return (removed.rowCount ?? 0) + (added.rowCount ?? 0) > 0;
}

const FIELDS: FieldColumns = {
  id: "k.id",
  name: "k.name",
  user_id: "k.user_id",
  created_by: "k.created_by",
  created_at: "k.created_at",
  expires_at: "k.expires_at",
  last_used_at: "k.last_used_at",
  unused_since: "coalesce(k.last_used_at, k.created_at)",
  revoked_at: "k.revoked_at",
};

interface KeySearch {
  readonly organizationId: string;
  /** Null: of all its users. */
  readonly userId: string | null;
  readonly filters: readonly Condition[];
  readonly order_by: readonly OrderTerm[];
}

/** A page of the keys of one user, or of the whole organization, newest first where nothing else is asked for; revoked ones too. */
export async function listApiKeys(sql: Sql, search: KeySearch, page: PageRequest): Promise<Page<ApiKeyRow>> {
  const where = "k.organization_id = $1 and ($2::uuid is null or k.user_id = $2)";
  const filters = { conditions: search.filters, fields: FIELDS };
  const params = parameters([search.organizationId, search.userId]);
  return readPage<ApiKeyRow>(
    sql,
    {
      columns: COLUMNS,
      from: "api_keys k",
      where,
      order: { terms: search.order_by, fields: FIELDS },
      params,
      filters,
    },
    page,
  );
}

/** Whose key it is. */
export async function findKeyOwner(
  sql: Sql,
  organizationId: string,
  id: string,
): Promise<string | undefined> {
  const { rows } = await sql.query<{ user_id: string }>(
    "select user_id from api_keys where id = $1 and organization_id = $2",
    [id, organizationId],
  );
  return rows[0]?.user_id;
}

/** Revokes the key, of `userId` where that is given. Idempotent. @returns false where there is no such key. */
export async function revokeApiKey(sql: Sql, id: string, userId: string | null): Promise<boolean> {
  const { rowCount } = await sql.query(
    "update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $1 and ($2::uuid is null or user_id = $2)",
    [id, userId],
  );
  return rowCount === 1;
}

/** For the command line, which serves no tenant: whose organization a key is bound to. */
export async function findOrganizationOfKey(db: Database, id: string): Promise<OrganizationKey | undefined> {
  const { rows } = await queryOnce<OrganizationKey>(
    db.maintenance,
    "select o.id, o.num from api_keys k join organizations o on o.id = k.organization_id where k.id = $1",
    [id],
  );
  return rows[0];
}

export type ListedApiKey = Pick<
  ApiKeyRow,
  | "id"
  | "name"
  | "prefix"
  | "created_at"
  | "created_by"
  | "expires_at"
  | "allowed_cidrs"
  | "last_used_at"
  | "last_used_ip"
  | "revoked_at"
  | "revoked_reason"
> & {
  readonly email: string;
  /** Of its owner, in the organization. */
  readonly role: OrganizationRole;
  readonly organization: string;
  readonly capabilities: readonly Capability[];
  /** Names of the spaces it is narrowed to; null reaches all of its owner's. */
  readonly spaces: readonly string[] | null;
};

/** For the command line: the newest `limit` keys of all organizations, or of the user with this e-mail address, newest first. */
export async function listAllApiKeys(
  db: Database,
  { email, limit }: { readonly email: string | null; readonly limit: number },
): Promise<ListedApiKey[]> {
  const { rows } = await queryOnce<ListedApiKey>(
    db.maintenance,
    `select k.id, o.name as organization, u.email, u.role, k.name, k.prefix, k.created_at, k.created_by, k.expires_at, k.allowed_cidrs, k.last_used_at,
       host(k.last_used_ip) as last_used_ip, k.revoked_at, k.revoked_reason, k.capabilities,
       case when not k.all_spaces then array(
         select case when s.is_private then '${PRIVATE_SPACE}' else s.name end from api_key_spaces c join spaces s on s.id = c.space_id
         where c.api_key_id = k.id and s.deleted_at is null order by 1) end as spaces
     from api_keys k join users u on u.id = k.user_id join organizations o on o.id = k.organization_id
     where $1::text is null or lower(u.email) = lower($1)
     order by k.created_at desc, k.id desc limit $2`,
    [email, limit],
  );
  return rows;
}
