/** One attempt at a step for a claim's members: takes them, watches for cancels, records each outcome. */
import { DEADLINES, PAUSES } from "#timings";
import { Context } from "@temporalio/activity";
import { DomainError, ERROR_CLASSES, type ErrorCode, errorClass } from "../../domain/errors.ts";
import { type AttemptInput, type GroupOutcome, type RunError, waitMs } from "../../domain/work/processing.ts";
import { type Database, inTenant } from "../../db/pool.ts";
import {
  type Fence,
  type Member,
  type Step,
  beginAttempt,
  membersOfAttempt,
  recordFailures,
  recordWaiting,
  releaseAttempt,
} from "../../db/runs/attempt.ts";
import { countMembers } from "../../db/runs/member-counts.ts";
import { closeClaimIfDone, setClaimWaiting } from "../../db/runs/claim.ts";
import type { Log } from "../../process/log.ts";
import { starvedError, stoodStill, wasStarved } from "../../process/standstill.ts";
import { drillPoint } from "../../telemetry/drill-point.ts";
import { pipelineOutcomes } from "../../telemetry/instruments.ts";

const MESSAGE_OF_UNKNOWN = "Processing failed unexpectedly.";

interface MemberDeps {
  readonly db: Database;
  readonly log: Log;
}

/** What a step works with. A member's error is recorded by its class; work on the others goes on. */
export interface Attempt {
  readonly fence: Fence;
  readonly members: readonly Member[];
  /** Aborts when the member is cancelled, superseded or deleted, or when the worker stops. */
  signalOf(member: Member): AbortSignal;
  ended(member: Member, stage: RunError["stage"], error: unknown): void;
}

/** Thrown when an isolated run made progress: that is stored, and the run queued again without isolation. */
export function backInQueue(): DomainError {
  return new DomainError("cancelled", "The run got on in isolation; it goes on beside others.");
}

export interface StepInput extends AttemptInput {
  /** True: take only members that no other attempt works on. */
  readonly onlyFree?: boolean;
}

interface Ended {
  readonly member: Member;
  readonly stage: RunError["stage"];
  readonly error: unknown;
}

/**
 * Takes the claim's members for a new attempt, lets `work` do the step, and records every member's outcome.
 * @throws DomainError only if the outcomes could not be recorded, because the database is down
 * @see test/workflows/killed-worker.stack.test.ts
 */
export async function attemptStep(
  deps: MemberDeps,
  input: StepInput,
  step: Step,
  work: (attempt: Attempt) => Promise<void>,
): Promise<GroupOutcome> {
  const fence: Fence = { claimId: input.claimId, attemptId: crypto.randomUUID() };
  const begun: Begun = { deps, input, step, fence };
  try {
    const starved = input.lost && wasStarved(DEADLINES.lostAttempt);
    if (starved) deps.log.warn({ claim_id: input.claimId, step }, "an attempt was lost for lack of CPU time");
    const members = await inTenant(deps.db, input.organization, (sql) =>
      beginAttempt(sql, fence, { step, lost: input.lost, starved, onlyFree: input.onlyFree === true }),
    );
    const ended: Ended[] = [];
    if (members.length > 0) await watched(begun, members, ended, work);
    await drillPoint("documentPipeline: step done, outcome not recorded");
    return await recordOutcomes(begun, ended);
  } catch (error) {
    await inTenant(deps.db, input.organization, (sql) => releaseAttempt(sql, fence)).catch(
      (releaseError: unknown) =>
        deps.log.warn({ err: releaseError, claim_id: input.claimId }, "an attempt could not be released"),
    );
    throw error;
  }
}

/** An attempt under its fence. */
interface Begun {
  readonly deps: MemberDeps;
  readonly input: StepInput;
  readonly step: Step;
  readonly fence: Fence;
}

/** Does the work while heartbeats go out and members that were cancelled meanwhile are aborted. */
async function watched(
  { deps, input, fence }: Begun,
  members: Member[],
  ended: Ended[],
  work: (attempt: Attempt) => Promise<void>,
): Promise<void> {
  const context = Context.current();
  const controllers = new Map(members.map((member) => [member.id, new AbortController()]));
  const abortAll = (): void =>
    controllers.forEach((controller) => controller.abort(new DomainError("cancelled", "The worker stops.")));
  context.cancellationSignal.addEventListener("abort", abortAll, { once: true });
  let isChecking = false;
  const check = async (): Promise<void> => {
    const ours = await inTenant(deps.db, input.organization, (sql) => membersOfAttempt(sql, fence));
    for (const [id, controller] of controllers)
      if (!ours.has(id)) controller.abort(new DomainError("cancelled", "The run was cancelled."));
  };
  const timer = setInterval(() => {
    context.heartbeat();
    if (isChecking) return;
    isChecking = true;
    check()
      .catch((error: unknown) =>
        deps.log.warn({ err: error, claim_id: input.claimId }, "members could not be checked"),
      )
      .finally(() => {
        isChecking = false;
      });
  }, PAUSES.heartbeat);
  try {
    await work({
      fence,
      members,
      signalOf: (member) => controllers.get(member.id)!.signal,
      ended(member, stage, error) {
        ended.push({ member, stage, error: reasonOf(error, controllers.get(member.id)!.signal) });
      },
    });
  } finally {
    clearInterval(timer);
    context.cancellationSignal.removeEventListener("abort", abortAll);
  }
}

