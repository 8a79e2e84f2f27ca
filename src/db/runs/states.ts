/** Reads the states of runs and batches of all organizations at once, for those who wait for a change. */
import type pg from "pg";
import { queryOnce } from "../pool.ts";

/** What somebody waits for. */
export interface Watched {
  readonly kind: "run" | "batch";
  readonly id: string;
}

/** The status of each by its id; those that do not exist any more are left out. */
export async function readStates(
  system: pg.Pool,
  watched: readonly Watched[],
): Promise<ReadonlyMap<string, string>> {
  const idsOf = (kind: Watched["kind"]): string[] =>
    watched.filter((one) => one.kind === kind).map((one) => one.id);
  const { rows } = await queryOnce<{ id: string; status: string }>(system, {
    name: "runs.states",
    text: `select id, status
           from pipeline_runs
           where id = any($1::uuid[])
           union all
           select id, status
           from batches
           where id = any($2::uuid[])`,
    values: [idsOf("run"), idsOf("batch")],
  });
  return new Map(rows.map(({ id, status }) => [id, status]));
}
