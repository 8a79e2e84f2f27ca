/** The only SQL expressions that say what a run waits for, as callers, operators and workflows read it. */

export interface WaitingFor {
  /** The error's code. */
  readonly code: string;
  /** ISO 8601, as the next one. */
  readonly since: string;
  /** Attempts in a row that met it. */
  readonly attempts: number;
  readonly next_attempt_at: string | null;
}

const isoUtc = (timestamp: string): string =>
  `to_char(${timestamp} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Of a run `r`. A worker of the version before notes the code alone. */
const since = (run: string): string => `coalesce(${run}.waiting_since, ${run}.started_at, ${run}.created_at)`;

/** What run `r` waits for, null where it does not: a {@link WaitingFor}. */
export const WAITING_FOR = `case when r.waiting_for is not null then jsonb_build_object('code', r.waiting_for, 'since', ${isoUtc(since("r"))},
  'attempts', greatest(r.waiting_attempts, 1), 'next_attempt_at', ${isoUtc("r.next_attempt_at")}) end`;

export const WAITING_SINCE = `(case when r.waiting_for is not null then ${since("r")} end)`;

/** What the runs that `where` names wait for, by code: a JSON list of {@link GroupWait}. */
export function waitsOf(where: string): string {
  return `coalesce((select jsonb_agg(w) from (
      select r.waiting_for as code, count(*)::int as runs, ${isoUtc(`min(${since("r")})`)} as since from pipeline_runs r
      where ${where} and r.status in ('queued', 'parsing', 'chunking', 'embedding') and r.waiting_for is not null group by 1 order by 1) w), '[]')`;
}
