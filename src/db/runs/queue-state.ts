/** SQL that measures the queue of runs: how many are in each state, and for how long. */
import type pg from "pg";
import { queryOnce } from "../pool.ts";

interface QueueState {
  /** `queued`, `held` by a batch, `at work`, or the code of the error that the runs wait for. */
  readonly state: string;
  readonly runs: number;
  readonly oldest_seconds: number;
  /** Seconds since the first of them began to wait; null if they wait for nothing. */
  readonly waiting_seconds: number | null;
}

/** Counts all organizations' runs that have not ended. The partial index on these states keeps it cheap. */
export async function readQueue(system: pg.Pool): Promise<QueueState[]> {
  const { rows } = await queryOnce<QueueState>(
    system,
    `select case
              when held then 'held'
              when waiting_for is not null then waiting_for
              when status = 'queued' then 'queued'
              else 'at work'
            end as state,
            count(*)::int as runs,
            extract(epoch from now() - min(created_at))::float8 as oldest_seconds,
            extract(epoch from now() - min(
              case when waiting_for is not null then coalesce(waiting_since, started_at, created_at) end
            ))::float8 as waiting_seconds
     from pipeline_runs
     where status in ('queued', 'parsing', 'chunking', 'embedding')
     group by 1`,
  );
  return rows;
}
