/** The only place that makes workflow ids: opaque, and led by kind and organization, so that the payload codec knows whose key to use. */

const ORGANIZATION = /^[a-z-]+\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\//;

/** One workflow for each claim, however often it is started. */
export function pipelineWorkflowId(organizationId: string, claimId: string): string {
  return `document-pipeline/${organizationId}/${claimId}`;
}

/** The workflow of a document that goes alone. It is named by its claim as well: a run may go alone more than once. */
export function documentWorkflowId(organizationId: string, runId: string, claimId: string): string {
  return `document/${organizationId}/${runId}/${claimId}`;
}

export function deletionWorkflowId(organizationId: string, deletionId: string): string {
  return `delete/${organizationId}/${deletionId}`;
}

export function batchWorkflowId(organizationId: string, batchId: string): string {
  return `batch-reprocess/${organizationId}/${batchId}`;
}

/** The workflow that keeps the books of a group of turns; turns of several organizations share it. Made so that it names no organization. */
export function chatTurnsWorkflowId(apiProcessId: string, groupId: string): string {
  return `${chatTurnsWorkflowPrefix(apiProcessId)}${groupId}`;
}

/** What the ids of every `chat-turns` workflow of one API process begin with. */
export function chatTurnsWorkflowPrefix(apiProcessId: string): string {
  return `chat-turns/api-${apiProcessId}/`;
}

/** What an operator asked for. It names no organization: an organization's key may go before its workflow ends. */
export function operationWorkflowId(operationId: string): string {
  return `operation/${operationId}`;
}

/** The workflow of one turn that runs tools. */
export function chatTurnWorkflowId(organizationId: string, turnId: string): string {
  return `chat-turn/${organizationId}/${turnId}`;
}

/** The turn whose own workflow it is. */
export function turnOfWorkflow(workflowId: string): string {
  return workflowId.slice(workflowId.lastIndexOf("/") + 1);
}

/** The organization that a workflow belongs to; null for workflows that serve several. */
export function organizationOfWorkflow(workflowId: string): string | null {
  return ORGANIZATION.exec(workflowId)?.[1] ?? null;
}

/** The schedules of the instance, which give their workflows their own id. */
export const SCHEDULE_IDS = {
  maintenance: "maintenance",
  maintenanceThorough: "maintenance-thorough",
  indexUpkeep: "index-upkeep",
} as const;

/** What Temporal appends to the ids of workflows that a schedule starts: the time they were due. */
const DUE = /-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
const SCHEDULES: ReadonlySet<string> = new Set(Object.values(SCHEDULE_IDS));

/** The id that the workflow's schedule was written with; undefined of a workflow that no schedule of ours has started. */
export function scheduledWorkflowOf(workflowId: string): string | undefined {
  const scheduled = workflowId.replace(DUE, "");
  return scheduled !== workflowId && SCHEDULES.has(scheduled) ? scheduled : undefined;
}
