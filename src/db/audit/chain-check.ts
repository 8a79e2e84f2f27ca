/** Holds the chain of the audit log to its rows: as a whole for operators, in parts for an organization. */
import { setImmediate as pause } from "node:timers/promises";
import { type Database, inTransaction, type Sql } from "../pool.ts";
import { type Chain, type ChainedRow, CONTENT, linkHash } from "./chain.ts";

interface ChainReport {
  readonly checked: number;
  /** How many rows are not chained yet. */
  readonly unchained: number;
  /** The end of the chain. Written down elsewhere, it can show later that nothing before it was changed. */
  readonly head: Head;
  /** The first row that is wrong; null if all are as they were written. */
  readonly fault: { readonly seq: number; readonly kind: "changed" | "missing" } | null;
}

/** Their hashes take 12 to 19 ms. */
const ROWS_A_READ = 1_000;

interface Head {
  readonly seq: number;
  /** In hexadecimal. */
  readonly hash: string;
}

/** Where a walk of the chain stands: at a row, or before the first one. */
interface Place {
  readonly seq: number;
  readonly hash: Buffer;
}

const NO_CHAIN: Chain = { base_seq: 0, base_hash: Buffer.alloc(0), seq: 0, hash: Buffer.alloc(0) };

/** Recomputes the organization's chain in one snapshot. @param expected a row that it must have. */
export async function verifyAuditChain(
  db: Database,
  secret: Uint8Array,
  organizationId: string,
  expected?: Head,
): Promise<ChainReport> {
  return inTransaction(
    db.maintenance,
    async (sql) => {
      const chain = await readChain(sql, organizationId);
      const place = { seq: chain.base_seq, hash: chain.base_hash };
      const { checked, fault } = await walkChain(sql, { secret, organizationId, chain, place });
      return {
        checked,
        fault: fault ?? (await compareExpected(sql, organizationId, expected)),
        unchained: await countUnchained(sql, organizationId),
        head: headOf(chain),
      };
    },
    "begin isolation level repeatable read read only",
  );
}

export interface ChainPart extends ChainReport {
  /** The row before the first one that was checked. */
  readonly after: number;
  /** Where the next part begins; null if the end was reached, or a fault. */
  readonly next: number | null;
}

/**
 * Recomputes up to `limit` rows of the caller's chain, after the row `after`. A chain is checked whole by
 * asking on from `next`, and each part begins with the hash that the one before has verified. A row that was
 * deleted by its age meanwhile is passed over. It changes nothing.
 * @param sql of a transaction of the organization, in one snapshot.
 * @returns undefined if the chain ends before `after`.
 */
export async function checkChainPart(
  sql: Sql,
  {
    secret,
    organizationId,
    after,
    limit,
  }: {
    readonly secret: Uint8Array;
    readonly organizationId: string;
    readonly after: number;
    readonly limit: number;
  },
): Promise<ChainPart | undefined> {
  const chain = await readChain(sql, organizationId);
  if (after > chain.seq) return undefined;
  const about = { head: headOf(chain), unchained: await countUnchained(sql, organizationId) };
  const place = await placeAt(sql, organizationId, chain, after);
  if (place === undefined)
    return { ...about, after, checked: 0, next: null, fault: { seq: after, kind: "missing" } };
  const { checked, fault } = await walkChain(sql, { secret, organizationId, chain, place, limit });
  const reached = place.seq + checked;
  return {
    ...about,
    after: place.seq,
    checked,
    next: fault === null && reached < chain.seq ? reached : null,
    fault,
  };
}

async function readChain(sql: Sql, organizationId: string): Promise<Chain> {
  const { rows } = await sql.query<Chain>(
    `select base_seq, base_hash, seq, hash
     from audit_chains
     where organization_id = $1`,
    [organizationId],
  );
  return rows[0] ?? NO_CHAIN;
}

const headOf = ({ seq, hash }: Chain): Head => ({ seq, hash: hash.toString("hex") });

async function countUnchained(sql: Sql, organizationId: string): Promise<number> {
  const { rows } = await sql.query<{ count: number }>(
    `select count(*)::int as count
     from audit_log
     where organization_id = $1
       and chain_seq is null`,
    [organizationId],
  );
  return rows[0]?.count ?? 0;
}

/** Undefined if the row is missing. */
async function placeAt(
  sql: Sql,
  organizationId: string,
  chain: Chain,
  after: number,
): Promise<Place | undefined> {
  if (after <= chain.base_seq) return { seq: chain.base_seq, hash: chain.base_hash };
  const { rows } = await sql.query<Place>(
    `select chain_seq as seq, chain_hash as hash
     from audit_log
     where organization_id = $1
       and chain_seq = $2`,
    [organizationId, after],
  );
  return rows[0];
}

interface Walk {
  readonly secret: Uint8Array;
  readonly organizationId: string;
  readonly chain: Chain;
  readonly place: Place;
  /** At most so many rows; all to the end of the chain without it. */
  readonly limit?: number;
}

async function walkChain(
  sql: Sql,
  { secret, organizationId, chain, place, limit = Infinity }: Walk,
): Promise<Pick<ChainReport, "checked" | "fault">> {
  let { seq, hash } = place;
  let checked = 0;
  while (checked < limit) {
    const wanted = Math.min(ROWS_A_READ, limit - checked);
    const { rows } = await sql.query<ChainedRow>(
      `select id, chain_seq, chain_hash, ${CONTENT}
       from audit_log
       where organization_id = $1
         and chain_seq > $2
       order by chain_seq
       limit $3`,
      [organizationId, seq, wanted],
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
    if (rows.length < wanted) return { checked, fault: atEnd(chain, { seq, hash }) };
    // An API process has other requests.
    await pause();
  }
  return { checked, fault: seq === chain.seq ? atEnd(chain, { seq, hash }) : null };
}

/** What is wrong where no row follows. */
function atEnd(chain: Chain, { seq, hash }: Place): ChainReport["fault"] {
  if (seq < chain.seq) return { seq: seq + 1, kind: "missing" };
  return hash.equals(chain.hash) ? null : { seq, kind: "changed" };
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
