/** The only list of time-outs and retry policies of pipeline activities, by class of work. */
import { proxyActivities } from "@temporalio/workflow";
import type { Activities } from "../activities/index.ts";

/**
 * One attempt at a time: the workflow itself starts the next, because it alone can tell an attempt that was lost with its
 * worker (no heartbeat, or its process was seen to die) from one that ended in order. Bounded by heartbeats, not by how long a large document takes.
 */
const attempt = {
  startToCloseTimeout: "24 hours",
  heartbeatTimeout: "10 seconds",
  retry: { maximumAttempts: 1 },
} as const;

export const parse = proxyActivities<Pick<Activities, "prepareDocuments">>({
  ...attempt,
  taskQueue: "parse",
});
export const embed = proxyActivities<Pick<Activities, "embedAndPublish">>({ ...attempt, taskQueue: "embed" });

/** Both steps of a document that may have ended its worker. */
export const isolated = proxyActivities<Pick<Activities, "prepareDocuments" | "embedAndPublish">>({
  ...attempt,
  taskQueue: "isolated",
});

/** A deletion is never given up: whatever is down, it goes on when it is back. */
export const purge = proxyActivities<Pick<Activities, "purgeStep">>({
  taskQueue: "embed",
  startToCloseTimeout: "10 minutes",
  heartbeatTimeout: "10 seconds",
  retry: { initialInterval: "1 second", maximumInterval: "30 seconds", backoffCoefficient: 2 },
});

/** A batch goes on for as long as it has runs; its steps are short. */
export const batch = proxyActivities<Pick<Activities, "stepBatch">>({
  taskQueue: "embed",
  startToCloseTimeout: "1 minute",
  heartbeatTimeout: "10 seconds",
  retry: { initialInterval: "1 second", maximumInterval: "30 seconds", backoffCoefficient: 2 },
});

/** What fails is left to the next round: a schedule brings it. */
export const maintain = proxyActivities<
  Pick<Activities, "listOrganizations" | "maintainInstance" | "maintainOrganization">
>({
  taskQueue: "embed",
  startToCloseTimeout: "2 hours",
  heartbeatTimeout: "10 seconds",
  retry: { initialInterval: "1 second", maximumAttempts: 3 },
});

/** What fails is left to the next round, a minute later. */
export const tend = proxyActivities<Pick<Activities, "listSpacesToTend" | "tendSpace">>({
  taskQueue: "embed",
  startToCloseTimeout: "2 hours",
  heartbeatTimeout: "20 seconds",
  retry: { initialInterval: "1 second", maximumAttempts: 2 },
});

/** What an operator asked for is never given up. */
export const operator = proxyActivities<Pick<Activities, "operationStep">>({
  taskQueue: "embed",
  startToCloseTimeout: "2 hours",
  heartbeatTimeout: "10 seconds",
  retry: { initialInterval: "1 second", maximumInterval: "30 seconds", backoffCoefficient: 2 },
});
