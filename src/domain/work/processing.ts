/** The states of a run of the document pipeline, and the limits that shape its work. */
import { PAUSES } from "#timings";

export const ACTIVE_STATUSES = ["queued", "parsing", "chunking", "embedding"] as const;
export const RUN_STATUSES = [...ACTIVE_STATUSES, "completed", "failed", "cancelled"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export function hasEnded(status: RunStatus): boolean {
  return !(ACTIVE_STATUSES as readonly RunStatus[]).includes(status);
}

export const TRIGGERS = ["upload", "reprocess", "batch", "replace", "restore"] as const;
export type Trigger = (typeof TRIGGERS)[number];

/** Runs of uploads and single requests go before those of batches. */
export const PRIORITY = { interactive: 0, batch: 1 } as const;
export type Priority = (typeof PRIORITY)[keyof typeof PRIORITY];

export interface RunError {
  readonly stage: "parsing" | "chunking" | "embedding" | "publishing";
  readonly code: string;
  readonly message: string;
}

/** The warning's code for a chunk without a vector: the model's provider refuses its text. */
export const NOT_EMBEDDED = "not_embedded";

export interface PipelineInput {
  readonly organization: { readonly id: string; readonly num: number };
  readonly claimId: string;
  /** True if the claim's only run is suspected of killing its worker, so that it gets its own process. */
  readonly isolated: boolean;
}

export interface AttemptInput extends PipelineInput {
  /** True if the attempt before was lost: its heartbeats stopped, or its process was seen to die. */
  readonly lost: boolean;
  /** How many times the workflow has waited already; absent if an older version started the activity. */
  readonly round?: number;
}

/** How many members of a claim wait for the same thing. */
export interface GroupWait {
  readonly code: string;
  readonly runs: number;
  /** ISO 8601. */
  readonly since: string;
}

/** The state of a claim's members after an activity. */
export interface GroupOutcome {
  readonly completed: number;
  readonly failed: number;
  /** Members that left the claim: cancelled, superseded, deleted, or queued again as suspected. */
  readonly gone: number;
  /** Members that have not ended: ready for the next step, or waiting for an outage to end. */
  readonly active: number;
  /** Active members that are prepared, so that they can be embedded and published now. */
  readonly ready: number;
  /** The seconds after which an outage may be over, if the other side named them. */
  readonly retryAfterSeconds: number | null;
  /** What active members wait for; absent in the answer of an older version. */
  readonly waits?: readonly GroupWait[];
}

/**
 * Milliseconds to wait after attempt `count` (from 0): 1 s, doubling to 30 s, but never less than
 * `retryAfterSeconds`.
 * @example waitMs(0, null) // 1000
 * @example waitMs(0, 90) // 90000
 */
export function waitMs(count: number, retryAfterSeconds: number | null): number {
  const backoff = Math.min(PAUSES.longestRetry, PAUSES.retry * 2 ** Math.min(count, 10));
  return Math.max(backoff, (retryAfterSeconds ?? 0) * 1_000);
}

/** The type of the failure of an attempt whose process was seen to die. */
export const PROCESS_LOST = "process_lost";

export const MAX_CLAIM_RUNS = 32;
/** How many processes of its own a suspected run may kill before it fails with `worker_crashed`. */
export const MAX_ISOLATED_LOSSES = 3;
/** Larger files get a claim of their own, so that small ones never wait for them. */
export const LARGE_ABOVE_BYTES = 1_048_576;

/**
 * Runs of one lane are claimed together: `quick` ones take moments, `middle` ones are small files that may
 * need OCR, `large` ones get a claim of their own. The numbers are those of `run_lane` in the database.
 */
export const LANES = { quick: 0, middle: 1, large: 2 } as const;
export type Lane = (typeof LANES)[keyof typeof LANES];
/** Chunks that one publishing transaction indexes. A larger document is hidden until its last one. */
export const MAX_PUBLISH_CHUNKS = 512;
export const MAX_DOCUMENT_CHUNKS = 100_000;

export const DEFAULT_CHUNKER = "page_based";

/** How an attempt of a run stands or ended. */
export const ATTEMPT_OUTCOMES = [
  "running",
  "done",
  "waiting",
  "failed",
  "lost",
  "released",
  "superseded",
] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];
