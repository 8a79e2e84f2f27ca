/** All SQL of runs as callers ask for them: a new run of a document, what runs there were, one run, and cancelling it. */
import type { Principal } from "../../domain/tenancy/principal.ts";
import { reachedSpaceIds } from "../../domain/tenancy/principal.ts";
import type { Priority, RunStatus, Trigger } from "../../domain/work/processing.ts";
import { traceparent } from "../../telemetry/span.ts";
import { parameters } from "../filter-sql.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import type { Sql } from "../pool.ts";
import { WAITING_FOR, type WaitingFor } from "./waits.ts";

/** What the runs of one request have in common. */
interface RunRequest {
  readonly trigger: Trigger;
  readonly priority: Priority;
  /** Null: chunked as before. */
  readonly chunkerName: string | null;
  /** Null: as before where the chunker is, else the chunker's defaults. */
  readonly chunkerConfig: Readonly<Record<string, number>> | null;
  /** Null: the service itself. */
  readonly createdBy: string | null;
  readonly batchId: string | null;
  /** A batch's runs that wait for their batch to release them. */
  readonly held: boolean;
}

export interface NewRun extends RunRequest {
  readonly runId: string;
  readonly documentId: string;
}

const ACTIVE = "('queued', 'parsing', 'chunking', 'embedding')";

/**
 * Queues a run of each document's current file, and supersedes what is still active of it. The documents' rows are locked, in one
 * order for everyone, so that two requests at once make two runs one after the other. Runs are queued in the order given.
 * @returns the ids of the documents that got a run: those that still live.
 */
export async function queueRuns(
  sql: Sql,
  runs: readonly { readonly runId: string; readonly documentId: string }[],
  request: RunRequest,
): Promise<Set<string>> {
  const locked = await sql.query<{ id: string }>(
    `select d.id from documents d left join folders f on f.id = d.folder_id
     where d.id = any($1::uuid[]) and d.deleted_at is null and f.deleted_at is null order by d.id for update of d`,
    [runs.map((run) => run.documentId)],
  );
  if (locked.rows.length === 0) return new Set();
  const living = locked.rows.map((row) => row.id);
  await endActiveRuns(sql, living, "superseded", "A newer run of the document took its place.");
  const queued = await sql.query<{ id: string }>(
    `with wanted as (
       select d.*, w.run_id, w.position, f.object_key, f.size, latest.object_key as latest_object_key, latest.file_size as latest_size,
         as_before.chunker_name as chunker_before, as_before.chunker_config as config_before
       from unnest($1::uuid[], $2::uuid[]) with ordinality w(document_id, run_id, position)
       join documents d on d.id = w.document_id and d.id = any($3::uuid[])
       left join lateral (select object_key, size from raw_files where document_id = d.id and deleted_at is null and object_key is not null limit 1) f on true
       join pipeline_runs latest on latest.num = d.latest_run_num
       join pipeline_runs as_before on as_before.num = coalesce(d.published_run_num, d.latest_run_num)),
     run as (
       insert into pipeline_runs (id, organization_id, space_id, space_num, document_id, version, trigger, priority, held, batch_id,
         object_key, file_name, file_type, file_size, chunker_name, chunker_config, created_by, traceparent)
       select run_id, organization_id, space_id, space_num, id, run_count + 1, $4, $5, $6, $7,
         coalesce(object_key, latest_object_key), name, file_type, coalesce(size, latest_size),
         coalesce($8, chunker_before), coalesce($9::jsonb, case when $8 is null then config_before else '{}' end), $10, $11
       from wanted order by position returning num, document_id, version)
     update documents d set run_count = run.version, latest_run_num = run.num, updated_at = now() from run where d.id = run.document_id returning d.id`,
    [
      runs.map((run) => run.documentId),
      runs.map((run) => run.runId),
      living,
      request.trigger,
      request.priority,
      request.held,
      request.batchId,
      request.chunkerName,
      request.chunkerConfig === null ? null : JSON.stringify(request.chunkerConfig),
      request.createdBy,
      traceparent(),
    ],
  );
  return new Set(queued.rows.map((row) => row.id));
}

