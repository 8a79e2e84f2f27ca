/** All SQL of maintenance over all organizations: bookkeeping that has had its time, and runs that lost their claim. */
import type pg from "pg";
import { ROWS_A_PURGE } from "../../domain/work/maintenance.ts";
import { type Database, type OrganizationKey, queryOnce } from "../pool.ts";

/** Organizations behind `after`, by number. */
export async function listOrganizationKeys(
  system: pg.Pool,
  after: number,
  limit: number,
): Promise<OrganizationKey[]> {
  const { rows } = await queryOnce<{ id: string; num: number }>(
    system,
    "select id, num from organizations where num > $1 and deleted_at is null order by num limit $2",
    [after, limit],
  );
  return rows;
}

/**
 * Queues active runs again whose claim is closed or gone: no workflow has them. A claim that is open is the dispatcher's, which
 * asks Temporal what became of it.
 * @returns how many.
 */
export async function requeueStrayRuns(system: pg.Pool): Promise<number> {
  const { rowCount } = await queryOnce(
    system,
    `update pipeline_runs r set claim_id = null, attempt_id = null, status = 'queued', waiting_for = null
     where r.status in ('queued', 'parsing', 'chunking', 'embedding') and (
       (r.claim_id is null and r.status <> 'queued')
       or (r.claim_id is not null and not exists (select from claims c where c.id = r.claim_id and c.closed_at is null)))`,
  );
  return rowCount ?? 0;
}

/** What is deleted by its age alone: its table, the condition, and the role that may. */
const RETENTIONS = [
  { kind: "idempotency_keys", role: "system", where: "claimed_at < now() - interval '24 hours'" },
  { kind: "kept_turns", role: "system", where: "created_at < now() - interval '24 hours'" },
  { kind: "claims", role: "system", where: "closed_at < now() - interval '1 day'" },
  { kind: "deletions", role: "system", where: "completed_at < now() - interval '30 days'" },
  { kind: "turn_calls", role: "system", where: "at < now() - interval '400 days'" },
  { kind: "rate_limits", role: "system", where: "minute < extract(epoch from now()) / 60 - 60" },
  { kind: "turns", role: "system", where: "started_at < now() - interval '400 days' and status <> 'open'" },
] as const;

/** Deletes a part of what is over its time in every table. @returns how many rows of each, and whether there may be more. */
export async function deleteExpired(
  db: Database,
): Promise<{ counts: Record<string, number>; hasMore: boolean }> {
  const counts: Record<string, number> = {};
  for (const { kind, role, where } of RETENTIONS) {
    const { rowCount } = await queryOnce(
      db[role],
      `delete from ${kind} where ctid = any(array(select ctid from ${kind} where ${where} limit ${ROWS_A_PURGE}))`,
    );
    counts[kind] = rowCount ?? 0;
  }
  return { counts, hasMore: Object.values(counts).some((count) => count >= ROWS_A_PURGE) };
}
