/** All SQL by which an activity's attempt takes members of a claim, writes their outcome, releases them. */
import { noteTenantEvents } from "../events/noted.ts";
import type { ErrorCode } from "../../domain/errors.ts";
import { MAX_ISOLATED_LOSSES, type RunError } from "../../domain/work/processing.ts";
import type { Sql } from "../pool.ts";
import { closeClaimIfDone } from "./claim.ts";

/** A run as an activity processes it. */
export interface Member {
  readonly id: string;
  readonly num: number;
  readonly document_id: string;
  readonly space_id: string;
  readonly space_num: number;
  readonly version: number;
  readonly trigger: string;
  readonly priority: 0 | 1;
  readonly object_key: string;
  readonly file_name: string;
  readonly file_type: string;
  /** Bytes. */
  readonly file_size: number;
  readonly chunker_name: string;
  readonly chunker_config: { max_tokens?: number; overlap_tokens?: number };
  readonly chunked: boolean;
  readonly chunk_count: number | null;
  readonly started_at: Date;
  readonly checkpoint: unknown;
  /** Null if the service itself queued the run. */
  readonly created_by: string | null;
  /** The trace of the request that queued the run. */
  readonly traceparent: string | null;
}

/**
 * Which claim and attempt may write to a run. Every write compares both, so an attempt that lost its members
 * (a worker that was taken for dead and comes back late) matches no row and changes nothing.
 * @see https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html (fencing tokens)
 */
export interface Fence {
  readonly claimId: string;
  readonly attemptId: string;
}

/** The columns of a {@link Member}. */
const MEMBER_COLUMNS = `id, num, document_id, space_id, space_num, version, trigger, priority,
            object_key, file_name, file_type, file_size, chunker_name, chunker_config,
            chunked, chunk_count, started_at, checkpoint, created_by, traceparent`;

export type Step = "prepare" | "embed";

export interface Beginning {
  readonly step: Step;
  /** The previous attempt was lost with its process. */
  readonly lost: boolean;
  /** It was lost while this machine had too little processor time: no evidence against a document. */
  readonly starved?: boolean;
  /** Skips members that another attempt has; by default they are taken over. */
  readonly onlyFree?: boolean;
}

// `waiting_for` is kept until the run makes progress: this attempt may meet the same outage.
const begin = (status: string, members: string): string => `
  update pipeline_runs
  set attempt_id = $2,
      status = '${status}',
      started_at = coalesce(started_at, now()),
      waiting_for = nullif(waiting_for, 'workflows_unavailable')
  where claim_id = $1
    and status in ('queued', 'parsing', 'chunking', 'embedding')
    and ${members}
    and (not $3 or attempt_id is null)
  returning ${MEMBER_COLUMNS}`;
const BEGIN: Readonly<Record<Step, string>> = {
  prepare: begin("parsing", "not chunked"),
  embed: begin("embedding", "chunked"),
};

/**
 * Gives the attempt the claim's members that still need the step, ordered by their number. Idempotent:
 * members that have passed the step are not taken again.
 *
 * After a lost attempt its members are suspected of having crashed the worker. Each leaves this claim and
 * gets one of its own, in a process that does nothing else. Losses are counted only there, because elsewhere
 * any other document of that process may have been the cause. The third such loss ends a run as
 * `worker_crashed`. An attempt that was lost while the machine was starved makes nobody suspected, and counts
 * nowhere: its members are tried again in the ordinary lanes.
 */
export async function beginAttempt(
  sql: Sql,
  fence: Fence,
  { step, lost, starved = false, onlyFree = false }: Beginning,
): Promise<Member[]> {
  if (lost && starved) await excuseLostMembers(sql, fence.claimId);
  else if (lost) await suspectLostMembers(sql, fence.claimId);
  noteTenantEvents(sql);
  const { rows } = await sql.query<Member>({
    name: `attempts.begin.${step}`,
    text: BEGIN[step],
    values: [fence.claimId, fence.attemptId, onlyFree],
  });
  return rows.toSorted((a, b) => a.num - b.num);
}

/** The members wait for processor time: in their claim, or in the queue again if they were isolated. */
async function excuseLostMembers(sql: Sql, claimId: string): Promise<void> {
  noteTenantEvents(sql);
  await sql.query(
    `update pipeline_runs run
     set suspected = false,
         claim_id = case when claim.isolated then null else run.claim_id end,
         attempt_id = null,
         status = case when claim.isolated then 'queued' else run.status end,
         waiting_for = 'starved',
         waiting_since = case when run.waiting_for = 'starved' then run.waiting_since else now() end,
         waiting_attempts = case when run.waiting_for = 'starved' then run.waiting_attempts + 1 else 1 end,
         next_attempt_at = now()
     from (select isolated from claims where id = $1) claim
     where run.claim_id = $1
       and run.attempt_id is not null
       and run.status in ('queued', 'parsing', 'chunking', 'embedding')`,
    [claimId],
  );
  await closeClaimIfDone(sql, claimId);
}

