/** Which activities run on which task queue, and how many of them a process runs at once. */
import { PAUSES } from "#timings";
import { type NativeConnection, Worker, type WorkerOptions } from "@temporalio/worker";
import type { Activities } from "../activities/index.ts";
import type { SharedDeps } from "../deps.ts";
import { QUEUES } from "../domain/work/queues.ts";
import { processIdentity } from "../temporal/seals/identity.ts";

const SHUTDOWN_GRACE = "20 seconds";

/**
 * More slots than the claims that a few organizations may have open (db/runs/claim-order.ts), because a claim
 * of slow documents keeps its slot until they are done. Slots are not the bottleneck: parser processes,
 * embedding calls and database connections each have a limit of their own.
 */
const DOCUMENT_SLOTS = 64;

/** Many, because a hanging endpoint keeps its slot for ten seconds; attempts have their own limit. */
const DELIVERY_SLOTS = 200;

const HOSTED = {
  parse: { activities: ["prepareDocuments"], atOnce: DOCUMENT_SLOTS },
  embed: {
    activities: [
      "embedAndPublish",
      "purgeStep",
      "stepBatch",
      "listOrganizations",
      "maintainInstance",
      "maintainOrganization",
      "listSpacesToTend",
      "tendSpace",
      "operationStep",
    ],
    atOnce: DOCUMENT_SLOTS,
  },
  // One at a time, so that whatever kills the process was this document.
  isolated: { activities: ["prepareDocuments", "embedAndPublish"], atOnce: 1 },
  tools: { activities: ["runTool"], atOnce: 20 },
  webhooks: { activities: ["deliverWebhook"], atOnce: DELIVERY_SLOTS },
} as const satisfies Record<string, { activities: ReadonlyArray<keyof Activities>; atOnce: number }>;

export type ActivityQueue = keyof typeof HOSTED;

type ConnectedDeps = Pick<SharedDeps, "config" | "workerDataConverter" | "workerHooks">;

export function workerOptions(
  { config, workerDataConverter, workerHooks }: ConnectedDeps,
  connection: NativeConnection,
) {
  const { namespace } = config.temporal;
  return {
    ...workerHooks,
    connection,
    namespace,
    dataConverter: workerDataConverter,
    identity: processIdentity(),
    shutdownGraceTime: SHUTDOWN_GRACE,
  } as const;
}

export async function createActivityWorker(
  queue: ActivityQueue,
  activities: Activities,
  options: Pick<
    WorkerOptions,
    | "connection"
    | "namespace"
    | "identity"
    | "dataConverter"
    | "interceptors"
    | "sinks"
    | "shutdownGraceTime"
    | "shutdownForceTime"
  >,
): Promise<Worker> {
  const { activities: names, atOnce } = HOSTED[queue];
  return Worker.create({
    ...options,
    taskQueue: QUEUES[queue],
    activities: Object.fromEntries(names.map((name) => [name, activities[name]])),
    maxConcurrentActivityTaskExecutions: atOnce,
    maxHeartbeatThrottleInterval: PAUSES.heartbeat,
    defaultHeartbeatThrottleInterval: PAUSES.heartbeat,
  });
}
