/** Reads the heads of the audit log's chains for anchors, and compares chains with anchors. */
import type pg from "pg";
import type { ChainHead } from "../../domain/anchor.ts";
import { type Database, queryOnce } from "../pool.ts";

/** Chains of all organizations are read with the rights that `chain.ts` writes them with. */
function chainPool(db: Database): pg.Pool {
  return db.maintenance;
}

/** How many heads one statement reads or compares. */
export const HEADS_A_READ = 5_000;

type ReadHead = Omit<ChainHead, "at" | "oldest_at"> & {
  readonly at: Date | null;
  readonly oldest_at: Date | null;
};

/** Reads the head of every chain that has rows, in the order of organizations. */
export async function readChainHeads(db: Database): Promise<ChainHead[]> {
  const heads: ChainHead[] = [];
  for (;;) {
    const { rows } = await queryOnce<ReadHead>(
      chainPool(db),
      `select chain.organization_id,
              chain.seq,
              encode(chain.hash, 'hex') as hash,
              chain.base_seq,
              last.at,
              oldest.at as oldest_at
       from audit_chains chain
       left join audit_log last
         on last.organization_id = chain.organization_id
         and last.chain_seq = chain.seq
       left join audit_log oldest
         on oldest.organization_id = chain.organization_id
         and oldest.chain_seq = chain.base_seq + 1
       where chain.seq > 0
         and ($1::uuid is null or chain.organization_id > $1)
       order by chain.organization_id
       limit ${HEADS_A_READ}`,
      [heads.at(-1)?.organization_id ?? null],
    );
    heads.push(
      ...rows.map((row) => ({
        ...row,
        at: row.at?.toISOString() ?? null,
        oldest_at: row.oldest_at?.toISOString() ?? null,
      })),
    );
    if (rows.length < HEADS_A_READ) return heads;
  }
}

/**
 * What became of a head since:
 * - `intact`: the chain still has it, or begins right after it.
 * - `deleted`: the organization is gone; or it is closed, and its chain was deleted with its rows.
 * - `expired`: the row was deleted because of its age, so nothing can be compared.
 * - `cut`: the chain ends before it.
 * - `missing`: the chain is longer and the row is gone.
 * - `changed`: another row has its number.
 */
export type HeadState = "intact" | "deleted" | "expired" | "cut" | "missing" | "changed";

export interface ComparedHead {
  readonly state: HeadState;
  /** The number of the last row that was deleted because of its age; 0 if none was. */
  readonly base_seq: number;
}

/**
 * Compares the chains with heads of one anchor, in one snapshot.
 * @param heads at most {@link HEADS_A_READ}.
 * @returns what became of each, in their order.
 */
export async function compareHeads(db: Database, heads: readonly ChainHead[]): Promise<ComparedHead[]> {
  const { rows } = await queryOnce<ComparedHead>(
    chainPool(db),
    `select case
              when organization.id is null then 'deleted'
              when organization.deleted_at is not null and chain.seq is null then 'deleted'
              when chain.seq is null or chain.seq < head.seq then 'cut'
              when chain.base_seq > head.seq then 'expired'
              when chain.base_seq = head.seq and chain.base_hash = head.hash then 'intact'
              when chain.base_seq = head.seq then 'changed'
              when entry.chain_hash is null then 'missing'
              when entry.chain_hash = head.hash then 'intact'
              else 'changed'
            end as state,
            coalesce(chain.base_seq, 0) as base_seq
     from unnest($1::uuid[], $2::bigint[], $3::text[]) with ordinality
       as given (organization_id, seq, hex, place)
     cross join lateral (
       select given.organization_id, given.seq, decode(given.hex, 'hex') as hash
     ) head
     left join organizations organization on organization.id = head.organization_id
     left join audit_chains chain on chain.organization_id = head.organization_id
     left join audit_log entry
       on entry.organization_id = head.organization_id
       and entry.chain_seq = head.seq
     order by given.place`,
    [
      heads.map((head) => head.organization_id),
      heads.map((head) => head.seq),
      heads.map((head) => head.hash),
    ],
  );
  return rows;
}
