/** The messages between a batch's workflow and its activity, and the limits of a batch. */
import { ACTIVE_STATUSES, RUN_STATUSES, type RunStatus } from "./processing.ts";

export interface BatchInput {
  readonly organization: { readonly id: string; readonly num: number };
  readonly batchId: string;
}

export type BatchStatus = "running" | "paused" | "cancelled" | "completed";

/** What one step did, and the state of the batch after it. */
export interface BatchStep {
  readonly status: BatchStatus;
  readonly released: number;
  readonly cancelled: number;
  /** Runs that are released and have not ended. */
  readonly open: number;
  /** True when every run has ended. */
  readonly done: boolean;
}

/**
 * How many released runs of a batch may be unfinished: enough to keep the workers busy, few enough that a
 * pause takes effect at once.
 */
export const BATCH_WINDOW_RUNS = 128;
export const MAX_BATCH_DOCUMENTS = 100_000;
export const CANCELS_A_STEP = 5_000;

interface BatchState {
  readonly status: BatchStatus;
  readonly accepted: number;
  /** Runs by status, without those whose document was purged meanwhile. */
  readonly counts: Partial<Record<RunStatus, number>>;
  readonly started_at: Date | null;
  readonly completed_at: Date | null;
  /** Runs that completed or failed within the last minute. */
  readonly ended_lately: number;
}

const MINUTE_MS = 60_000;
/** A rate over a shorter time means nothing. */
const SHORTEST_RATE_MS = 1_000;

/** Counts, progress (0 to 1), rate and remaining time of a batch, from the states of its runs. */
export function describeBatch(batch: BatchState, nowMs: number) {
  const count = (status: RunStatus): number => batch.counts[status] ?? 0;
  const known = RUN_STATUSES.reduce((sum, status) => sum + count(status), 0);
  const active = ACTIVE_STATUSES.reduce((sum, status) => sum + count(status), 0);
  const rate = ratePerMinute(batch, count("completed") + count("failed"), nowMs);
  const isMoving = batch.status === "running" && rate !== null && rate > 0;
  return {
    counts: Object.fromEntries(
      RUN_STATUSES.map((status) => [
        status,
        count(status) + (status === "cancelled" ? batch.accepted - known : 0),
      ]),
    ) as Record<RunStatus, number>,
    progress: batch.accepted === 0 ? 1 : (batch.accepted - active) / batch.accepted,
    documents_per_minute: rate,
    estimated_seconds_left: isMoving ? Math.ceil((active / rate) * 60) : null,
  };
}

/** The rate over the last minute, or a whole batch that has ended. Null before its first run. */
function ratePerMinute(
  { started_at, completed_at, ended_lately }: BatchState,
  ended: number,
  nowMs: number,
): number | null {
  if (started_at === null) return null;
  const spanMs = (completed_at?.getTime() ?? nowMs) - started_at.getTime();
  const perMinute =
    completed_at === null
      ? (ended_lately * MINUTE_MS) / clamp(spanMs, MINUTE_MS)
      : (ended * MINUTE_MS) / clamp(spanMs, Infinity);
  return Math.round(perMinute * 10) / 10;
}

function clamp(spanMs: number, mostMs: number): number {
  return Math.min(mostMs, Math.max(SHORTEST_RATE_MS, spanMs));
}