async function suspectLostMembers(sql: Sql, claimId: string): Promise<void> {
  noteTenantEvents(sql);
  await sql.query(
    `update pipeline_runs run
     set suspected = true,
         lost_attempts = run.lost_attempts + claim.isolated::int,
         claim_id = case when claim.isolated then run.claim_id end,
         attempt_id = null,
         status = case
           when claim.isolated and run.lost_attempts + 1 >= ${MAX_ISOLATED_LOSSES} then 'failed'
           when claim.isolated then run.status
           else 'queued'
         end,
         completed_at = case
           when claim.isolated and run.lost_attempts + 1 >= ${MAX_ISOLATED_LOSSES} then now()
         end,
         error = case
           when claim.isolated and run.lost_attempts + 1 >= ${MAX_ISOLATED_LOSSES} then jsonb_build_object(
             'stage', run.status,
             'code', 'worker_crashed',
             'message',
             'The worker stopped ${MAX_ISOLATED_LOSSES} times while processing only this document.')
         end
     from (select isolated from claims where id = $1) claim
     where run.claim_id = $1
       and run.attempt_id is not null
       and run.status in ('queued', 'parsing', 'chunking', 'embedding')`,
    [claimId],
  );
  await closeClaimIfDone(sql, claimId);
}

/**
 * Ends the suspicion of runs that made progress in isolation. They return to the queue and continue together
 * with others from where they are, so that a long one does not keep other suspected runs waiting. Call it in
 * the transaction that stores the progress.
 */
export async function clearSuspicion(sql: Sql, fence: Fence): Promise<void> {
  await sql.query(
    `update pipeline_runs
     set suspected = false,
         lost_attempts = 0,
         claim_id = null,
         attempt_id = null,
         status = 'queued',
         waiting_for = null
     where claim_id = $1
       and attempt_id = $2
       and suspected
       and status in ('queued', 'parsing', 'chunking', 'embedding')`,
    [fence.claimId, fence.attemptId],
  );
}

/** Returns the members' ids that the attempt still has; others were cancelled, superseded or deleted. */
export async function membersOfAttempt(sql: Sql, fence: Fence): Promise<Set<string>> {
  const { rows } = await sql.query<{ id: string }>({
    name: "attempts.in-hand",
    text: `select id
           from pipeline_runs
           where claim_id = $1
             and attempt_id = $2
             and status in ('queued', 'parsing', 'chunking', 'embedding')`,
    values: [fence.claimId, fence.attemptId],
  });
  return new Set(rows.map((row) => row.id));
}

export interface Wait {
  readonly id: string;
  readonly code: ErrorCode;
}

/**
 * Notes that members wait for an outage to end. They stay in the claim, but no attempt has them until the
 * next one, `nextAttemptMs` from now.
 * @returns the ids of those that did not wait for the same outage before.
 */
export async function recordWaiting(
  sql: Sql,
  fence: Fence,
  waiting: readonly Wait[],
  nextAttemptMs: number,
): Promise<string[]> {
  noteTenantEvents(sql);
  const { rows } = await sql.query<{ id: string; waiting_attempts: number }>(
    `update pipeline_runs run
     set attempt_id = null,
         waiting_for = waiting.code,
         next_attempt_at = now() + make_interval(secs => $5),
         waiting_since = case
           when run.waiting_for = waiting.code then coalesce(run.waiting_since, now())
           else now()
         end,
         waiting_attempts = case when run.waiting_for = waiting.code then run.waiting_attempts + 1 else 1 end
     from unnest($3::uuid[], $4::text[]) waiting(id, code)
     where run.id = waiting.id
       and run.claim_id = $1
       and run.attempt_id = $2
       and run.status in ('queued', 'parsing', 'chunking', 'embedding')
     returning run.id, run.waiting_attempts`,
    [
      fence.claimId,
      fence.attemptId,
      waiting.map((member) => member.id),
      waiting.map((member) => member.code),
      nextAttemptMs / 1_000,
    ],
  );
  return rows.filter((row) => row.waiting_attempts === 1).map((row) => row.id);
}

/** Ends members as failed. The version that the document showed before stays published. */
export async function recordFailures(
  sql: Sql,
  fence: Fence,
  failures: ReadonlyArray<{ id: string; error: RunError }>,
): Promise<void> {
  noteTenantEvents(sql);
  await sql.query(
    `update pipeline_runs run
     set status = 'failed',
         error = failure.error,
         completed_at = now(),
         attempt_id = null,
         waiting_for = null
     from unnest($3::uuid[], $4::jsonb[]) failure(id, error)
     where run.id = failure.id
       and run.claim_id = $1
       and run.attempt_id = $2
       and run.status in ('queued', 'parsing', 'chunking', 'embedding')`,
    [
      fence.claimId,
      fence.attemptId,
      failures.map((failure) => failure.id),
      failures.map((failure) => JSON.stringify(failure.error)),
    ],
  );
  await closeClaimIfDone(sql, fence.claimId);
}

/** Releases every member of the attempt, so that its orderly end is not taken for a lost attempt. */
export async function releaseAttempt(sql: Sql, fence: Fence): Promise<void> {
  await sql.query(
    `update pipeline_runs
     set attempt_id = null
     where claim_id = $1
       and attempt_id = $2`,
    [fence.claimId, fence.attemptId],
  );
}
