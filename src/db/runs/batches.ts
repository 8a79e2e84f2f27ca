/** All SQL of batches but their steps: accepting one, and what callers read and change of it. */
import type { BatchStatus } from "../../domain/work/batch.ts";
import { ownedBy } from "../../domain/tenancy/ownership.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import type { GroupWait, RunStatus } from "../../domain/work/processing.ts";
import { parameters } from "../filter-sql.ts";
import { isOwned } from "../owned.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import type { Sql } from "../pool.ts";

interface ResultError {
  readonly code: string;
  readonly message: string;
}

export interface NewBatch {
  readonly id: string;
  readonly organizationId: string;
  readonly createdBy: string;
  /** The key that it was asked for with; null: its starter had logged in. */
  readonly apiKeyId: string | null;
  readonly spaceIds: readonly string[];
  readonly total: number;
  readonly accepted: number;
  readonly rejected: readonly { readonly document_id: unknown; readonly error: ResultError }[];
}

/**
 * Writes the outbox row that the batch's workflow is started from. Call it in the transaction that queued the
 * batch's runs. A batch without runs is complete at once.
 */
export async function insertBatch(sql: Sql, batch: NewBatch): Promise<void> {
  await sql.query(
    `insert into batches
       (id, organization_id, created_by, api_key_id, space_ids, total, accepted, rejected, status, completed_at)
     values
       ($1, $2, $3, $4, $5, $6, $7, $8,
        case when $7 = 0 then 'completed' else 'running' end,
        case when $7 = 0 then now() end)`,
    [
      batch.id,
      batch.organizationId,
      batch.createdBy,
      batch.apiKeyId,
      batch.spaceIds,
      batch.total,
      batch.accepted,
      JSON.stringify(batch.rejected),
    ],
  );
}

export interface BatchRow {
  readonly batch_id: string;
  readonly status: BatchStatus;
  readonly total: number;
  readonly accepted: number;
  readonly rejected: number;
  /** Those spaces of its documents that are not deleted. */
  readonly space_ids: string[];
  readonly created_at: Date;
  readonly completed_at: Date | null;
  readonly waiting_for: readonly GroupWait[];
  readonly counts: Partial<Record<RunStatus, number>>;
  /** When work on the first of its runs began. */
  readonly started_at: Date | null;
  /** Runs that ended within the last minute. */
  readonly ended_lately: number;
}

/** Returns the batch if it is the caller's. */
export async function findBatch(sql: Sql, principal: Principal, id: string): Promise<BatchRow | undefined> {
  const { rows } = await sql.query<BatchRow>(
    `select batch.id as batch_id,
            batch.status,
            batch.total,
            batch.accepted,
            jsonb_array_length(batch.rejected) as rejected,
            batch.created_at,
            batch.completed_at,
            array(
              select space.id
              from spaces space
              where space.id = any(batch.space_ids)
                and space.deleted_at is null
            ) as space_ids,
            coalesce(progress.counts, '{}') as counts,
            progress.started_at,
            coalesce(progress.ended_lately, 0)::int as ended_lately,
            coalesce((
              select jsonb_agg(wait)
              from (
                select run.waiting_for as code,
                       count(*)::int as runs,
                       to_char(
                         min(coalesce(run.waiting_since, run.started_at, run.created_at)) at time zone 'UTC',
                         'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                       ) as since
                from pipeline_runs run
                where run.batch_id = batch.id
                  and run.status in ('queued', 'parsing', 'chunking', 'embedding')
                  and run.waiting_for is not null
                group by 1
                order by 1
              ) wait
            ), '[]') as waiting_for
     from batches batch
     left join lateral (
       select jsonb_object_agg(by_status.status, by_status.count) as counts,
              min(by_status.started_at) as started_at,
              sum(by_status.ended_lately) as ended_lately
       from (
         select status,
                count(*),
                min(started_at) as started_at,
                count(*) filter (
                  where status in ('completed', 'failed')
                    and completed_at > now() - interval '1 minute'
                ) as ended_lately
         from pipeline_runs
         where batch_id = batch.id
         group by status
       ) by_status
     ) progress on true
     where batch.id = $3
       and ${isOwned("batch", "created_by")}`,
    [...ownedBy(principal, "in spaces"), id],
  );
  return rows[0];
}

export interface BatchResultRow {
  readonly document_id: unknown;
  readonly success: boolean;
  readonly pipeline_run_id: string | null;
  readonly error: ResultError | null;
  readonly status: RunStatus | null;
}

/** The results of batch `$1`, a relation to select from: part 0 is what got a run, 1 what was rejected. */
const RESULTS = `(
    select 0 as part,
           run.num::bigint as position,
           to_jsonb(run.document_id) as document_id,
           run.status not in ('failed', 'cancelled') as success,
           run.id as pipeline_run_id,
           run.error,
           run.status
    from pipeline_runs run
    where run.batch_id = $1
    union all
    select 1,
           rejected.position,
           rejected.value -> 'document_id',
           false,
           null,
           rejected.value -> 'error',
           null
    from batches batch,
         jsonb_array_elements(batch.rejected) with ordinality rejected(value, position)
    where batch.id = $1
  ) result`;

/** Returns a page of the batch's results: its runs in the order they were queued, then what was rejected. */
export async function listBatchResults(
  sql: Sql,
  batchId: string,
  page: PageRequest,
): Promise<Page<BatchResultRow>> {
  return readPage<BatchResultRow>(
    sql,
    {
      columns: "result.document_id, result.success, result.pipeline_run_id, result.error, result.status",
      from: RESULTS,
      where: "true",
      order: "result.part, result.position",
      params: parameters([batchId]),
    },
    page,
  );
}

/** Moves the batch to status `to` if it is in one of `from` and has not ended. @returns whether it did. */
export async function steerBatch(
  sql: Sql,
  id: string,
  from: readonly BatchStatus[],
  to: BatchStatus,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `update batches
     set status = $3
     where id = $1
       and status = any($2)
       and completed_at is null`,
    [id, from, to],
  );
  return rowCount === 1;
}
