/** The only list of time-outs and retry policies of chat's activities. Queues come with the input: an API process has one of its own. */
import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from "@temporalio/workflow";
import type { ChatActivities } from "../activities/chat.ts";
import type { ToolActivities } from "../activities/tools.ts";

/**
 * What only one API process can do, since it holds the turn. One attempt: a second one would find nothing, or pay twice. No limit on
 * the wait for a start: a busy process adopts late what it has delivered long ago. A dead one falls silent, or its lease ends.
 */
const held = {
  startToCloseTimeout: "15 minutes",
  heartbeatTimeout: "10 seconds",
  retry: { maximumAttempts: 1 },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
} as const;

/**
 * Activities that run with the workflow's own task, which is as a rule in the API process that holds the turn: two round trips and half
 * of the server's work less than through a queue. One attempt: what fails goes to the queue, with its retries.
 */
export const here = proxyLocalActivities<Pick<ChatActivities, "callModel"> & ToolActivities>({
  startToCloseTimeout: "15 minutes",
  retry: { maximumAttempts: 1 },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

export function apiProcess(taskQueue: string) {
  return proxyActivities<ChatActivities>({ ...held, taskQueue });
}

/** Tools only read, so a lost attempt is simply repeated; hopeless errors say so themselves and are not. */
export function toolRunners(taskQueue: string) {
  return proxyActivities<ToolActivities>({
    taskQueue,
    startToCloseTimeout: "30 seconds",
    scheduleToCloseTimeout: "60 seconds",
    heartbeatTimeout: "5 seconds",
    retry: {
      initialInterval: "250 milliseconds",
      backoffCoefficient: 3,
      maximumInterval: "5 seconds",
      maximumAttempts: 4,
    },
    cancellationType: ActivityCancellationType.TRY_CANCEL,
  });
}
