/** Reads the attempts of a run. The trigger `note_attempt` writes them for every version. */
import { type Principal, reachedSpaceIds } from "../../domain/tenancy/principal.ts";
import type { AttemptOutcome } from "../../domain/work/processing.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import { parameters } from "../filter-sql.ts";
import type { Sql } from "../pool.ts";
import type { Step } from "./attempt.ts";

export interface AttemptRow {
  readonly attempt: number;
  readonly step: Step;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly outcome: AttemptOutcome;
  readonly code: string | null;
  readonly workflow_id: string | null;
}

/** Returns a page of the run's attempts, oldest first, if the run is in the caller's reach. */
export async function listAttempts(
  sql: Sql,
  principal: Principal,
  runId: string,
  page: PageRequest,
): Promise<Page<AttemptRow>> {
  return readPage<AttemptRow>(
    sql,
    {
      columns: `(entry.value ->> 'attempt')::int as attempt,
            entry.value ->> 'step' as step,
            entry.value ->> 'started_at' as started_at,
            entry.value ->> 'ended_at' as ended_at,
            coalesce(entry.value ->> 'outcome', 'running') as outcome,
            entry.value ->> 'code' as code,
            entry.value ->> 'workflow_id' as workflow_id`,
      from: "pipeline_runs run cross join jsonb_array_elements(run.attempts) as entry (value)",
      where: "run.space_id = any($1::uuid[]) and run.id = $2",
      order: "(entry.value ->> 'attempt')::int",
      params: parameters([reachedSpaceIds(principal.reach), runId]),
    },
    page,
  );
}
