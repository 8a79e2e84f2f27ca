/** All SQL on `cut_overs`: since when no process of an older version runs. */
import { type Database, queryOnce } from "./pool.ts";

/** @returns when the cut-over was stored; null where it was not. @throws DomainError `database_unavailable`. */
export async function findCutOver(db: Database, name: string): Promise<Date | null> {
  const { rows } = await queryOnce<{ at: Date }>(db.system, "select at from cut_overs where name = $1", [name]);
  return rows[0]?.at ?? null;
}

/** Stores it as of now; one that is stored keeps its time. Idempotent. @returns its time. */
export async function storeCutOver(db: Database, name: string): Promise<Date> {
  await queryOnce(db.system, "insert into cut_overs (name) values ($1) on conflict (name) do nothing", [name]);
  const at = await findCutOver(db, name);
  if (at === null) throw new Error(`the cut-over "${name}" is gone right after it was stored`);
  return at;
}
