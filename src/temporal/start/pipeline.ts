/** Starts the workflow of a claim. */
import { type Client, WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { TypedSearchAttributes, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from "@temporalio/common";
import { documentWorkflowId, pipelineWorkflowId } from "../../domain/work/workflow-ids.ts";
import type { PipelineInput } from "../../domain/work/processing.ts";
import { withDeadline } from "../connection.ts";
import { QUEUES } from "../../domain/work/queues.ts";
import { ATTRIBUTES } from "../search-attributes.ts";

export interface StartableClaim {
  readonly id: string;
  readonly organization: { readonly id: string; readonly num: number };
  readonly priority: 0 | 1;
  readonly runIds: readonly string[];
  /** True if the claim was made for one large or suspected run; its workflow then has that run's id. */
  readonly isForOneRun: boolean;
  readonly isolated: boolean;
  readonly spaceIds: readonly string[];
  readonly documentIds: readonly string[];
}

/**
 * Starts the claim's workflow unless it exists already. Its id comes from the claim, so a claim has one
 * workflow, however often this is called.
 * @returns `closed` if that workflow has ended already.
 */
export async function startPipeline(client: Client, claim: StartableClaim): Promise<"running" | "closed"> {
  const input: PipelineInput = {
    organization: claim.organization,
    claimId: claim.id,
    isolated: claim.isolated,
  };
  const workflowId = claim.isForOneRun
    ? documentWorkflowId(claim.organization.id, claim.runIds[0]!, claim.id)
    : pipelineWorkflowId(claim.organization.id, claim.id);
  try {
    await withDeadline(client, () =>
      client.workflow.start("documentPipeline", {
        taskQueue: QUEUES.pipeline,
        workflowId,
        args: [input],
        workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
        priority: { priorityKey: claim.priority === 0 ? 2 : 4, fairnessKey: claim.organization.id },
        staticSummary: claim.runIds.length === 1 ? "one document" : `${claim.runIds.length} documents`,
        typedSearchAttributes: new TypedSearchAttributes([
          { key: ATTRIBUTES.OrganizationId, value: claim.organization.id },
          { key: ATTRIBUTES.SpaceId, value: [...new Set(claim.spaceIds)] },
          { key: ATTRIBUTES.DocumentId, value: [...claim.documentIds] },
          { key: ATTRIBUTES.Stage, value: "parsing" },
          { key: ATTRIBUTES.Trigger, value: claim.priority === 0 ? "single" : "batch" },
        ]),
      }),
    );
    return "running";
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return "closed";
    throw error;
  }
}
