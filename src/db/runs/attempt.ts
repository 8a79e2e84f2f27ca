/** All SQL by which an activity takes the runs of a claim in hand, writes what became of them, and lets go. Every write carries the fence. */
import type { ErrorCode } from "../../domain/errors.ts";
import { type GroupWait, MAX_ISOLATED_LOSSES, type RunError } from "../../domain/work/processing.ts";
import { closeClaimIfDone } from "./claim.ts";
import type { Sql } from "../pool.ts";
import { waitsOf } from "./waits.ts";

/** A run that an activity has in hand. */
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
  readonly file_size: number;
  readonly chunker_name: string;
  readonly chunker_config: { max_tokens?: number; overlap_tokens?: number };
  readonly chunked: boolean;
  readonly chunk_count: number | null;
  readonly started_at: Date;
  readonly checkpoint: unknown;
  /** Null: the service itself. */
  readonly created_by: string | null;
  /** Of the request that queued it. */
  readonly traceparent: string | null;
}

/** Who may write: the claim and the attempt that hold the run. A zombie attempt fails this and changes nothing. */
export interface Fence {
  readonly claimId: string;
  readonly attemptId: string;
}

const ACTIVE = "status in ('queued', 'parsing', 'chunking', 'embedding')";
const MEMBER = `id, num, document_id, space_id, space_num, version, trigger, priority, object_key, file_name, file_type, file_size,
  chunker_name, chunker_config, chunked, chunk_count, started_at, checkpoint, created_by, traceparent`;

export type Step = "prepare" | "embed";

export interface Beginning {
  readonly step: Step;
  /** The attempt before was lost with its process. */
  readonly lost: boolean;
  /** Leaves alone what another attempt has in hand. */
  readonly onlyFree?: boolean;
}

/** Members that this step still has to do. Idempotent: what is done is not taken again. */
const LEFT: Record<Step, string> = { prepare: "not chunked", embed: "chunked" };
const STATUS: Record<Step, string> = { prepare: "parsing", embed: "embedding" };

/**
 * Takes the claim's members for an attempt. After a lost attempt the members that it had in hand are suspected: they leave this claim
 * for one of their own in a process that has nothing else in hand. Only there a loss counts, because any of those that
 * the process had in hand, in this claim or another, may have ended it; with the third a run ends `worker_crashed`.
 */
export async function beginAttempt(
  sql: Sql,
  fence: Fence,
  { step, lost, onlyFree = false }: Beginning,
): Promise<Member[]> {
  if (lost) await suspectLostMembers(sql, fence.claimId);
  const { rows } = await sql.query<Member>({
    name: `attempts.begin.${step}`,
    // What it waited for stays with it until it gets on: the attempt that begins may meet the same.
    text: `update pipeline_runs set attempt_id = $2, status = '${STATUS[step]}', started_at = coalesce(started_at, now()),
             waiting_for = nullif(waiting_for, 'workflows_unavailable')
           where claim_id = $1 and ${ACTIVE} and ${LEFT[step]} and (not $3 or attempt_id is null) returning ${MEMBER}`,
    values: [fence.claimId, fence.attemptId, onlyFree],
  });
  return rows.toSorted((a, b) => a.num - b.num);
}

async function suspectLostMembers(sql: Sql, claimId: string): Promise<void> {
  const isLast = `isolated and lost_attempts + 1 >= ${MAX_ISOLATED_LOSSES}`;
  await sql.query(
    `update pipeline_runs set
       suspected = true,
       lost_attempts = lost_attempts + isolated::int,
       claim_id = case when isolated then claim_id end,
       attempt_id = null,
       status = case when ${isLast} then 'failed' when isolated then status else 'queued' end,
       completed_at = case when ${isLast} then now() end,
       error = case when ${isLast} then jsonb_build_object('stage', status, 'code', 'worker_crashed',
         'message', 'The worker stopped ${MAX_ISOLATED_LOSSES} times while it had this document alone in hand.') end
     from (select isolated from claims where id = $1) claim
     where claim_id = $1 and attempt_id is not null and ${ACTIVE}`,
    [claimId],
  );
  await closeClaimIfDone(sql, claimId);
}

/**
 * Runs that got on in isolation are not suspected any more: they go back to the queue, to go on beside others from where they are, so that
 * a long one keeps no other suspected run waiting. Part of the transaction that keeps what they did.
 */
