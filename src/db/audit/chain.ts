/**
 * Chains the audit log: a keyed hash binds each committed row to the one before. Runs as the login
 * `maintenance`, which sees all organizations.
 * @see src/db/audit/chain-check.ts for how it is held to what was written
 */
import { createHmac } from "node:crypto";
import { type Database, inTransaction, type Sql } from "../pool.ts";

/** The instance secret that keys the chain: a writer without the master key cannot forge it. */
export const AUDIT_CHAIN_SECRET = "audit-chain";

export interface ChainedRow {
  readonly id: string;
  readonly chain_seq: number | null;
  readonly chain_hash: Buffer | null;
  /** The whole row as one line of JSON. */
  readonly content: string;
}

export interface Chain {
  readonly base_seq: number;
  readonly base_hash: Buffer;
  readonly seq: number;
  readonly hash: Buffer;
}

/** Its text is hashed, so neither the order of the values nor their form may change. */
export const CONTENT = `
  jsonb_build_array(
    id,
    organization_id,
    to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US'),
    actor_id,
    auth_method,
    api_key_id,
    action,
    resource_type,
    resource_id,
    space_id,
    request_id,
    outcome
  )::text as content`;

export function linkHash(secret: Uint8Array, before: Buffer, seq: number, content: string): Buffer {
  return createHmac("sha256", secret).update(before).update(`\0${seq}\0`).update(content).digest();
}

/**
 * Chains up to `limit` rows of the organization that are not chained yet, oldest first, in one transaction.
 * Calls for one organization wait for each other; transactions that append rows wait for none of them.
 * @returns how many rows were chained.
 */
export async function chainAuditRows(
  db: Database,
  secret: Uint8Array,
  organizationId: string,
  limit: number,
): Promise<number> {
  return inTransaction(db.maintenance, async (sql) => {
    const { rows } = await sql.query<ChainedRow>(
      `select id, chain_seq, chain_hash, ${CONTENT}
       from audit_log
       where organization_id = $1
         and chain_seq is null
       order by at, id
       limit $2`,
      [organizationId, limit],
    );
    if (rows.length === 0) return 0;
    const chain = await lockChain(sql, organizationId);
    // Another process may have chained some of them before this transaction had the lock.
    const { rows: free } = await sql.query<{ id: string }>(
      `select id
       from audit_log
       where id = any($1::uuid[])
         and chain_seq is null`,
      [rows.map(({ id }) => id)],
    );
    const open = new Set(free.map(({ id }) => id));
    const links: { readonly id: string; readonly seq: number; readonly hash: Buffer }[] = [];
    let seq = chain.seq;
    let hash = chain.hash;
    for (const { id, content } of rows.filter((row) => open.has(row.id))) {
      seq += 1;
      hash = linkHash(secret, hash, seq, content);
      links.push({ id, seq, hash });
    }
    await sql.query(
      `update audit_log entry
       set chain_seq = link.seq,
           chain_hash = link.hash
       from unnest($1::uuid[], $2::bigint[], $3::bytea[]) as link (id, seq, hash)
       where entry.id = link.id`,
      [links.map((link) => link.id), links.map((link) => link.seq), links.map((link) => link.hash)],
    );
    await sql.query(
      `update audit_chains
       set seq = $2,
           hash = $3
       where organization_id = $1`,
      [organizationId, seq, hash],
    );
    return links.length;
  });
}

async function lockChain(sql: Sql, organizationId: string): Promise<Chain> {
  await sql.query(
    `insert into audit_chains (organization_id)
     values ($1)
     on conflict do nothing`,
    [organizationId],
  );
  const { rows } = await sql.query<Chain>(
    `select base_seq, base_hash, seq, hash
     from audit_chains
     where organization_id = $1
     for update`,
    [organizationId],
  );
  if (rows[0] === undefined)
    throw new Error("the organization's audit chain is gone right after it was locked");
  return rows[0];
}

/** Deletes up to `limit` chained rows older than `days`, from the chain's front. @returns how many. */
export async function deleteOldAuditRows(
  db: Database,
  organizationId: string,
  days: number,
  limit: number,
): Promise<number> {
  return inTransaction(db.maintenance, async (sql) => {
    const { rows } = await sql.query(
      `with gone as (
         delete from audit_log
         where id = any(array(
           select id
           from audit_log
           where organization_id = $1
             and at < now() - make_interval(days => $2)
             and chain_seq is not null
           order by chain_seq
           limit $3
         ))
         returning chain_seq, chain_hash
       ), last as (
         select chain_seq, chain_hash
         from gone
         order by chain_seq desc
         limit 1
       ), moved as (
         update audit_chains chain
         set base_seq = last.chain_seq,
             base_hash = last.chain_hash
         from last
         where chain.organization_id = $1
           and chain.base_seq < last.chain_seq
       )
       select
       from gone`,
      [organizationId, days, limit],
    );
    return rows.length;
  });
}
