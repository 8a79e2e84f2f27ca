/** Time-outs and retry policies of the activities of the pipeline and of upkeep, by class of work. */
import { DEADLINES, PAUSES } from "#timings";
import { proxyActivities } from "@temporalio/workflow";
import type { Activities } from "../activities/index.ts";

const WITHOUT_END = {
  initialInterval: PAUSES.retry,
  maximumInterval: PAUSES.longestRetry,
  backoffCoefficient: 2,
} as const;

/**
 * One attempt: the workflow starts the next one itself, because it can tell an attempt that was lost with its
 * worker (no heartbeats, or its process was seen to die) from one that failed in order. Heartbeats bound it,
 * since a large document may take hours.
 */
const attempt = {
  startToCloseTimeout: "24 hours",
  heartbeatTimeout: DEADLINES.heartbeat,
  retry: { maximumAttempts: 1 },
} as const;

export const parse = proxyActivities<Pick<Activities, "prepareDocuments">>({
  ...attempt,
  taskQueue: "parse",
});
export const embed = proxyActivities<Pick<Activities, "embedAndPublish">>({ ...attempt, taskQueue: "embed" });

/** Both steps of a document that is suspected of having killed its worker. */
export const isolated = proxyActivities<Pick<Activities, "prepareDocuments" | "embedAndPublish">>({
  ...attempt,
  taskQueue: "isolated",
});

/** Retried without end: a deletion goes on when what was down is back. */
export const purge = proxyActivities<Pick<Activities, "purgeStep">>({
  taskQueue: "embed",
  startToCloseTimeout: "10 minutes",
  heartbeatTimeout: DEADLINES.heartbeat,
  retry: WITHOUT_END,
});

/** Retried without end, in short steps: a batch lasts as long as it has runs. */
export const batch = proxyActivities<Pick<Activities, "stepBatch">>({
  taskQueue: "embed",
  startToCloseTimeout: "1 minute",
  heartbeatTimeout: DEADLINES.heartbeat,
  retry: WITHOUT_END,
});

/** A few attempts: the schedule brings the next round. */
export const maintain = proxyActivities<
  Pick<Activities, "listOrganizations" | "maintainInstance" | "maintainOrganization">
>({
  taskQueue: "embed",
  startToCloseTimeout: "2 hours",
  heartbeatTimeout: DEADLINES.heartbeat,
  retry: { initialInterval: PAUSES.retry, maximumAttempts: 3 },
});

/** Two attempts: the schedule brings the next round a minute later. */
export const upkeep = proxyActivities<Pick<Activities, "listSpacesToTend" | "tendSpace">>({
  taskQueue: "embed",
  startToCloseTimeout: "2 hours",
  heartbeatTimeout: DEADLINES.indexHeartbeat,
  retry: { initialInterval: PAUSES.retry, maximumAttempts: 2 },
});

/** Retried without end: an operator asked for it. */
export const operator = proxyActivities<Pick<Activities, "operationStep">>({
  taskQueue: "embed",
  startToCloseTimeout: "2 hours",
  heartbeatTimeout: DEADLINES.heartbeat,
  retry: WITHOUT_END,
});

/** Retried without end: what is down is the service's own, and a receiver that is down is an outcome. */
export const webhooks = proxyActivities<Pick<Activities, "deliverWebhook">>({
  taskQueue: "webhooks",
  startToCloseTimeout: "2 minutes",
  heartbeatTimeout: DEADLINES.heartbeat,
  retry: WITHOUT_END,
});
