/** Asks Temporal how many tasks wait in its queues. */
import type { Client } from "@temporalio/client";
import proto from "@temporalio/proto";
import { withDeadline } from "../connection.ts";
import { QUEUES } from "../../domain/work/queues.ts";

export interface Backlog {
  readonly queue: string;
  readonly type: "workflow" | "activity";
  /** The server's estimate. */
  readonly count: number;
  /** The age of the oldest task. */
  readonly ageSeconds: number;
}

const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;
const TYPES = { workflow: TASK_QUEUE_TYPE_WORKFLOW, activity: TASK_QUEUE_TYPE_ACTIVITY } as const;
const ASKED = [
  ["pipeline", "workflow"],
  ["chat", "workflow"],
  ["parse", "activity"],
  ["embed", "activity"],
  ["isolated", "activity"],
  ["tools", "activity"],
  ["webhooks", "activity"],
] as const;

/** @throws what the client throws, after five seconds at most. */
export async function readBacklog(client: Client, namespace: string): Promise<Backlog[]> {
  return Promise.all(
    ASKED.map(async ([queue, type]) => {
      const request = {
        namespace,
        taskQueue: { name: QUEUES[queue] },
        taskQueueType: TYPES[type],
        reportStats: true,
      };
      const { stats } = await withDeadline(client, () => client.workflowService.describeTaskQueue(request));
      const age = stats?.approximateBacklogAge;
      return {
        queue,
        type,
        count: Number(stats?.approximateBacklogCount ?? 0),
        ageSeconds: Number(age?.seconds ?? 0) + (age?.nanos ?? 0) / 1e9,
      };
    }),
  );
}
