/** The workflow of an operator's request, such as rotating keys: runs steps until one reports the end. */
import { continueAsNew, sleep, upsertSearchAttributes, workflowInfo } from "@temporalio/workflow";
import type { OperationInput } from "../domain/work/operation.ts";
import { operator } from "./proxies.ts";

/**
 * It runs without an organization, because its payloads must not be encrypted under a key that it may delete.
 * @see test/workflows/operations/operations.own-stack.test.ts
 */
export async function operation(input: OperationInput): Promise<void> {
  for (;;) {
    const { done, waitSeconds } = await operator.operationStep(input);
    if (done) break;
    if (waitSeconds > 0) await sleep(waitSeconds * 1_000);
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof operation>(input);
  }
  upsertSearchAttributes({ Outcome: ["completed"], Stage: ["done"] });
}
