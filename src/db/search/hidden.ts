/** The only SQL that takes whole runs out of search and brings them back. */
import type { Sql } from "../pool.ts";
import { spaceLiteral } from "./scope.ts";

export type HiddenReason = "in_flight" | "superseded" | "deleted";

interface RunOfSpace {
  readonly organizationNum: number;
  readonly spaceNum: number;
  readonly runNum: number;
}

/** Hides what search entries the run has and will have. Hiding a run again only renews its reason. */
export async function hideRun(sql: Sql, { organizationNum, spaceNum, runNum, reason }: RunOfSpace & { readonly reason: HiddenReason }): Promise<void> {
  await sql.query(
    `insert into hidden_runs (organization_num, space_num, run_num, reason) values ($1, $2, $3, $4)
     on conflict (space_num, run_num) do update set reason = excluded.reason, hidden_at = now()`,
    [organizationNum, spaceNum, runNum, reason],
  );
}

/** The caller's transaction takes the run's entries into the statistics, where it is the published one. */
export async function unhideRun(sql: Sql, { spaceNum, runNum }: { readonly spaceNum: number; readonly runNum: number }): Promise<void> {
  await sql.query("delete from hidden_runs where space_num = $1 and run_num = $2", [spaceNum, runNum]);
}

/**
 * Deletes at most `limit` postings and `limit` embeddings of a run that is hidden; its mark stays, and goes when nothing
 * is left.
 * @returns whether entries are left.
 */
export async function deleteSearchEntries(sql: Sql, { spaceNum, runNum, limit }: { readonly spaceNum: number; readonly runNum: number; readonly limit: number }): Promise<boolean> {
  const space = spaceLiteral(spaceNum);
  const postings = await sql.query(`delete from postings where ctid = any(array(select ctid from postings where run_num = $1 and space_num = ${space} limit $2))`, [runNum, limit]);
  const embeddings = await sql.query(
    `delete from embeddings where space_num = ${space} and run_num = $1
     and chunk_index in (select chunk_index from embeddings where space_num = ${space} and run_num = $1 order by chunk_index limit $2)`,
    [runNum, limit],
  );
  return (postings.rowCount ?? 0) >= limit || (embeddings.rowCount ?? 0) >= limit;
}
