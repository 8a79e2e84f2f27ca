/** How a workflow takes an outage and a lost attempt: the first by waiting, for as long as it lasts, the second by telling the next attempt. */
import { ActivityFailure, ApplicationFailure, TimeoutFailure, isCancellation } from "@temporalio/workflow";
import { PROCESS_LOST } from "../domain/processing.ts";

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

/** Milliseconds to wait after attempt number `count` (from 0): doubling from one second to thirty, never less than what was asked for. */
export function waitMs(count: number, retryAfterSeconds: number | null): number {
  const backoff = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(count, 10));
  return Math.max(backoff, (retryAfterSeconds ?? 0) * 1_000);
}

/** True where the activity's worker fell silent, because it was killed or its machine was lost, and where somebody saw its process die. */
function isLost(error: unknown): boolean {
  if (!(error instanceof ActivityFailure)) return false;
  const { cause } = error;
  return (cause instanceof TimeoutFailure && cause.timeoutType === "HEARTBEAT") || (cause instanceof ApplicationFailure && cause.type === PROCESS_LOST);
}

/**
 * Runs one activity that records outcomes itself. After a lost attempt the next one is told so, at once.
 * @returns null where the attempt failed in order (nothing could be recorded): the caller waits and tries again.
 * @throws only on cancellation.
 */
export async function attempt<Outcome>(step: (lost: boolean) => Promise<Outcome>): Promise<Outcome | null> {
  for (let lost = false; ; lost = true) {
    try {
      return await step(lost);
    } catch (error) {
      if (isCancellation(error)) throw error;
      if (!isLost(error)) return null;
    }
  }
}
