/** Asks Temporal who polls a task queue. */
import type { Client } from "@temporalio/client";
import proto from "@temporalio/proto";
import { withDeadline } from "../connection.ts";
import type { QUEUES } from "../../domain/work/queues.ts";

type Poller = proto.temporal.api.taskqueue.v1.IPollerInfo;

const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;
const { DESCRIBE_TASK_QUEUE_MODE_ENHANCED } = proto.temporal.api.enums.v1.DescribeTaskQueueMode;
/** A worker polls at least once a minute; Temporal remembers one that has ended for five minutes. */
const ALIVE_MS = 75_000;

/**
 * Lists the processes that have polled the queue lately.
 * @returns their identities, `PROCESS@MACHINE`, each once.
 * @throws what the client throws, after at most five seconds
 */
export async function listPollers(
  client: Client,
  namespace: string,
  queue: (typeof QUEUES)[keyof typeof QUEUES],
  now: number = Date.now(),
): Promise<string[]> {
  const pollers = await Promise.all([
    pollersOfAllParts(client, namespace, queue),
    pollersOfRoot(client, namespace, queue),
  ]);
  const alive = pollers
    .flat()
    .filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1_000 > now - ALIVE_MS);
  return [...new Set(alive.map(({ identity }) => identity ?? ""))];
}

/** A worker polls one partition of a queue. Only this mode reports all; later servers may drop it. */
async function pollersOfAllParts(client: Client, namespace: string, queue: string): Promise<Poller[]> {
  const request = {
    namespace,
    taskQueue: { name: queue },
    apiMode: DESCRIBE_TASK_QUEUE_MODE_ENHANCED,
    versions: { unversioned: true },
    reportPollers: true,
  };
  const { versionsInfo } = await withDeadline(client, () =>
    client.workflowService.describeTaskQueue(request),
  );
  return Object.values(versionsInfo ?? {}).flatMap(({ typesInfo }) =>
    Object.values(typesInfo ?? {}).flatMap(({ pollers }) => pollers ?? []),
  );
}

async function pollersOfRoot(client: Client, namespace: string, queue: string): Promise<Poller[]> {
  const found = await Promise.all(
    [TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY].map((taskQueueType) =>
      withDeadline(client, () =>
        client.workflowService.describeTaskQueue({ namespace, taskQueue: { name: queue }, taskQueueType }),
      ),
    ),
  );
  return found.flatMap(({ pollers }) => pollers ?? []);
}
