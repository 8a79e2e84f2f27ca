/** What a batch's workflow and its activity tell one another, and the limits of a batch: ids and counts. */

export interface BatchInput {
  readonly organization: { readonly id: string; readonly num: number };
  readonly batchId: string;
}

export type BatchStatus = "running" | "paused" | "cancelled" | "completed";

/** What one step did, and how the batch stands behind it. */
export interface BatchStep {
  readonly status: BatchStatus;
  /** Runs that this step released to the queue. */
  readonly released: number;
  /** Runs that this step cancelled. */
  readonly cancelled: number;
  /** Runs that are released and have not ended. */
  readonly open: number;
  /** True once every run has ended. */
  readonly done: boolean;
}

/** Runs of a batch that are released and have not ended: enough that no worker waits, few enough that a pause shows at once. */
export const BATCH_WINDOW_RUNS = 128;
export const MAX_BATCH_DOCUMENTS = 100_000;
/** Runs that one statement cancels. */
export const CANCELS_A_STEP = 5_000;
