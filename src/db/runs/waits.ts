/** The SQL expression for what a run waits for, as callers and operators read it. */

export interface WaitingFor {
  /** The code of the error that the last attempt met. */
  readonly code: string;
  /** ISO 8601, in UTC. */
  readonly since: string;
  /** Consecutive attempts that met the error. */
  readonly attempts: number;
  /** ISO 8601, in UTC. */
  readonly next_attempt_at: string | null;
}

/**
 * A {@link WaitingFor} of pipeline_runs `run`, or null if it waits for nothing. Shared, because a document
 * and a run show the same object. Workers of the previous version write the code without `waiting_since`.
 */
export const WAITING_FOR = `case when run.waiting_for is not null then jsonb_build_object(
    'code', run.waiting_for,
    'since', to_char(
      coalesce(run.waiting_since, run.started_at, run.created_at) at time zone 'UTC',
      'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'attempts', greatest(run.waiting_attempts, 1),
    'next_attempt_at', to_char(run.next_attempt_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  ) end`;
