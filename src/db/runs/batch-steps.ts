/** All SQL of one step of a batch's workflow. */
import { noteTenantEvents } from "../events/noted.ts";
import {
  BATCH_WINDOW_RUNS,
  type BatchStatus,
  type BatchStep,
  CANCELS_A_STEP,
} from "../../domain/work/batch.ts";
import { drillPoint } from "../../telemetry/drill-point.ts";
import type { Sql } from "../pool.ts";
import { cancelRunsOfBatch } from "./requests.ts";

/**
 * Does what the status of the batch asks for: releases runs until the window is full, cancels some, or
 * nothing; ends the batch if none of its runs is left. Idempotent, because the state is in the database and
 * the batch's row is locked.
 */
export async function stepBatch(sql: Sql, batchId: string): Promise<BatchStep> {
  const { rows } = await sql.query<{ status: BatchStatus; is_complete: boolean }>(
    `select status,
            completed_at is not null as is_complete
     from batches
     where id = $1
     for update`,
    [batchId],
  );
  const batch = rows[0];
  if (batch === undefined || batch.is_complete)
    return { status: batch?.status ?? "completed", released: 0, cancelled: 0, open: 0, done: true };
  const { status } = batch;
  const cancelled = status === "cancelled" ? await cancelRunsOfBatch(sql, batchId, CANCELS_A_STEP) : 0;
  const released = status === "running" ? await releaseRuns(sql, batchId) : 0;
  await drillPoint("batchReprocess: runs released, not committed");
  const { open, has_held: hasHeld } = await countOpenRuns(sql, batchId);
  const done = open === 0 && !hasHeld;
  if (done) await endBatch(sql, batchId);
  return { status, released, cancelled, open, done };
}

async function releaseRuns(sql: Sql, batchId: string): Promise<number> {
  const { rowCount } = await sql.query(
    `update pipeline_runs
     set held = false
     where id in (
       select id
       from pipeline_runs
       where batch_id = $1
         and held
         and status = 'queued'
       order by num
       limit greatest(0, $2 - (
         select count(*)
         from pipeline_runs
         where batch_id = $1
           and not held
           and status in ('queued', 'parsing', 'chunking', 'embedding')
       ))
       for update
     )`,
    [batchId, BATCH_WINDOW_RUNS],
  );
  return rowCount ?? 0;
}

/** `open` counts released runs that have not ended. */
async function countOpenRuns(sql: Sql, batchId: string): Promise<{ open: number; has_held: boolean }> {
  const { rows } = await sql.query<{ open: number; has_held: boolean }>(
    `select (
              select count(*)::int
              from pipeline_runs
              where batch_id = $1
                and not held
                and status in ('queued', 'parsing', 'chunking', 'embedding')
            ) as open,
            exists (
              select
              from pipeline_runs
              where batch_id = $1
                and held
                and status = 'queued'
            ) as has_held`,
    [batchId],
  );
  return rows[0]!;
}

async function endBatch(sql: Sql, batchId: string): Promise<void> {
  noteTenantEvents(sql);
  await sql.query(
    `update batches
     set status = case when status = 'cancelled' then status else 'completed' end,
         completed_at = now()
     where id = $1`,
    [batchId],
  );
}
