/** All SQL on `cut_overs`: since when no process of an older version runs. */
import type pg from "pg";
import { queryOnce } from "../pool.ts";

/** @returns when the cut-over was stored; null where it was not. @throws DomainError `database_unavailable`. */
export async function findCutOver(pool: pg.Pool, name: string): Promise<Date | null> {
  const { rows } = await queryOnce<{ at: Date }>(pool, "select at from cut_overs where name = $1", [name]);
  return rows[0]?.at ?? null;
}

/** With the login of bookkeeping or the owner. Stores it as of now; one that is stored keeps its time. Idempotent. @returns its time. */
export async function storeCutOver(pool: pg.Pool, name: string): Promise<Date> {
  await queryOnce(pool, "insert into cut_overs (name) values ($1) on conflict (name) do nothing", [name]);
  const at = await findCutOver(pool, name);
  if (at === null) throw new Error(`the cut-over "${name}" is gone right after it was stored`);
  return at;
}
