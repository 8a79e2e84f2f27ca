/** Starts the workflow of a deletion. */
import { type Client, WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { TypedSearchAttributes, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from "@temporalio/common";
import type { DeletionInput } from "../../domain/work/deletion.ts";
import { deletionWorkflowId } from "../../domain/work/workflow-ids.ts";
import { withDeadline } from "../connection.ts";
import { QUEUES } from "../../domain/work/queues.ts";
import { ATTRIBUTES } from "../search-attributes.ts";

/** Starts the deletion's workflow unless it runs, also again after a termination: steps are idempotent. */
export async function startDeletion(client: Client, input: DeletionInput, kind: string): Promise<void> {
  try {
    await withDeadline(client, () =>
      client.workflow.start("deleteTarget", {
        taskQueue: QUEUES.pipeline,
        workflowId: deletionWorkflowId(input.organization.id, input.deletionId),
        args: [input],
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
        priority: { priorityKey: 3, fairnessKey: input.organization.id },
        staticSummary: `deletes a ${kind.replace("_", " ")}`,
        typedSearchAttributes: new TypedSearchAttributes([
          { key: ATTRIBUTES.OrganizationId, value: input.organization.id },
          { key: ATTRIBUTES.Trigger, value: "delete" },
          { key: ATTRIBUTES.Stage, value: "deleting" },
        ]),
      }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
