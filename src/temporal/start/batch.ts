/** Starts the workflow of a batch. */
import { type Client, WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { TypedSearchAttributes, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from "@temporalio/common";
import type { BatchInput } from "../../domain/work/batch.ts";
import { batchWorkflowId } from "../../domain/work/workflow-ids.ts";
import { withDeadline } from "../connection.ts";
import { QUEUES } from "../../domain/work/queues.ts";
import { ATTRIBUTES } from "../search-attributes.ts";

interface StartableBatch {
  readonly id: string;
  readonly organization: { readonly id: string; readonly num: number };
  /** How many documents have a run. */
  readonly accepted: number;
}

/** Starts the batch's workflow unless it runs, also again after a termination: steps are idempotent. */
export async function startBatch(
  client: Client,
  { id, organization, accepted }: StartableBatch,
): Promise<void> {
  const input: BatchInput = { organization, batchId: id };
  try {
    await withDeadline(client, () =>
      client.workflow.start("batchReprocess", {
        taskQueue: QUEUES.pipeline,
        workflowId: batchWorkflowId(organization.id, id),
        args: [input],
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
        priority: { priorityKey: 4, fairnessKey: organization.id },
        staticSummary: `reprocesses ${accepted} documents`,
        typedSearchAttributes: new TypedSearchAttributes([
          { key: ATTRIBUTES.OrganizationId, value: organization.id },
          { key: ATTRIBUTES.Trigger, value: "batch" },
          { key: ATTRIBUTES.Stage, value: "releasing" },
        ]),
      }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
