/** The activities of the worker process, each with its dependencies. */
import type { BatchInput, BatchStep } from "../domain/work/batch.ts";
import type { DeletionInput, PurgeOutcome } from "../domain/work/deletion.ts";
import type { SpaceInput } from "../domain/work/index-upkeep.ts";
import type { MaintenanceCounts, OrganizationInput } from "../domain/work/maintenance-rounds.ts";
import type { OperationInput, OperationStep } from "../domain/work/operation.ts";
import type { AttemptInput, GroupOutcome } from "../domain/work/processing.ts";
import type { WebhookInput, WebhookStep } from "../domain/work/webhook.ts";
import { stepBatch } from "./batch.ts";
import { purgeStep } from "./deletion.ts";
import { embedAndPublish } from "./pipeline/embed-and-publish.ts";
import { listSpacesToTend, tendSpace } from "./upkeep/index-upkeep.ts";
import {
  type MaintenanceDeps,
  listOrganizations,
  maintainInstance,
  maintainOrganization,
} from "./upkeep/remove-unneeded.ts";
import { type OperationDeps, operationStep } from "./operations/steps.ts";
import type { PipelineDeps } from "./pipeline/pipeline-deps.ts";
import { prepareDocuments } from "./pipeline/prepare-documents.ts";
import { type DeliveryDeps, deliverWebhook } from "./webhooks/deliver.ts";
import { type ToolActivities, type ToolDeps, createToolActivities } from "./tools.ts";

export interface Activities extends ToolActivities {
  prepareDocuments(input: AttemptInput): Promise<GroupOutcome>;
  embedAndPublish(input: AttemptInput): Promise<GroupOutcome>;
  purgeStep(input: DeletionInput): Promise<PurgeOutcome>;
  stepBatch(input: BatchInput): Promise<BatchStep>;
  listOrganizations(after: number): Promise<Array<{ id: string; num: number }>>;
  maintainInstance(): Promise<MaintenanceCounts>;
  maintainOrganization(input: OrganizationInput): Promise<MaintenanceCounts>;
  listSpacesToTend(): Promise<SpaceInput[]>;
  tendSpace(input: SpaceInput): Promise<MaintenanceCounts>;
  operationStep(input: OperationInput): Promise<OperationStep>;
  deliverWebhook(input: WebhookInput): Promise<WebhookStep>;
}

/**
 * Binds each activity of the workers to what it needs. Workflows call them by these names.
 * @see test/workflows/document-pipeline.stack.test.ts
 */
export function createActivities(
  deps: PipelineDeps & ToolDeps & MaintenanceDeps & OperationDeps & DeliveryDeps,
): Activities {
  return {
    ...createToolActivities(deps),
    prepareDocuments: (input) => prepareDocuments(deps, input),
    embedAndPublish: (input) => embedAndPublish(deps, input),
    purgeStep: (input) => purgeStep(deps, input),
    stepBatch: (input) => stepBatch(deps, input),
    listOrganizations: (after) => listOrganizations(deps, after),
    maintainInstance: () => maintainInstance(deps),
    maintainOrganization: (input) => maintainOrganization(deps, input),
    listSpacesToTend: () => listSpacesToTend(deps),
    tendSpace: (input) => tendSpace(deps, input),
    operationStep: (input) => operationStep(deps, input),
    deliverWebhook: (input) => deliverWebhook(deps, input),
  };
}
