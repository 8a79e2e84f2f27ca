/** SQL that hides whole runs from search, and forgets hidden runs of which nothing is left. */
import type { Sql } from "../pool.ts";

export type HiddenReason = "in_flight" | "superseded" | "deleted";

interface RunOfSpace {
  readonly organizationNum: number;
  readonly spaceNum: number;
  readonly runNum: number;
}

/** Hides all search entries of the run, later ones too. Hiding it again renews its reason. */
export async function hideRun(
  sql: Sql,
  { organizationNum, spaceNum, runNum, reason }: RunOfSpace & { readonly reason: HiddenReason },
): Promise<void> {
  await sql.query(
    `insert into hidden_runs (organization_num, space_num, run_num, reason)
     values ($1, $2, $3, $4)
     on conflict (space_num, run_num) do update
     set reason = excluded.reason,
         hidden_at = now()`,
    [organizationNum, spaceNum, runNum, reason],
  );
}

/** Deletes the marks of runs without search entries. Those of others stay: they hide entries. */
export async function forgetHiddenRuns(sql: Sql, runNums: readonly number[]): Promise<void> {
  await sql.query(
    `delete from hidden_runs hidden
     where hidden.run_num = any($1::int[])
       and not exists (
         select
         from posting_runs part
         where part.run_num = hidden.run_num
       )
       and not exists (
         select
         from embeddings embedding
         where embedding.space_num = hidden.space_num
           and embedding.run_num = hidden.run_num
       )`,
    [runNums],
  );
}
