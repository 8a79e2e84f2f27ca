/** The states of a run of the document pipeline, and the limits that shape its work. */

export const ACTIVE_STATUSES = ["queued", "parsing", "chunking", "embedding"] as const;
export const RUN_STATUSES = [...ACTIVE_STATUSES, "completed", "failed", "cancelled"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const TRIGGERS = ["upload", "reprocess", "batch", "replace", "restore"] as const;
export type Trigger = (typeof TRIGGERS)[number];

/** Uploads and single requests go before batches. */
export const PRIORITY = { interactive: 0, batch: 1 } as const;
export type Priority = (typeof PRIORITY)[keyof typeof PRIORITY];

export interface RunError {
  readonly stage: "parsing" | "chunking" | "embedding" | "publishing";
  readonly code: string;
  readonly message: string;
}

/** The code of the warning for a chunk that is published without a vector, because the model's provider refuses its text. */
export const NOT_EMBEDDED = "not_embedded";

/** What the workflow of a group is told: ids only. */
export interface PipelineInput {
  readonly organization: { readonly id: string; readonly num: number };
  readonly claimId: string;
  /** The claim's one run is suspected of ending its worker: it is worked on in a process that has nothing else in hand. */
  readonly isolated: boolean;
}

export interface AttemptInput extends PipelineInput {
  /** True where the attempt before was lost with its worker (Temporal saw no heartbeat any more, or was told so). */
  readonly lost: boolean;
  /** Rounds of waiting that the workflow has behind it; absent where the version before started the activity. */
  readonly round?: number;
}

/** Members of a group that wait for the same. */
export interface GroupWait {
  readonly code: string;
  readonly runs: number;
  /** ISO 8601. */
  readonly since: string;
}

/** How a group stands after an activity. */
export interface GroupOutcome {
  readonly completed: number;
  readonly failed: number;
  /** Members that are no longer this claim's: cancelled, superseded, deleted, or suspected now, and queued again. */
  readonly gone: number;
  /** Members that have not ended: they are ready for the next step, or wait for an outage to end. */
  readonly active: number;
  /** Active members that are prepared, so that they can be embedded and published. */
  readonly ready: number;
  /** Seconds after which an outage may be over, where somebody said so. */
  readonly retryAfterSeconds: number | null;
  /** What active members wait for; absent where the version before answered. */
  readonly waits?: readonly GroupWait[];
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

/** Milliseconds to wait after attempt number `count` (from 0): doubling from one second to thirty, never less than what was asked for. */
export function waitMs(count: number, retryAfterSeconds: number | null): number {
  const backoff = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(count, 10));
  return Math.max(backoff, (retryAfterSeconds ?? 0) * 1_000);
}

/** The type of the failure of an attempt whose process was seen to die. */
export const PROCESS_LOST = "process_lost";

export const MAX_CLAIM_RUNS = 32;
/** Processes that may be lost with a suspected run, each having nothing else in hand, before it ends `worker_crashed`. */
export const MAX_ISOLATED_LOSSES = 3;
/** Files above this many bytes go alone, so that small ones never wait behind them. */
export const ALONE_ABOVE_BYTES = 1_048_576;

/**
 * What a run may be claimed together with: `quick` runs are over in moments, `middle` ones are small files that may be pictures to read,
 * `large` ones go alone. The numbers are those of `run_lane` in the database.
 */
export const LANES = { quick: 0, middle: 1, large: 2 } as const;
export type Lane = (typeof LANES)[keyof typeof LANES];
/** Chunks that one publish transaction may index; larger documents are indexed in batches under cover. */
export const MAX_PUBLISH_CHUNKS = 512;
export const MAX_DOCUMENT_CHUNKS = 100_000;

export const DEFAULT_CHUNKER = "page_based";
