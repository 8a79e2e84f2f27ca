/** Starts the workflow that delivers the events of an endpoint, or wakes it. */
import type { Client } from "@temporalio/client";
import { TypedSearchAttributes, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from "@temporalio/common";
import { QUEUES } from "../../domain/work/queues.ts";
import { WAKE_WEBHOOK, type WebhookInput } from "../../domain/work/webhook.ts";
import { webhookWorkflowId } from "../../domain/work/workflow-ids.ts";
import { withDeadline } from "../connection.ts";
import { ATTRIBUTES } from "../search-attributes.ts";

/** Starts the endpoint's workflow; one that runs already is told that there is something to do. */
export async function startWebhook(
  client: Client,
  { organization, webhookId }: WebhookInput,
  spaceId: string | null,
): Promise<void> {
  const input: WebhookInput = { organization, webhookId };
  const attributes = [
    { key: ATTRIBUTES.OrganizationId, value: organization.id },
    { key: ATTRIBUTES.Trigger, value: "webhook" },
    { key: ATTRIBUTES.Stage, value: "delivering" },
  ];
  await withDeadline(client, () =>
    client.workflow.signalWithStart("webhookDelivery", {
      taskQueue: QUEUES.pipeline,
      workflowId: webhookWorkflowId(organization.id, webhookId),
      args: [input],
      signal: WAKE_WEBHOOK,
      signalArgs: [],
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      priority: { priorityKey: 3, fairnessKey: organization.id },
      staticSummary: "delivers events",
      typedSearchAttributes: new TypedSearchAttributes(
        spaceId === null ? attributes : [...attributes, { key: ATTRIBUTES.SpaceId, value: [spaceId] }],
      ),
    }),
  );
}
