/** All SQL that queues runs, and that cancels them on request. */
import { noteTenantEvents } from "../events/noted.ts";
import type { Priority, Trigger } from "../../domain/work/processing.ts";
import { traceparent } from "../../telemetry/span.ts";
import type { Sql } from "../pool.ts";

/** What the runs that one request queues have in common. */
interface RunRequest {
  readonly trigger: Trigger;
  readonly priority: Priority;
  /** Null: the chunker of the published version, or of the latest run if nothing is published. */
  readonly chunkerName: string | null;
  /** Null: the settings of that run if its chunker is used again, else the chunker's defaults. */
  readonly chunkerConfig: Readonly<Record<string, number>> | null;
  /** Null if the service itself queues them. */
  readonly createdBy: string | null;
  readonly batchId: string | null;
  /** The runs wait until their batch releases them. */
  readonly held: boolean;
}

interface RunOfDocument {
  readonly runId: string;
  readonly documentId: string;
}

export interface NewRun extends RunRequest, RunOfDocument {}

/**
 * Queues a run of each document's current file, in the order given, and ends a run of it that is active as
 * `superseded`. The documents are locked in the order of their ids, so that two requests at the same time
 * queue two runs, one after the other, and cannot deadlock.
 * @returns the ids of the documents that got a run; documents that are deleted get none.
 */
export async function queueRuns(
  sql: Sql,
  runs: readonly RunOfDocument[],
  request: RunRequest,
): Promise<Set<string>> {
  const locked = await sql.query<{ id: string }>(
    `select document.id
     from documents document
     left join folders folder on folder.id = document.folder_id
     where document.id = any($1::uuid[])
       and document.deleted_at is null
       and folder.deleted_at is null
     order by document.id
     for update of document`,
    [runs.map((run) => run.documentId)],
  );
  if (locked.rows.length === 0) return new Set();
  const living = locked.rows.map((row) => row.id);
  await endActiveRuns(sql, living, "superseded", "A newer run of the document took its place.");
  return insertRuns(sql, { runs, documentIds: living }, request);
}

/** Inserts the runs of the given documents. @returns the ids of the documents that got one. */
async function insertRuns(
  sql: Sql,
  { runs, documentIds }: { runs: readonly RunOfDocument[]; documentIds: readonly string[] },
  request: RunRequest,
): Promise<Set<string>> {
  const { rows } = await sql.query<{ id: string }>(
    `with wanted as (
       select document.*,
              request.run_id,
              request.position,
              file.object_key,
              file.size,
              latest.object_key as latest_object_key,
              latest.file_size as latest_size,
              template.chunker_name as template_chunker,
              template.chunker_config as template_config
       from unnest($1::uuid[], $2::uuid[]) with ordinality request(document_id, run_id, position)
       join documents document on document.id = request.document_id and document.id = any($3::uuid[])
       left join lateral (
         select object_key, size
         from raw_files
         where document_id = document.id
           and deleted_at is null
           and object_key is not null
         limit 1
       ) file on true
       join pipeline_runs latest on latest.num = document.latest_run_num
       join pipeline_runs template
         on template.num = coalesce(document.published_run_num, document.latest_run_num)
     ),
     run as (
       insert into pipeline_runs
         (id, organization_id, space_id, space_num, document_id, version, trigger, priority, held, batch_id,
          object_key, file_name, file_type, file_size,
          chunker_name, chunker_config, created_by, traceparent)
       select run_id, organization_id, space_id, space_num, id, run_count + 1, $4, $5, $6, $7,
              coalesce(object_key, latest_object_key), name, file_type, coalesce(size, latest_size),
              coalesce($8, template_chunker),
              coalesce($9::jsonb, case when $8 is null then template_config else '{}' end),
              $10,
              $11
       from wanted
       order by position
       returning num, document_id, version
     )
     update documents document
     set run_count = run.version,
         latest_run_num = run.num,
         updated_at = now()
     from run
     where document.id = run.document_id
     returning document.id`,
    [
      runs.map((run) => run.documentId),
      runs.map((run) => run.runId),
      documentIds,
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
  return new Set(rows.map((row) => row.id));
}

/** Does what {@link queueRuns} does for one document. @returns false if the document is deleted. */
export async function queueRun(sql: Sql, { runId, documentId, ...request }: NewRun): Promise<boolean> {
  return (await queueRuns(sql, [{ runId, documentId }], request)).has(documentId);
}

/** The `set` list that cancels a run: `$1` is its error's code, `$2` the message. */
const CANCELLED = `status = 'cancelled',
         completed_at = now(),
         attempt_id = null,
         waiting_for = null,
         error = jsonb_build_object(
           'stage', case status when 'queued' then 'parsing' else status end,
           'code', $1::text,
           'message', $2::text
         )`;

/** Ends the active runs of the documents. Their workflows notice within a second and drop the runs. */
export async function endActiveRuns(
  sql: Sql,
  documentIds: readonly string[],
  code: "superseded" | "cancelled",
  message: string,
): Promise<void> {
  noteTenantEvents(sql);
  await sql.query(
    `update pipeline_runs
     set ${CANCELLED}
     where document_id = any($3::uuid[])
       and status in ('queued', 'parsing', 'chunking', 'embedding')`,
    [code, message, documentIds],
  );
}

const BY_REQUEST = ["cancelled", "The run was cancelled."];

/** Cancels the run if it is active. @returns whether it was. */
export async function cancelRun(sql: Sql, runId: string): Promise<boolean> {
  noteTenantEvents(sql);
  const { rowCount } = await sql.query(
    `update pipeline_runs
     set ${CANCELLED}
     where id = $3
       and status in ('queued', 'parsing', 'chunking', 'embedding')`,
    [...BY_REQUEST, runId],
  );
  return rowCount === 1;
}

/** Cancels at most `limit` active runs of the batch, in their order. @returns how many it cancelled. */
export async function cancelRunsOfBatch(sql: Sql, batchId: string, limit: number): Promise<number> {
  noteTenantEvents(sql);
  const { rowCount } = await sql.query(
    `update pipeline_runs
     set ${CANCELLED}
     where id in (
       select id
       from pipeline_runs
       where batch_id = $3
         and status in ('queued', 'parsing', 'chunking', 'embedding')
       order by num
       limit $4
       for update
     )`,
    [...BY_REQUEST, batchId, limit],
  );
  return rowCount ?? 0;
}
