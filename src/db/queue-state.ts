/** All SQL that measures the queue of runs: how many stand where, and for how long. */
import type pg from "pg";
import { queryOnce } from "./pool.ts";

interface QueueState {
  /** `queued`, `held` by a batch, `at work`, or the error code that names what runs wait for. */
  readonly state: string;
  readonly runs: number;
  /** Seconds since the oldest of them was accepted. */
  readonly oldest_seconds: number;
}

/** Runs of all organizations that have not ended. Reads the indexes of those alone. */
export async function readQueue(system: pg.Pool): Promise<QueueState[]> {
  const { rows } = await queryOnce<QueueState>(
    system,
    `select case when held then 'held' when status = 'queued' then 'queued' else coalesce(waiting_for, 'at work') end as state,
       count(*)::int as runs, extract(epoch from now() - min(created_at))::float8 as oldest_seconds
     from pipeline_runs where status in ('queued', 'parsing', 'chunking', 'embedding') group by 1`,
  );
  return rows;
}