/** Streams and calls that are aborted say only that: why is the signal's to say. */
function reasonOf(error: unknown, signal: AbortSignal): unknown {
  return signal.aborted && error instanceof Error && error.name === "AbortError" ? signal.reason : error;
}

type Verdict =
  | { readonly is: "failed"; readonly error: RunError }
  | { readonly is: "waiting"; readonly code: ErrorCode; readonly retryAfterSeconds: number | null }
  | { readonly is: "gone" };

function knownError(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  const isTimeOut = error instanceof Error && error.name === "TimeoutError";
  return isTimeOut && stoodStill(DEADLINES.lostAttempt)
    ? starvedError(error)
    : new DomainError("internal", MESSAGE_OF_UNKNOWN);
}

function verdict({ member, stage, error }: Ended): Verdict {
  const known = knownError(error);
  if (known.code === "cancelled" || known.code === "superseded") return { is: "gone" };
  const isPatient = Date.now() - member.started_at.getTime() < ERROR_CLASSES[known.class].retryForMs;
  if (isPatient)
    return { is: "waiting", code: known.code, retryAfterSeconds: known.retryAfterSeconds ?? null };
  return { is: "failed", error: { stage, code: known.code, message: known.message } };
}

/**
 * One line for each document that failed, or whose step failed unexpectedly. Those that wait for an outage
 * share a line when they begin to wait.
 */
function logCauses(
  { log }: MemberDeps,
  ids: Readonly<Record<string, string>>,
  verdicts: ReadonlyArray<Verdict & { readonly id: string; readonly cause: unknown }>,
): void {
  for (const { id, is, cause } of verdicts) {
    const fields = { ...ids, run_id: id, err: cause };
    if (errorClass(cause) === "unknown") log.error(fields, "a document's step failed unexpectedly");
    else if (is === "failed") log.info(fields, "a document failed");
  }
}

async function recordOutcomes(
  { deps, input, step, fence }: Begun,
  ended: readonly Ended[],
): Promise<GroupOutcome> {
  const verdicts = ended.map((entry) => ({ id: entry.member.id, cause: entry.error, ...verdict(entry) }));
  logCauses(deps, { organization_id: input.organization.id, claim_id: input.claimId, step }, verdicts);
  const failures = verdicts.flatMap((entry) =>
    entry.is === "failed" ? [{ id: entry.id, error: entry.error }] : [],
  );
  const waiting = verdicts.flatMap((entry) => (entry.is === "waiting" ? [entry] : []));
  for (const { error } of failures) pipelineOutcomes.inc({ outcome: "failed", code: error.code });
  for (const { code } of waiting) pipelineOutcomes.inc({ outcome: "waiting", code });
  const retryAfter = waiting.map((entry) => entry.retryAfterSeconds ?? 0);
  const retryAfterSeconds = retryAfter.length > 0 ? Math.max(...retryAfter) : null;
  let newlyWaiting: readonly string[] = [];
  const outcome = await inTenant(deps.db, input.organization, async (sql): Promise<GroupOutcome> => {
    if (failures.length > 0) await recordFailures(sql, fence, failures);
    if (waiting.length > 0)
      newlyWaiting = await recordWaiting(sql, fence, waiting, waitMs(input.round ?? 0, retryAfterSeconds));
    if (verdicts.length > 0) await releaseAttempt(sql, fence);
    const counts = await countMembers(sql, fence.claimId);
    if (counts.active === 0) await closeClaimIfDone(sql, fence.claimId);
    await setClaimWaiting(
      sql,
      fence.claimId,
      counts.active > 0 && counts.taken === 0 && (step === "embed" || counts.ready === 0),
    );
    return {
      completed: counts.completed,
      failed: counts.failed,
      gone: counts.total - counts.completed - counts.failed - counts.active,
      active: counts.active,
      ready: counts.ready,
      retryAfterSeconds,
      waits: counts.waits,
    };
  });
  for (const [code, runs] of Map.groupBy(
    waiting.filter((entry) => newlyWaiting.includes(entry.id)),
    (entry) => entry.code,
  )) {
    const runIds = runs.map((run) => run.id);
    deps.log.warn(
      {
        organization_id: input.organization.id,
        claim_id: input.claimId,
        code,
        run_ids: runIds,
        err: runs[0]?.cause,
      },
      "documents wait",
    );
  }
  return outcome;
}
