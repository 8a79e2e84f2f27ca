/** All SQL of runs as callers ask for them: a new run of a document, what runs there were, one run, and cancelling it. */
import type { Principal } from "../domain/principal.ts";
import { reachedSpaceIds } from "../domain/principal.ts";
import type { Priority, Trigger } from "../domain/processing.ts";
import type { Sql } from "./pool.ts";

export interface NewRun {
  readonly runId: string;
  readonly documentId: string;
  readonly trigger: Trigger;
  readonly priority: Priority;
  readonly chunkerName: string;
  readonly chunkerConfig: Readonly<Record<string, number>>;
  readonly createdBy: string;
  readonly batchId: string | null;
  /** A batch's run that waits for its batch to release it. */
  readonly held: boolean;
}

const ACTIVE = "('queued', 'parsing', 'chunking', 'embedding')";

/**
 * Queues a run of the document's current file, and supersedes one that is still active. The document's row is locked, so that
 * two requests at once make two runs in order.
 * @returns false where the document does not live any more.
 */
export async function queueRun(sql: Sql, run: NewRun): Promise<boolean> {
  const locked = await sql.query(
    `select from documents d left join folders f on f.id = d.folder_id
     where d.id = $1 and d.deleted_at is null and f.deleted_at is null for update of d`,
    [run.documentId],
  );
  if (locked.rowCount === 0) return false;
  await endActiveRun(sql, run.documentId, "superseded", "A newer run of the document took its place.");
  const { rowCount } = await sql.query(
    `with file as (
       select f.object_key, f.size, f.content_type from raw_files f where f.document_id = $2 and f.deleted_at is null
       union all
       (select r.object_key, r.file_size, null from pipeline_runs r where r.document_id = $2 order by r.version desc limit 1)
       limit 1),
     run as (
       insert into pipeline_runs (id, organization_id, space_id, space_num, document_id, version, trigger, priority, held, batch_id,
         object_key, file_name, file_type, file_size, chunker_name, chunker_config, created_by)
       select $1, d.organization_id, d.space_id, d.space_num, d.id, d.run_count + 1, $3, $4, $5, $6,
         file.object_key, d.name, d.file_type, file.size, $7, $8, $9
       from documents d, file where d.id = $2 returning num)
     update documents d set run_count = d.run_count + 1, latest_run_num = run.num, updated_at = now() from run where d.id = $2`,
    [run.runId, run.documentId, run.trigger, run.priority, run.held, run.batchId, run.chunkerName, JSON.stringify(run.chunkerConfig), run.createdBy],
  );
  return rowCount === 1;
}

/** Ends the document's active run, if it has one. Its workflow finds out within a second and leaves it alone. */
export async function endActiveRun(sql: Sql, documentId: string, code: "superseded" | "cancelled", message: string): Promise<void> {
  await sql.query(
    `update pipeline_runs set status = 'cancelled', completed_at = now(), attempt_id = null,
       error = jsonb_build_object('stage', case status when 'queued' then 'parsing' else status end, 'code', $2::text, 'message', $3::text)
     where document_id = $1 and status in ${ACTIVE}`,
    [documentId, code, message],
  );
}

export interface RunRow {
  readonly pipeline_run_id: string;
  readonly document_id: string;
  readonly version: number;
  readonly trigger: Trigger;
  readonly status: string;
  readonly stage: string;
  readonly progress: number;
  readonly queue_position: number | null;
  readonly waiting_for: string | null;
  readonly parser_name: string | null;
  readonly chunker_name: string;
  readonly embedding_model: string | null;
  readonly chunk_count: number | null;
  readonly embedded_chunk_count: number | null;
  readonly error: unknown;
  readonly warnings: unknown[];
  readonly created_by: string | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly completed_at: Date | null;
  readonly is_current: boolean;
  readonly space_id: string;
  readonly batch_id: string | null;
}

const RUN_COLUMNS = `r.id as pipeline_run_id, r.document_id, r.version, r.trigger, r.status, r.parser_name, r.chunker_name, r.embedding_model,
  r.chunk_count, r.embedded_chunk_count, r.error, r.warnings, r.created_by, r.created_at, r.started_at, r.completed_at,
  coalesce(r.num = d.published_run_num, false) as is_current, r.space_id, r.batch_id, r.status as stage, r.progress, r.waiting_for`;
const RUN_TABLES = "pipeline_runs r join documents d on d.id = r.document_id left join folders f on f.id = d.folder_id";
const RUN_LIVES = "r.space_id = any($1::uuid[]) and d.deleted_at is null and f.deleted_at is null";

/** A page of the document's runs, newest first. */
export async function listRuns(sql: Sql, principal: Principal, documentId: string, page: { limit: number; offset: number }): Promise<{ items: RunRow[]; total: number }> {
  const values = [reachedSpaceIds(principal.reach), documentId];
  const { rows } = await sql.query<RunRow>(
    `select ${RUN_COLUMNS}, null::int as queue_position from ${RUN_TABLES} where ${RUN_LIVES} and r.document_id = $2 order by r.version desc limit $3 offset $4`,
    [...values, page.limit, page.offset],
  );
  const counted = await sql.query<{ total: number }>(`select count(*)::int as total from ${RUN_TABLES} where ${RUN_LIVES} and r.document_id = $2`, values);
  return { items: rows, total: counted.rows[0]!.total };
}

/** One run that the caller reaches, with its place among the queued runs of its organization and priority (1 is next). */
export async function findRun(sql: Sql, principal: Principal, runId: string): Promise<RunRow | undefined> {
  const { rows } = await sql.query<RunRow>(
    `select ${RUN_COLUMNS}, case when r.status = 'queued' and r.claim_id is null then (
         select count(*)::int from pipeline_runs q where q.organization_id = r.organization_id and q.priority = r.priority
           and q.status = 'queued' and q.claim_id is null and q.num <= r.num) end as queue_position
     from ${RUN_TABLES} where ${RUN_LIVES} and r.id = $2`,
    [reachedSpaceIds(principal.reach), runId],
  );
  return rows[0];
}

/** Cancels the run where it has not ended. @returns whether it was active. */
export async function cancelRun(sql: Sql, runId: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `update pipeline_runs set status = 'cancelled', completed_at = now(), attempt_id = null,
       error = jsonb_build_object('stage', case status when 'queued' then 'parsing' else status end, 'code', 'cancelled', 'message', 'The run was cancelled.')
     where id = $1 and status in ${ACTIVE}`,
    [runId],
  );
  return rowCount === 1;
}
