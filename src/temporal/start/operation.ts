/** Starts the workflow of an operation. */
import { type Client, WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { TypedSearchAttributes, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from "@temporalio/common";
import type { OperationInput } from "../../domain/work/operation.ts";
import { operationWorkflowId } from "../../domain/work/workflow-ids.ts";
import { withDeadline } from "../connection.ts";
import { QUEUES } from "../../domain/work/queues.ts";
import { ATTRIBUTES } from "../search-attributes.ts";

/** Starts the operation's workflow unless it runs already. Its steps are idempotent. */
export async function startOperation(client: Client, input: OperationInput, kind: string): Promise<void> {
  try {
    await withDeadline(client, () =>
      client.workflow.start("operation", {
        taskQueue: QUEUES.pipeline,
        workflowId: operationWorkflowId(input.operationId),
        args: [input],
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
        staticSummary: kind.replace("_", " "),
        typedSearchAttributes: new TypedSearchAttributes([
          { key: ATTRIBUTES.Trigger, value: "operator" },
          { key: ATTRIBUTES.Stage, value: kind },
        ]),
      }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
