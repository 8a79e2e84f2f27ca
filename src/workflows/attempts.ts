/** How a workflow takes an outage and a lost attempt: the first by waiting, for as long as it lasts, the second by telling the next attempt. */
import { ActivityFailure, ApplicationFailure, TimeoutFailure, isCancellation } from "@temporalio/workflow";
import { PROCESS_LOST } from "../domain/work/processing.ts";

/** True where the activity's worker fell silent, because it was killed or its machine was lost, and where somebody saw its process die. */
function isLost(error: unknown): boolean {
  if (!(error instanceof ActivityFailure)) return false;
  const { cause } = error;
  return (
    (cause instanceof TimeoutFailure && cause.timeoutType === "HEARTBEAT") ||
    (cause instanceof ApplicationFailure && cause.type === PROCESS_LOST)
  );
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