export async function clearSuspicion(sql: Sql, fence: Fence): Promise<void> {
  await sql.query(
    `update pipeline_runs set suspected = false, lost_attempts = 0, claim_id = null, attempt_id = null, status = 'queued', waiting_for = null
     where claim_id = $1 and attempt_id = $2 and suspected and ${ACTIVE}`,
    [fence.claimId, fence.attemptId],
  );
}

/** The members that are still this attempt's; the others were cancelled, superseded or deleted. */
export async function membersInHand(sql: Sql, fence: Fence): Promise<Set<string>> {
  const { rows } = await sql.query<{ id: string }>({
    name: "attempts.in-hand",
    text: `select id from pipeline_runs where claim_id = $1 and attempt_id = $2 and ${ACTIVE}`,
    values: [fence.claimId, fence.attemptId],
  });
  return new Set(rows.map((row) => row.id));
}

export interface Wait {
  readonly id: string;
  readonly code: ErrorCode;
}

/**
 * Members that wait for an outage stay in the claim and are let go until the next attempt, `nextAttemptMs` from now.
 * @returns the ids of those that waited for nothing, or for something else, before.
 */
export async function recordWaiting(
  sql: Sql,
  fence: Fence,
  waiting: readonly Wait[],
  nextAttemptMs: number,
): Promise<string[]> {
  const { rows } = await sql.query<{ id: string; waiting_attempts: number }>(
    `update pipeline_runs r set attempt_id = null, waiting_for = w.code, next_attempt_at = now() + make_interval(secs => $5),
       waiting_since = case when r.waiting_for = w.code then coalesce(r.waiting_since, now()) else now() end,
       waiting_attempts = case when r.waiting_for = w.code then r.waiting_attempts + 1 else 1 end
     from unnest($3::uuid[], $4::text[]) w(id, code)
     where r.id = w.id and claim_id = $1 and attempt_id = $2 and ${ACTIVE} returning r.id, r.waiting_attempts`,
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

/** Ends members as failed. What the document showed before stays published. */
export async function recordFailures(
  sql: Sql,
  fence: Fence,
  failures: ReadonlyArray<{ id: string; error: RunError }>,
): Promise<void> {
  await sql.query(
    `update pipeline_runs r set status = 'failed', error = f.error, completed_at = now(), attempt_id = null, waiting_for = null
     from unnest($3::uuid[], $4::jsonb[]) f(id, error)
     where r.id = f.id and claim_id = $1 and attempt_id = $2 and ${ACTIVE}`,
    [
      fence.claimId,
      fence.attemptId,
      failures.map((failure) => failure.id),
      failures.map((failure) => JSON.stringify(failure.error)),
    ],
  );
  await closeClaimIfDone(sql, fence.claimId);
}

/** Lets go of every member in hand, so that an orderly end is never taken for a lost attempt. */
export async function releaseAttempt(sql: Sql, fence: Fence): Promise<void> {
  await sql.query(`update pipeline_runs set attempt_id = null where claim_id = $1 and attempt_id = $2`, [
    fence.claimId,
    fence.attemptId,
  ]);
}

interface ClaimStanding {
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly active: number;
  readonly ready: number;
  /** Active members that an attempt has in hand. */
  readonly in_hand: number;
  readonly waits: readonly GroupWait[];
}

/** Counts by how the claim's members stand now. */
export async function claimStanding(sql: Sql, claimId: string): Promise<ClaimStanding> {
  const { rows } = await sql.query<ClaimStanding>({
    name: "attempts.standing",
    text: `select cardinality(c.run_ids) as total,
             count(r.id) filter (where r.status = 'completed')::int as completed,
             count(r.id) filter (where r.status = 'failed')::int as failed,
             count(r.id) filter (where r.${ACTIVE})::int as active,
             count(r.id) filter (where r.${ACTIVE} and r.chunked)::int as ready,
             count(r.id) filter (where r.${ACTIVE} and r.attempt_id is not null)::int as in_hand,
             ${waitsOf("r.claim_id = $1")} as waits
           from claims c left join pipeline_runs r on r.claim_id = c.id where c.id = $1 group by c.id`,
    values: [claimId],
  });
  return rows[0] ?? { total: 0, completed: 0, failed: 0, active: 0, ready: 0, in_hand: 0, waits: [] };
}
