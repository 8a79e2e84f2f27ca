/**
 * How a workflow tells an outage from a lost attempt. It waits for an outage to end, however long that takes;
 * after a lost attempt it starts the next one at once and says that the one before was lost.
 */
import { ActivityFailure, ApplicationFailure, TimeoutFailure, isCancellation } from "@temporalio/workflow";
import { PROCESS_LOST } from "../domain/work/processing.ts";

/** True if the worker's heartbeats stopped (it or its machine was lost) or its process was seen to die. */
function isLost(error: unknown): boolean {
  if (!(error instanceof ActivityFailure)) return false;
  const { cause } = error;
  return (
    (cause instanceof TimeoutFailure && cause.timeoutType === "HEARTBEAT") ||
    (cause instanceof ApplicationFailure && cause.type === PROCESS_LOST)
  );
}

/**
 * Runs one activity that writes its outcomes to the database itself, again and again while its attempts are
 * lost.
 * @param step gets `lost: true` if the attempt before it was lost.
 * @returns null if the activity failed without losing its worker, so that no outcome was written: the caller
 * waits and tries again.
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
