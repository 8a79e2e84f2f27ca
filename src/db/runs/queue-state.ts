/** All SQL that measures the queue of runs: how many stand where, and for how long. */
import type pg from "pg";
import { queryOnce } from "../pool.ts";
import { WAITING_SINCE } from "./waits.ts";

interface QueueState {
  /** `queued`, `held` by a batch, `at work`, or the error code that names what runs wait for. */
  readonly state: string;
  readonly runs: number;
  /** Seconds since the oldest of them was accepted. */
  readonly oldest_seconds: number;
  /** Seconds since the first of them began to wait; null where they wait for nothing. */
  readonly waiting_seconds: number | null;
}

/** Runs of all organizations that have not ended. Reads the indexes of those alone. */
export async function readQueue(system: pg.Pool): Promise<QueueState[]> {
  const { rows } = await queryOnce<QueueState>(
    system,
    `select case when r.held then 'held' else coalesce(r.waiting_for, case when r.status = 'queued' then 'queued' else 'at work' end) end as state,
       count(*)::int as runs, extract(epoch from now() - min(r.created_at))::float8 as oldest_seconds,
       extract(epoch from now() - min(${WAITING_SINCE}))::float8 as waiting_seconds
     from pipeline_runs r where r.status in ('queued', 'parsing', 'chunking', 'embedding') group by 1`,
  );
  return rows;
}
