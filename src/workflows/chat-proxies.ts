/** Time-outs and retries of the activities of chat. Each API process's queue comes with the input. */
import { DEADLINES } from "#timings";
import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from "@temporalio/workflow";
import type { ChatActivities } from "../activities/chat.ts";
import type { ToolActivities } from "../activities/tools.ts";

/**
 * For work that only the API process with the turn in memory can do. One attempt: a second would find no
 * turn, or pay for a model call twice. There is no schedule-to-start time-out, because a busy process may
 * come to it long after it has sent the answer; a process that died stops its heartbeats, or its lease ends.
 */
const inApiProcess = {
  startToCloseTimeout: "15 minutes",
  heartbeatTimeout: DEADLINES.heartbeat,
  retry: { maximumAttempts: 1 },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
} as const;

/**
 * Local activities: they run together with the workflow task, usually in the API process that has the turn in
 * memory. That saves two round trips and half of the Temporal server's work. One attempt: after a failure the
 * call goes through a queue, with retries.
 */
export const local = proxyLocalActivities<Pick<ChatActivities, "callModel"> & ToolActivities>({
  startToCloseTimeout: "15 minutes",
  retry: { maximumAttempts: 1 },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

export function apiProcess(taskQueue: string) {
  return proxyActivities<ChatActivities>({ ...inApiProcess, taskQueue });
}

/** Tools only read, so a lost attempt is repeated. What no retry mends is thrown as non-retryable. */
export function toolRunners(taskQueue: string) {
  return proxyActivities<ToolActivities>({
    taskQueue,
    startToCloseTimeout: "30 seconds",
    scheduleToCloseTimeout: "60 seconds",
    heartbeatTimeout: DEADLINES.toolHeartbeat,
    retry: {
      initialInterval: "250 milliseconds",
      backoffCoefficient: 3,
      maximumInterval: "5 seconds",
      maximumAttempts: 4,
    },
    cancellationType: ActivityCancellationType.TRY_CANCEL,
  });
}
