/** All SQL of batches: as they are accepted, as callers see and steer them, and what one step of their workflow does. */
import type pg from "pg";
import {
  BATCH_WINDOW_RUNS,
  type BatchStatus,
  type BatchStep,
  CANCELS_A_STEP,
} from "../../domain/work/batch.ts";
import type { GroupWait, RunStatus } from "../../domain/work/processing.ts";
import { drillPoint } from "../../telemetry/drill-point.ts";
import { parameters } from "../filter-sql.ts";
import { type Taken, takeInTurn } from "../outbox/start-order.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import type { Sql } from "../pool.ts";
import { cancelRunsOfBatch } from "./requests.ts";
import { waitsOf } from "./waits.ts";

interface ResultError {
  readonly code: string;
  readonly message: string;
}

export interface NewBatch {
  readonly id: string;
  readonly organizationId: string;
  readonly createdBy: string;
  readonly spaceIds: readonly string[];
  readonly total: number;
  readonly accepted: number;
  readonly rejected: readonly { readonly document_id: unknown; readonly error: ResultError }[];
}

/** Writes the row that its workflow is started from, in the transaction that queued the batch's runs. One without runs is complete. */
export async function insertBatch(sql: Sql, batch: NewBatch): Promise<void> {
  await sql.query(
    `insert into batches (id, organization_id, created_by, space_ids, total, accepted, rejected, status, completed_at)
     values ($1, $2, $3, $4, $5, $6, $7, case when $6 = 0 then 'completed' else 'running' end, case when $6 = 0 then now() end)`,
    [
      batch.id,
      batch.organizationId,
      batch.createdBy,
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
  /** The spaces of its documents that still live. */
  readonly space_ids: string[];
  readonly created_at: Date;
  readonly completed_at: Date | null;
  readonly waiting_for: readonly GroupWait[];
  readonly counts: Partial<Record<RunStatus, number>>;
  /** When the first of its runs was taken in hand. */
  readonly started_at: Date | null;
  /** Runs that ended within the last minute. */
  readonly ended_lately: number;
}

/** The batch, where this user asked for it. */
export async function findBatch(sql: Sql, userId: string, id: string): Promise<BatchRow | undefined> {
  const { rows } = await sql.query<BatchRow>(
    `select b.id as batch_id, b.status, b.total, b.accepted, jsonb_array_length(b.rejected) as rejected, b.created_at, b.completed_at,
       array(select s.id from spaces s where s.id = any(b.space_ids) and s.deleted_at is null) as space_ids,
       coalesce(c.counts, '{}') as counts, c.started_at, coalesce(c.ended_lately, 0)::int as ended_lately,
       ${waitsOf("r.batch_id = b.id")} as waiting_for
     from batches b left join lateral (
       select jsonb_object_agg(status, count) as counts, min(started_at) as started_at, sum(ended_lately) as ended_lately from (
         select status, count(*), min(started_at) as started_at,
           count(*) filter (where status in ('completed', 'failed') and completed_at > now() - interval '1 minute') as ended_lately
         from pipeline_runs where batch_id = b.id group by status) by_status) c on true
     where b.id = $2 and b.created_by = $1`,
    [userId, id],
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

/** A page of the batch's results: its runs in order, then what was not accepted. */
export async function listBatchResults(
  sql: Sql,
  batchId: string,
  page: PageRequest,
): Promise<Page<BatchResultRow>> {
  return readPage<BatchResultRow>(
    sql,
    {
      columns: "result.document_id, result.success, result.pipeline_run_id, result.error, result.status",
      from: `(select 0 as part, r.num::bigint as position, to_jsonb(r.document_id) as document_id, r.status not in ('failed', 'cancelled') as success,
                r.id as pipeline_run_id, r.error, r.status
              from pipeline_runs r where r.batch_id = $1
              union all
              select 1, refused.position, refused.value -> 'document_id', false, null, refused.value -> 'error', null
              from batches b, jsonb_array_elements(b.rejected) with ordinality refused(value, position) where b.id = $1) result`,
      where: "true",
      order: "result.part, result.position",
      params: parameters([batchId]),
    },
    page,
  );
}

/** Moves the batch to `to` where it has not ended and stands at one of `from`. @returns whether it did. */
export async function steerBatch(
  sql: Sql,
  id: string,
  from: readonly BatchStatus[],
  to: BatchStatus,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    "update batches set status = $3 where id = $1 and status = any($2) and completed_at is null",
    [id, from, to],
  );
  return rowCount === 1;
}

/** `accepted`: documents with a run. */
export type PendingBatch = Taken & { readonly accepted: number };

/** Batches whose turn it is, each leased to the caller; with an organization, only its own. */
export async function takePendingBatches(
  system: pg.Pool,
  limit: number,
  organizationId: string | null = null,
): Promise<PendingBatch[]> {
  return takeInTurn<{ accepted: number }>(system, "batches", { limit, organizationId });
}

const OPEN = "batch_id = $1 and not held and status in ('queued', 'parsing', 'chunking', 'embedding')";
const HELD = "batch_id = $1 and held and status = 'queued'";

/**
 * Does what the batch's state asks for now: releases runs as far as the window has room, cancels, or waits; and ends the batch with its
 * last run. Idempotent: the state is in the database, and the batch's row is locked.
 */
export async function stepBatch(sql: Sql, batchId: string): Promise<BatchStep> {
  const { rows } = await sql.query<{ status: BatchStatus; is_complete: boolean }>(
    "select status, completed_at is not null as is_complete from batches where id = $1 for update",
    [batchId],
  );
  const batch = rows[0];
  if (batch === undefined || batch.is_complete)
    return { status: batch?.status ?? "completed", released: 0, cancelled: 0, open: 0, done: true };
  const { status } = batch;
  const cancelled = status === "cancelled" ? await cancelRunsOfBatch(sql, batchId, CANCELS_A_STEP) : 0;
  const released = status === "running" ? await releaseRuns(sql, batchId) : 0;
  await drillPoint("batchReprocess: runs released, not committed");
  const { open, held } = await standing(sql, batchId);
  const done = open === 0 && held === 0;
  if (done)
    await sql.query(
      "update batches set status = case when status = 'cancelled' then status else 'completed' end, completed_at = now() where id = $1",
      [batchId],
    );
  return { status, released, cancelled, open, done };
}

async function releaseRuns(sql: Sql, batchId: string): Promise<number> {
  const { rowCount } = await sql.query(
    `update pipeline_runs set held = false where id in (
       select id from pipeline_runs where ${HELD} order by num
       limit greatest(0, $2 - (select count(*) from pipeline_runs where ${OPEN})) for update)`,
    [batchId, BATCH_WINDOW_RUNS],
  );
  return rowCount ?? 0;
}

/** `held` is 0 or 1: whether any are left. */
async function standing(sql: Sql, batchId: string): Promise<{ open: number; held: number }> {
  const { rows } = await sql.query<{ open: number; held: number }>(
    `select (select count(*)::int from pipeline_runs where ${OPEN}) as open, (select count(*)::int from (select from pipeline_runs where ${HELD} limit 1) any_held) as held`,
    [batchId],
  );
  return rows[0]!;
}
