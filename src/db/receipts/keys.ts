/** Keeps the keys that sign receipts: every public half, and one private half, sealed. */
import { type Database, inTenant, type OrganizationRef, queryOnce, type Sql } from "../pool.ts";

/** The public half of a key. */
export interface ReceiptKeyRow {
  /** Random. */
  readonly kid: string;
  /** 32 bytes. */
  readonly public_key: Buffer;
  readonly created_at: Date;
  /** When it has stopped to sign; null if it signs. */
  readonly retired_at: Date | null;
}

export interface SealedReceiptKey {
  readonly kid: string;
  readonly publicKey: Buffer;
  /** The organization's key that seals its private half. */
  readonly sealKeyId: string;
  readonly sealed: Buffer;
}

/** Issuers know organizations by their id; the policies of the table do not look at the number. */
const asKey = (id: string): OrganizationRef => ({ id, num: 0 });

/** @returns the key that signs; undefined if there is none yet. */
export async function findSigningKey(
  db: Database,
  organizationId: string,
): Promise<SealedReceiptKey | undefined> {
  return inTenant(db, asKey(organizationId), async (sql) => {
    const { rows } = await sql.query<SealedReceiptKey>(
      `select kid,
              public_key as "publicKey",
              seal_key_id as "sealKeyId",
              sealed_private_key as sealed
       from receipt_keys
       where organization_id = $1
         and retired_at is null`,
      [organizationId],
    );
    return rows[0];
  });
}

/** Makes `key` the one that signs, unless another process made one. @param before the key it replaces. */
export async function insertSigningKey(
  db: Database,
  organizationId: string,
  key: SealedReceiptKey,
  before?: string,
): Promise<void> {
  await inTenant(db, asKey(organizationId), async (sql) => {
    if (before !== undefined)
      await sql.query(
        `update receipt_keys
         set retired_at = now(),
             seal_key_id = null,
             sealed_private_key = null
         where organization_id = $1
           and kid = $2
           and retired_at is null`,
        [organizationId, before],
      );
    await sql.query(
      `insert into receipt_keys (kid, organization_id, public_key, seal_key_id, sealed_private_key)
       values ($2, $1, $3, $4, $5)
       on conflict (organization_id) where retired_at is null do nothing`,
      [organizationId, key.kid, key.publicKey, key.sealKeyId, key.sealed],
    );
  });
}

/**
 * Retires the key that signs if another key of the organization than `keyId` seals it, and deletes its
 * private half: the next receipt makes a new one. Idempotent.
 */
export async function retireSigningKeyOfOldSeal(
  sql: Sql,
  organizationId: string,
  keyId: string,
): Promise<void> {
  await sql.query(
    `update receipt_keys
     set retired_at = now(),
         seal_key_id = null,
         sealed_private_key = null
     where organization_id = $1
       and retired_at is null
       and seal_key_id <> $2`,
    [organizationId, keyId],
  );
}

/** The public keys of the organization, newest first, at most `limit`. */
export async function listReceiptKeys(
  sql: Sql,
  organizationId: string,
  limit: number,
): Promise<ReceiptKeyRow[]> {
  const { rows } = await sql.query<ReceiptKeyRow>(
    `select kid, public_key, created_at, retired_at
     from receipt_keys
     where organization_id = $1
     order by retired_at is not null, created_at desc, kid
     limit $2`,
    [organizationId, limit],
  );
  return rows;
}

export interface OwnedReceiptKey extends Omit<ReceiptKeyRow, "kid"> {
  readonly organization_id: string;
}

/** The public key of that id, of any organization that is not deleted. */
export async function findReceiptKey(db: Database, kid: string): Promise<OwnedReceiptKey | undefined> {
  const { rows } = await queryOnce<OwnedReceiptKey>(
    db.app,
    `select organization_id, public_key, created_at, retired_at
     from find_receipt_key($1)`,
    [kid],
  );
  return rows[0];
}
