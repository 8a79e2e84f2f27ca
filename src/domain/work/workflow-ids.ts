/** Workflow ids: the kind, the organization (the payload codec needs its key) and opaque ids. */
import { UUID_PATTERN } from "../ids.ts";

const ORGANIZATION = new RegExp(`^[a-z-]+/(${UUID_PATTERN})/`);

/** One workflow for each claim, however often it is started. */
export function pipelineWorkflowId(organizationId: string, claimId: string): string {
  return `document-pipeline/${organizationId}/${claimId}`;
}

/**
 * The workflow of a document with a claim of its own. The claim is part of the id, because a run may have
 * such a claim more than once.
 */
export function documentWorkflowId(organizationId: string, runId: string, claimId: string): string {
  return `document/${organizationId}/${runId}/${claimId}`;
}

export function deletionWorkflowId(organizationId: string, deletionId: string): string {
  return `delete/${organizationId}/${deletionId}`;
}

export function batchWorkflowId(organizationId: string, batchId: string): string {
  return `batch-reprocess/${organizationId}/${batchId}`;
}

/** The workflow that delivers the events of one endpoint. */
export function webhookWorkflowId(organizationId: string, webhookId: string): string {
  return `webhook/${organizationId}/${webhookId}`;
}

/** The bookkeeping workflow of a group of turns of several organizations: its id has none. */
export function chatTurnsWorkflowId(apiProcessId: string, groupId: string): string {
  return `${chatTurnsWorkflowPrefix(apiProcessId)}${groupId}`;
}

export function chatTurnsWorkflowPrefix(apiProcessId: string): string {
  return `chat-turns/api-${apiProcessId}/`;
}

/** The workflow of an operation. Its id has no organization, whose key may be deleted before its end. */
export function operationWorkflowId(operationId: string): string {
  return `operation/${operationId}`;
}

export function chatTurnWorkflowId(organizationId: string, turnId: string): string {
  return `chat-turn/${organizationId}/${turnId}`;
}

export function turnOfWorkflow(workflowId: string): string {
  return workflowId.slice(workflowId.lastIndexOf("/") + 1);
}

/** The organization of a workflow; null for workflows that serve several. */
export function organizationOfWorkflow(workflowId: string): string | null {
  return ORGANIZATION.exec(workflowId)?.[1] ?? null;
}

/** The ids of the schedules; Temporal gives their workflows the same id with a time appended. */
export const SCHEDULE_IDS = {
  maintenance: "maintenance",
  maintenanceThorough: "maintenance-thorough",
  indexUpkeep: "index-upkeep",
} as const;

/** The time that Temporal appends to the id of a workflow that a schedule starts. */
const DUE = /-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
const SCHEDULES: ReadonlySet<string> = new Set(Object.values(SCHEDULE_IDS));

/** The id of the schedule that started the workflow; undefined if none of ours did. */
export function scheduledWorkflowOf(workflowId: string): string | undefined {
  const scheduled = workflowId.replace(DUE, "");
  return scheduled !== workflowId && SCHEDULES.has(scheduled) ? scheduled : undefined;
}
