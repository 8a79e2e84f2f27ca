/** Starts the workflow `listens` of sealed-workflows.ts under ids that nobody else uses. */
import { randomUUID } from "node:crypto";
import type { SealedWorkers } from "./sealed-workers.ts";

export const newWorkflow = (name = "test"): string => `${name}/${randomUUID()}/${randomUUID()}`;

/** Starts `listens` with the input `first`. */
export function listenOn({ client, taskQueue }: SealedWorkers, workflowId: string) {
  return client.workflow.start<(text: string) => Promise<string[]>>("listens", {
    taskQueue: `${taskQueue}-tests`,
    workflowId,
    args: ["first"],
  });
}