/** As {@link queueRuns}, for one document. @returns false where it does not live any more. */
export async function queueRun(sql: Sql, { runId, documentId, ...request }: NewRun): Promise<boolean> {
  return (await queueRuns(sql, [{ runId, documentId }], request)).has(documentId);
}

/** Ends the document's active run, if it has one. Its workflow finds out within a second and leaves it alone. */
export async function endActiveRun(
  sql: Sql,
  documentId: string,
  code: "superseded" | "cancelled",
  message: string,
): Promise<void> {
  await endActiveRuns(sql, [documentId], code, message);
}

/** What a run looks like that ends before its time; `$1` is the code of its error and `$2` the message. */
const ENDED = `status = 'cancelled', completed_at = now(), attempt_id = null, waiting_for = null,
  error = jsonb_build_object('stage', case status when 'queued' then 'parsing' else status end, 'code', $1::text, 'message', $2::text)`;

async function endActiveRuns(
  sql: Sql,
  documentIds: readonly string[],
  code: "superseded" | "cancelled",
  message: string,
): Promise<void> {
  await sql.query(
    `update pipeline_runs set ${ENDED} where document_id = any($3::uuid[]) and status in ${ACTIVE}`,
    [code, message, documentIds],
  );
}

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

const RUN_COLUMNS = `r.id as pipeline_run_id, r.document_id, r.version, r.trigger, r.status, r.parser_name, r.chunker_name, r.embedding_model,
  r.chunk_count, r.embedded_chunk_count, r.error, case when u.id is not null then jsonb_build_object('id', u.id, 'name', u.name, 'avatar_url', u.avatar_url) end as created_by,
  r.created_at, r.started_at, r.completed_at, coalesce(r.num = d.published_run_num, false) as is_current, r.space_id, r.batch_id,
  case when r.status in ('parsing', 'chunking', 'embedding') then r.status else r.error ->> 'stage' end as stage, r.progress, r.waiting_for, ${WAITING_FOR} as waiting`;
const RUN_TABLES =
  "pipeline_runs r join documents d on d.id = r.document_id left join folders f on f.id = d.folder_id left join users u on u.id = r.created_by";
const RUN_LIVES = "r.space_id = any($1::uuid[]) and d.deleted_at is null and f.deleted_at is null";

/** Runs that go before it: the released ones of its organization and priority, and what its batch releases earlier. */
const QUEUE_POSITION = `case when r.status = 'queued' and r.claim_id is null then (
    select count(*)::int from pipeline_runs q where q.organization_id = r.organization_id and q.priority = r.priority
      and q.status = 'queued' and q.claim_id is null and not q.held and (r.held or q.num < r.num))
  + (select count(*)::int from pipeline_runs q where r.held and q.batch_id = r.batch_id and q.held and q.status = 'queued' and q.num < r.num) end`;

/** A page of the document's runs, newest first. */
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
      where: `${RUN_LIVES} and r.document_id = $2`,
      order: "r.version desc",
      params: parameters([reachedSpaceIds(principal.reach), documentId]),
    },
    page,
  );
}

/** One run that the caller reaches. */
export async function findRun(sql: Sql, principal: Principal, runId: string): Promise<RunRow | undefined> {
  const { rows } = await sql.query<RunRow>(
    `select ${RUN_COLUMNS}, ${QUEUE_POSITION} as queue_position from ${RUN_TABLES} where ${RUN_LIVES} and r.id = $2`,
    [reachedSpaceIds(principal.reach), runId],
  );
  return rows[0];
}

const CANCELLED = ["cancelled", "The run was cancelled."];

/** Cancels the run where it has not ended. @returns whether it was active. */
export async function cancelRun(sql: Sql, runId: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `update pipeline_runs set ${ENDED} where id = $3 and status in ${ACTIVE}`,
    [...CANCELLED, runId],
  );
  return rowCount === 1;
}

/** Cancels at most `limit` runs of the batch that have not ended. @returns how many it cancelled. */
export async function cancelRunsOfBatch(sql: Sql, batchId: string, limit: number): Promise<number> {
  const { rowCount } = await sql.query(
    `update pipeline_runs set ${ENDED} where id in (
       select id from pipeline_runs where batch_id = $3 and status in ${ACTIVE} order by num limit $4 for update)`,
    [...CANCELLED, batchId, limit],
  );
  return rowCount ?? 0;
}
