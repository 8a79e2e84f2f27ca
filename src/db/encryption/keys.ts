/** Keeps organizations' data-encryption keys, wrapped by the master key: no plain bytes in the database. */
import type { WrappedKey } from "../../domain/tenancy/wrapped-keys.ts";
import { type Database, inTenant, inTransaction, queryOnce, type Sql } from "../pool.ts";

interface NewKey {
  readonly id: string;
  readonly wrapped: Buffer;
}

/** Lists all keys of the organization. Some objects may still be encrypted with earlier ones. */
export async function listOrganizationKeys(db: Database, organizationId: string): Promise<WrappedKey[]> {
  return inOrganization(db, organizationId, async (sql) => {
    const { rows } = await sql.query<WrappedKey & { id: string }>(
      `select id, wrapped, is_current as "isCurrent"
       from organization_keys
       order by id`,
    );
    return rows;
  });
}

/** Stores the organization's first key as its current one; does nothing if it has one already. */
export async function insertFirstOrganizationKey(
  db: Database,
  organizationId: string,
  masterKeyId: string,
  key: NewKey,
): Promise<void> {
  await inOrganization(db, organizationId, (sql) =>
    sql.query(
      `insert into organization_keys (id, organization_id, wrapped, master_key_id, is_current)
       values ($1, $2, $3, $4, true)
       on conflict (organization_id) where is_current do nothing`,
      [key.id, organizationId, key.wrapped, masterKeyId],
    ),
  );
}

/** Makes `key` the organization's current one. Older keys stay for their data. Idempotent by its id. */
export async function replaceOrganizationKey(
  db: Database,
  organizationId: string,
  masterKeyId: string,
  key: NewKey,
): Promise<void> {
  await inOrganization(db, organizationId, async (sql) => {
    if ((await sql.query("select from organization_keys where id = $1", [key.id])).rowCount === 1) return;
    await sql.query(
      `update organization_keys
       set is_current = false
       where organization_id = $1
         and is_current`,
      [organizationId],
    );
    await sql.query(
      `insert into organization_keys (id, organization_id, wrapped, master_key_id, is_current)
       values ($1, $2, $3, $4, true)`,
      [key.id, organizationId, key.wrapped, masterKeyId],
    );
  });
}

export interface CurrentKey {
  readonly id: string;
  /** Seconds since it became the current one. */
  readonly age_seconds: number;
  readonly created_at: Date;
  /** How many keys were current before it and still exist. */
  readonly older: number;
}

/** @returns undefined if the organization has no key yet, or none any more. */
export async function findCurrentKey(db: Database, organizationId: string): Promise<CurrentKey | undefined> {
  return inOrganization(db, organizationId, async (sql) => {
    const { rows } = await sql.query<CurrentKey>(
      `select id,
              created_at,
              extract(epoch from now() - created_at)::float8 as age_seconds,
              (
                select count(*)::int
                from organization_keys older
                where older.organization_id = $1
                  and not older.is_current
              ) as older
       from organization_keys
       where organization_id = $1
         and is_current`,
      [organizationId],
    );
    return rows[0];
  });
}

/**
 * Deletes all keys but the current one: what is still encrypted with them can never be read again. Does
 * nothing if `currentId` is not the current key any more.
 * @returns how many keys were deleted.
 */
export async function deleteKeysBefore(
  db: Database,
  organizationId: string,
  currentId: string,
): Promise<number> {
  const { rowCount } = await queryOnce(
    db.maintenance,
    `delete from organization_keys
     where organization_id = $1
       and not is_current
       and exists (
         select
         from organization_keys current
         where current.id = $2
           and current.organization_id = $1
           and current.is_current
       )`,
    [organizationId, currentId],
  );
  return rowCount ?? 0;
}

export interface KeyToRewrap extends NewKey {
  readonly organization_id: string;
  readonly master_key_id: string;
}

/** Lists up to `limit` keys, of all organizations, that another master key than `masterKeyId` wraps. */
export async function listKeysNotWrappedBy(
  db: Database,
  masterKeyId: string,
  limit: number,
): Promise<KeyToRewrap[]> {
  return inTransaction(db.maintenance, async (sql) => {
    const { rows } = await sql.query<KeyToRewrap>(
      `select id, organization_id, wrapped, master_key_id
       from organization_keys
       where master_key_id <> $1
       order by id
       limit $2`,
      [masterKeyId, limit],
    );
    return rows;
  });
}

/** Stores `key` as wrapped by the master key `to`, if it is still wrapped by `from`. Idempotent. */
export async function rewrapOrganizationKey(
  db: Database,
  key: NewKey,
  from: string,
  to: string,
): Promise<void> {
  await inTransaction(db.maintenance, (sql) =>
    sql.query(
      `update organization_keys
       set wrapped = $3,
           master_key_id = $4
       where id = $1
         and master_key_id = $2`,
      [key.id, from, key.wrapped, to],
    ),
  );
}

/** The keyring knows organizations by id alone. Its tables' policies ignore the number; none has 0. */
async function inOrganization<T>(db: Database, id: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  return inTenant(db, { id, num: 0 }, work);
}
