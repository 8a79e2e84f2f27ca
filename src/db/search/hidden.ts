/** The only SQL that takes whole runs out of search and brings them back. */
import type { Sql } from "../pool.ts";

export type HiddenReason = "in_flight" | "superseded" | "deleted";

interface RunOfSpace {
  readonly organizationNum: number;
  readonly spaceNum: number;
  readonly runNum: number;
}

/** Hides what search entries the run has and will have. Hiding a run again only renews its reason. */
export async function hideRun(
  sql: Sql,
  { organizationNum, spaceNum, runNum, reason }: RunOfSpace & { readonly reason: HiddenReason },
): Promise<void> {
  await sql.query(
    `insert into hidden_runs (organization_num, space_num, run_num, reason) values ($1, $2, $3, $4)
     on conflict (space_num, run_num) do update set reason = excluded.reason, hidden_at = now()`,
    [organizationNum, spaceNum, runNum, reason],
  );
}

/** The caller's transaction takes the run's entries into the statistics, where it is the published one. */
export async function unhideRun(
  sql: Sql,
  { spaceNum, runNum }: { readonly spaceNum: number; readonly runNum: number },
): Promise<void> {
  await sql.query("delete from hidden_runs where space_num = $1 and run_num = $2", [spaceNum, runNum]);
}

/** Takes the marks of runs away that have no search entry left; the others stay, or their entries would be served. */
export async function forgetHiddenRuns(sql: Sql, runNums: readonly number[]): Promise<void> {
  await sql.query(
    `delete from hidden_runs h where h.run_num = any($1::int[]) and not exists (select from posting_runs p where p.run_num = h.run_num)
       and not exists (select from embeddings e where e.space_num = h.space_num and e.run_num = h.run_num)`,
    [runNums],
  );
}
