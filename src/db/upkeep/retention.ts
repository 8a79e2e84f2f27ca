/** Maintenance over all organizations: deletes what outlived its retention, queues stray runs again. */
import type pg from "pg";
import { ROWS_A_PURGE } from "../../domain/work/maintenance-rounds.ts";
import { type Database, queryOnce } from "../pool.ts";

/**
 * Returns active runs to the queue whose claim is closed or does not exist, since no workflow processes them.
 * Open claims are left to the dispatcher, which asks Temporal what became of their workflows.
 * @returns how many runs.
 */
export async function requeueStrayRuns(system: pg.Pool): Promise<number> {
  const { rowCount } = await queryOnce(
    system,
    `update pipeline_runs run
     set claim_id = null,
         attempt_id = null,
         status = 'queued',
         waiting_for = null
     where run.status in ('queued', 'parsing', 'chunking', 'embedding')
       and (
         (run.claim_id is null and run.status <> 'queued')
         or (
           run.claim_id is not null
           and not exists (
             select
             from claims claim
             where claim.id = run.claim_id
               and claim.closed_at is null
           )
         )
       )`,
  );
  return rowCount ?? 0;
}

interface Expired {
  readonly table: string;
  /** Names a row: `ctid`, unless the login may read only some columns of the table. */
  readonly key: string;
  /** Whether a row is past its retention. */
  readonly where: string;
}

/** In the order in which they are deleted. */
const EXPIRED: readonly Expired[] = [
  { table: "idempotency_keys", key: "ctid", where: "claimed_at < now() - interval '24 hours'" },
  { table: "budgets_reached", key: "ctid", where: "month < now() - interval '62 days'" },
  { table: "kept_turns", key: "ctid", where: "created_at < now() - interval '24 hours'" },
  { table: "mcp_answers", key: "ctid", where: "created_at < now() - interval '1 hour'" },
  { table: "mcp_sessions", key: "ctid", where: "used_at < now() - interval '25 hours'" },
  { table: "responses", key: "ctid", where: "expires_at < now()" },
  { table: "claims", key: "ctid", where: "closed_at < now() - interval '1 day'" },
  { table: "deletions", key: "ctid", where: "completed_at < now() - interval '30 days'" },
  { table: "turn_calls", key: "ctid", where: "at < now() - interval '400 days'" },
  { table: "rate_limits", key: "ctid", where: "minute < extract(epoch from now()) / 60 - 60" },
  { table: "turns", key: "ctid", where: "started_at < now() - interval '400 days' and status <> 'open'" },
  {
    table: "webhook_deliveries",
    key: "num",
    where: "webhook_id in (select id from webhooks where deleted_at is not null)",
  },
  // After their deliveries, and long after a worker that still had one in hand.
  {
    table: "webhooks",
    key: "id",
    where: `deleted_at < now() - interval '1 day'
            and not exists (select from webhook_deliveries where webhook_id = webhooks.id)`,
  },
];

/**
 * Deletes a bounded part of the rows that are past their retention from every table. One table that fails
 * keeps no other from it.
 * @returns how many rows of each table, whether there may be more, and what was thrown.
 */
export async function deleteExpired(
  db: Database,
): Promise<{ counts: Record<string, number>; hasMore: boolean; errors: unknown[] }> {
  const counts: Record<string, number> = {};
  const errors: unknown[] = [];
  for (const { table, key, where } of EXPIRED) {
    try {
      const { rowCount } = await queryOnce(
        db.system,
        `delete from ${table}
         where ${key} = any(array(
           select ${key}
           from ${table}
           where ${where}
           limit $1
         ))`,
        [ROWS_A_PURGE],
      );
      counts[table] = rowCount ?? 0;
    } catch (error) {
      errors.push(error);
    }
  }
  return { counts, hasMore: Object.values(counts).some((count) => count >= ROWS_A_PURGE), errors };
}

/** Sealed bytes of the responses that are kept for all users of all organizations. */
export async function countResponseBytes(system: pg.Pool): Promise<number> {
  const { rows } = await queryOnce<{ bytes: number }>(
    system,
    `select coalesce(sum(bytes), 0)::bigint as bytes
     from response_usage`,
  );
  return rows[0]!.bytes;
}
