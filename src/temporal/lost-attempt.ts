/** The only place that tells Temporal of an attempt whose process died, sooner than it would miss its heartbeats. */
import { ActivityNotFoundError, type Client } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { PROCESS_LOST } from "../domain/work/processing.ts";
import { withDeadline } from "./connection.ts";

/** An attempt at an activity, as Temporal names it. */
export interface AttemptInHand {
  readonly workflowId: string;
  readonly runId: string;
  readonly activityId: string;
}

/** Fails the attempt as lost; one that has ended already stays as it is. @throws what the client throws. */
export async function reportLostAttempt(client: Client, attempt: AttemptInHand): Promise<void> {
  const failure = ApplicationFailure.nonRetryable("The process that had this in hand died.", PROCESS_LOST);
  try {
    await withDeadline(client, () => client.activity.fail(attempt, failure));
  } catch (error) {
    if (!(error instanceof ActivityNotFoundError)) throw error;
  }
}
