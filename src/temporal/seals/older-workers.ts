/** The only place that asks Temporal which workers of an older version still take work. */
import type { Client } from "@temporalio/client";
import proto from "@temporalio/proto";
import { withDeadline } from "../connection.ts";
import { understandsBoundPayloads } from "./identity.ts";
import { QUEUES } from "../queues.ts";

type Poller = proto.temporal.api.taskqueue.v1.IPollerInfo;

const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;
const { DESCRIBE_TASK_QUEUE_MODE_ENHANCED } = proto.temporal.api.enums.v1.DescribeTaskQueueMode;
/** A worker asks anew at least once a minute; Temporal remembers one that has ended for five. */
const ALIVE_MS = 75_000;

/**
 * Processes of before version 0.4.0 that have asked for work lately; an API process is one too, by the queue of chat.
 * @returns how they name themselves, as `PROCESS@MACHINE`. @throws what the client throws, after five seconds at most.
 */
export async function findOlderWorkers(client: Client, namespace: string, now: number = Date.now()): Promise<string[]> {
  const pollers = await Promise.all(Object.values(QUEUES).flatMap((queue) => [pollersOfAllParts(client, namespace, queue), pollersOfRoot(client, namespace, queue)]));
  const older = pollers.flat().filter(({ identity, lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1_000 > now - ALIVE_MS && !understandsBoundPayloads(identity ?? ""));
  return [...new Set(older.map(({ identity }) => identity ?? ""))].toSorted();
}

/** A queue has parts, and a worker asks one of them. The server says so of all only in this mode, which later servers may not have. */
async function pollersOfAllParts(client: Client, namespace: string, queue: string): Promise<Poller[]> {
  const request = { namespace, taskQueue: { name: queue }, apiMode: DESCRIBE_TASK_QUEUE_MODE_ENHANCED, versions: { unversioned: true }, reportPollers: true };
  const { versionsInfo } = await withDeadline(client, () => client.workflowService.describeTaskQueue(request));
  return Object.values(versionsInfo ?? {}).flatMap(({ typesInfo }) => Object.values(typesInfo ?? {}).flatMap(({ pollers }) => pollers ?? []));
}

async function pollersOfRoot(client: Client, namespace: string, queue: string): Promise<Poller[]> {
  const found = await Promise.all(
    [TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY].map((taskQueueType) =>
      withDeadline(client, () => client.workflowService.describeTaskQueue({ namespace, taskQueue: { name: queue }, taskQueueType })),
    ),
  );
  return found.flatMap(({ pollers }) => pollers ?? []);
}
