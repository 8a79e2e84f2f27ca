/** Stores cut-overs: since when no process of a version before some change runs any more. */
import type pg from "pg";
import { queryOnce } from "../pool.ts";

/** @returns when the cut-over was stored; null if it was not. @throws DomainError `database_unavailable`. */
export async function findCutOver(pool: pg.Pool, name: string): Promise<Date | null> {
  const { rows } = await queryOnce<{ at: Date }>(pool, "select at from cut_overs where name = $1", [name]);
  return rows[0]?.at ?? null;
}

/**
 * Stores now as the time of the cut-over. Idempotent: a stored one keeps its time.
 * @param pool of the login `system` or the owner.
 * @returns when it was stored.
 */
export async function storeCutOver(pool: pg.Pool, name: string): Promise<Date> {
  await queryOnce(
    pool,
    `insert into cut_overs (name)
     values ($1)
     on conflict (name) do nothing`,
    [name],
  );
  const at = await findCutOver(pool, name);
  if (at === null) throw new Error(`the cut-over "${name}" is gone right after it was stored`);
  return at;
}
