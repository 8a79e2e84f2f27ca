/** Reports an attempt whose process died to Temporal, before the missing heartbeats would. */
import { ActivityNotFoundError, type Client } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { PROCESS_LOST } from "../domain/work/processing.ts";
import { withDeadline } from "./connection.ts";

/** Names an attempt at an activity for Temporal. */
export interface AttemptIds {
  readonly workflowId: string;
  readonly runId: string;
  readonly activityId: string;
}

/** Fails the attempt as lost. Does nothing if it has ended already. @throws what the client throws */
export async function reportLostAttempt(client: Client, attempt: AttemptIds): Promise<void> {
  const failure = ApplicationFailure.nonRetryable("The process working on this stopped.", PROCESS_LOST);
  try {
    await withDeadline(client, () => client.activity.fail(attempt, failure));
  } catch (error) {
    if (!(error instanceof ActivityNotFoundError)) throw error;
  }
}
