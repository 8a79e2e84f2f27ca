/** The workflow of what an operator asked for: rotating keys, or deleting an organization. Step by step, until a step says that all is done. */
import { continueAsNew, sleep, upsertSearchAttributes, workflowInfo } from "@temporalio/workflow";
import type { OperationInput } from "../domain/work/operation.ts";
import { operator } from "./proxies.ts";

/** Belongs to no organization, so that it is not encrypted under a key that it deletes. */
export async function operation(input: OperationInput): Promise<void> {
  for (;;) {
    const { done, waitSeconds } = await operator.operationStep(input);
    if (done) break;
    if (waitSeconds > 0) await sleep(waitSeconds * 1_000);
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof operation>(input);
  }
  upsertSearchAttributes({ Outcome: ["completed"], Stage: ["done"] });
}
