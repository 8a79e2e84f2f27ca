/**
 * Chains the audit log: a keyed hash binds each committed row to the one before. Runs as the login
 * `maintenance`, which sees all organizations.
 * @see test/db/audit/chain.database.test.ts
 */
import { createHmac } from "node:crypto";
import { type Database, inTransaction, type Sql } from "../pool.ts";

/**
 * The instance secret that keys the chain: whoever can write the database but has no master key cannot forge
 * it.
 */
export const AUDIT_CHAIN_SECRET = "audit-chain";

interface ChainedRow {
  readonly id: string;
  readonly chain_seq: number | null;
  readonly chain_hash: Buffer | null;
  /** The whole row as one line of JSON. */
  readonly content: string;
}

interface Chain {
  readonly base_seq: number;
  readonly base_hash: Buffer;
  readonly seq: number;
  readonly hash: Buffer;
}

/** Its text is hashed, so neither the order of the values nor their form may change. */
const CONTENT = `
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

function linkHash(secret: Uint8Array, before: Buffer, seq: number, content: string): Buffer {
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

/**
 * Deletes up to `limit` chained rows of the organization that are older than `days`; the chain then begins
 * after them.
 * @returns how many rows were deleted.
 */
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

interface ChainReport {
  /** How many rows were checked. */
  readonly checked: number;
  /** How many rows are not chained yet. */
  readonly unchained: number;
  /** The end of the chain. Written down elsewhere, it can show later that nothing before it was changed. */
  readonly head: Head;
  /** The first row that is wrong; null if all are as they were written. */
  readonly fault: { readonly seq: number; readonly kind: "changed" | "missing" } | null;
}

const ROWS_A_READ = 5_000;

interface Head {
  readonly seq: number;
  /** In hexadecimal. */
  readonly hash: string;
}

/**
 * Recomputes the organization's chain from its beginning to its end, in one snapshot.
 * @param expected a row that the chain must have.
 */
export async function verifyAuditChain(
  db: Database,
  secret: Uint8Array,
  organizationId: string,
  expected?: Head,
): Promise<ChainReport> {
  return inTransaction(
    db.maintenance,
    async (sql) => {
      const { rows: chains } = await sql.query<Chain>(
        `select base_seq, base_hash, seq, hash
         from audit_chains
         where organization_id = $1`,
        [organizationId],
      );
      const chain = chains[0] ?? { base_seq: 0, base_hash: Buffer.alloc(0), seq: 0, hash: Buffer.alloc(0) };
      const { rows: open } = await sql.query<{ count: number }>(
        `select count(*)::int as count
         from audit_log
         where organization_id = $1
           and chain_seq is null`,
        [organizationId],
      );
      const { checked, fault } = await walkChain(sql, secret, organizationId, chain);
      return {
        checked,
        fault: fault ?? (await compareExpected(sql, organizationId, expected)),
        unchained: open[0]?.count ?? 0,
        head: { seq: chain.seq, hash: chain.hash.toString("hex") },
      };
    },
    "begin isolation level repeatable read read only",
  );
}

async function walkChain(
  sql: Sql,
  secret: Uint8Array,
  organizationId: string,
  chain: Chain,
): Promise<Pick<ChainReport, "checked" | "fault">> {
  let seq = chain.base_seq;
  let hash = chain.base_hash;
  let checked = 0;
  for (;;) {
    const { rows } = await sql.query<ChainedRow>(
      `select id, chain_seq, chain_hash, ${CONTENT}
       from audit_log
       where organization_id = $1
         and chain_seq > $2
       order by chain_seq
       limit $3`,
      [organizationId, seq, ROWS_A_READ],
    );
    for (const row of rows) {
      if (row.chain_seq !== seq + 1) return { checked, fault: { seq: seq + 1, kind: "missing" } };
      const next = linkHash(secret, hash, row.chain_seq, row.content);
      if (row.chain_hash === null || !next.equals(row.chain_hash))
        return { checked, fault: { seq: row.chain_seq, kind: "changed" } };
      seq = row.chain_seq;
      hash = next;
      checked += 1;
    }
    if (rows.length < ROWS_A_READ) break;
  }
  if (seq < chain.seq) return { checked, fault: { seq: seq + 1, kind: "missing" } };
  return { checked, fault: hash.equals(chain.hash) ? null : { seq, kind: "changed" } };
}

async function compareExpected(
  sql: Sql,
  organizationId: string,
  expected: Head | undefined,
): Promise<ChainReport["fault"]> {
  if (expected === undefined) return null;
  const { rows } = await sql.query<{ hash: string }>(
    `select encode(chain_hash, 'hex') as hash
     from audit_log
     where organization_id = $1
       and chain_seq = $2`,
    [organizationId, expected.seq],
  );
  if (rows[0] === undefined) return { seq: expected.seq, kind: "missing" };
  return rows[0].hash === expected.hash ? null : { seq: expected.seq, kind: "changed" };
}
