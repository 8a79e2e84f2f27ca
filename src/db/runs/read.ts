/** All SQL that reads runs as callers see them: one run, and the runs of a document. */
import { type Principal, reachedSpaceIds } from "../../domain/tenancy/principal.ts";
import type { RunStatus, Trigger } from "../../domain/work/processing.ts";
import { parameters } from "../filter-sql.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import type { Sql } from "../pool.ts";
import { WAITING_FOR, type WaitingFor } from "./waits.ts";

export interface RunRow {
  readonly pipeline_run_id: string;
  readonly document_id: string;
  readonly version: number;
  readonly trigger: Trigger;
  readonly status: RunStatus;
  readonly stage: string | null;
  readonly progress: number;
  readonly queue_position: number | null;
  readonly waiting_for: string | null;
  readonly waiting: WaitingFor | null;
  readonly parser_name: string | null;
  readonly chunker_name: string;
  readonly embedding_model: string | null;
  readonly chunk_count: number | null;
  readonly embedded_chunk_count: number | null;
  readonly error: { stage: string; code: string; message: string } | null;
  readonly created_by: { id: string; name: string; avatar_url: string | null } | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly completed_at: Date | null;
  readonly is_current: boolean;
  readonly space_id: string;
  readonly batch_id: string | null;
}

/** The columns of a {@link RunRow} but its queue position, which a list does not show. */
const RUN_COLUMNS = `run.id as pipeline_run_id,
            run.document_id,
            run.version,
            run.trigger,
            run.status,
            run.parser_name,
            run.chunker_name,
            run.embedding_model,
            run.chunk_count,
            run.embedded_chunk_count,
            run.error,
            case when creator.id is not null then jsonb_build_object(
              'id', creator.id,
              'name', creator.name,
              'avatar_url', creator.avatar_url
            ) end as created_by,
            run.created_at,
            run.started_at,
            run.completed_at,
            coalesce(run.num = document.published_run_num, false) as is_current,
            run.space_id,
            run.batch_id,
            case
              when run.status in ('parsing', 'chunking', 'embedding') then run.status
              else run.error ->> 'stage'
            end as stage,
            run.progress,
            run.waiting_for,
            ${WAITING_FOR} as waiting`;
const RUN_TABLES = `pipeline_runs run
     join documents document on document.id = run.document_id
     left join folders folder on folder.id = document.folder_id
     left join users creator on creator.id = run.created_by`;
/** The run is in one of the spaces `$1` that the caller reaches, and its document is not deleted. */
const RUN_IS_VISIBLE = `run.space_id = any($1::uuid[])
       and document.deleted_at is null
       and folder.deleted_at is null`;

/**
 * How many runs are ahead of pipeline_runs `run`, or null if it is not queued: released runs of its
 * organization and priority, and, if its batch holds it, those that the batch releases earlier.
 */
const QUEUE_POSITION = `case when run.status = 'queued' and run.claim_id is null then (
              select count(*)::int
              from pipeline_runs ahead
              where ahead.organization_id = run.organization_id
                and ahead.priority = run.priority
                and ahead.status = 'queued'
                and ahead.claim_id is null
                and not ahead.held
                and (run.held or ahead.num < run.num)
            ) + (
              select count(*)::int
              from pipeline_runs ahead
              where run.held
                and ahead.batch_id = run.batch_id
                and ahead.held
                and ahead.status = 'queued'
                and ahead.num < run.num
            ) end`;

/** Returns a page of the document's runs, newest first. */
export async function listRuns(
  sql: Sql,
  principal: Principal,
  documentId: string,
  page: PageRequest,
): Promise<Page<RunRow>> {
  return readPage<RunRow>(
    sql,
    {
      columns: `${RUN_COLUMNS}, null::int as queue_position`,
      from: RUN_TABLES,
      where: `${RUN_IS_VISIBLE} and run.document_id = $2`,
      order: "run.version desc",
      params: parameters([reachedSpaceIds(principal.reach), documentId]),
    },
    page,
  );
}

/** Returns the run if its space is in the caller's reach. */
export async function findRun(sql: Sql, principal: Principal, runId: string): Promise<RunRow | undefined> {
  const { rows } = await sql.query<RunRow>(
    `select ${RUN_COLUMNS},
            ${QUEUE_POSITION} as queue_position
     from ${RUN_TABLES}
     where ${RUN_IS_VISIBLE}
       and run.id = $2`,
    [reachedSpaceIds(principal.reach), runId],
  );
  return rows[0];
}
