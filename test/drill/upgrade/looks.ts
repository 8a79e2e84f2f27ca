/** Shows what is under way according to Temporal, independent of what the versions report. */
import type { Client, WorkflowExecutionDescription } from "@temporalio/client";
import proto from "@temporalio/proto";

const { PENDING_ACTIVITY_STATE_STARTED: STARTED } = proto.temporal.api.enums.v1.PendingActivityState;
/** The SDK's name for the failure of an activity that the worker does not have. */
const NOT_REGISTERED = "NotFoundError";
/** A second attempt of a workflow's task is normal after a worker is gone. */
const STUCK_ATTEMPT = 3;
const RUNNING = "ExecutionStatus = 'Running'";

/** Counts running workflows by type. */
export async function countRunning(temporal: Client): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for await (const { type } of temporal.workflow.list({ query: RUNNING }))
    counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}

export async function countWaiting(temporal: Client): Promise<number> {
  return (await temporal.workflow.count(`${RUNNING} AND Stage = 'waiting'`)).count;
}

/**
 * Counts running workflows that waiting does not help: their task fails again and again, or they ask for an
 * activity that no worker has.
 */
export async function countStuck(temporal: Client): Promise<number> {
  const described = await describeAll(temporal, RUNNING);
  const isStuck = ({
    raw: { pendingWorkflowTask: task, pendingActivities },
  }: WorkflowExecutionDescription): boolean =>
    (task?.attempt ?? 0) >= STUCK_ATTEMPT ||
    (pendingActivities ?? []).some(({ lastFailure }) => isNotRegistered(lastFailure));
  return described.filter(isStuck).length;
}

/** Counts activities that have failed and are being retried. */
export async function countRetried(temporal: Client, workflowType: string): Promise<number> {
  const pending = await pendingActivities(temporal, `${RUNNING} AND WorkflowType = '${workflowType}'`);
  return pending.filter(({ attempt }) => (attempt ?? 0) > 1).length;
}

/** Lists the types of activities that the process with this id is executing. */
export async function listExecuting(temporal: Client, pid: number): Promise<string[]> {
  const pending = await pendingActivities(temporal, RUNNING);
  return pending
    .filter(({ state, lastWorkerIdentity }) => state === STARTED && lastWorkerIdentity?.startsWith(`${pid}@`))
    .map(({ activityType }) => activityType!.name!);
}

/**
 * Lists ids of the running workflows of which this process is executing an activity. A frozen process is
 * listed until Temporal times the activity out.
 */
export async function listWorkflowsOf(temporal: Client, pid: number): Promise<string[]> {
  const described = await describeAll(temporal, RUNNING);
  return described.filter((one) => holders(one).includes(pid)).map(({ workflowId }) => workflowId);
}

/** Whether the workflow has ended, or a process other than this one is executing an activity of it. */
export async function isWithAnother(temporal: Client, workflowId: string, pid: number): Promise<boolean> {
  const described = await temporal.workflow.getHandle(workflowId).describe();
  return described.status.name !== "RUNNING" || holders(described).some((one) => one !== pid);
}

function holders({ raw }: WorkflowExecutionDescription): number[] {
  return (raw.pendingActivities ?? [])
    .filter(({ state }) => state === STARTED)
    .map(({ lastWorkerIdentity }) => Number.parseInt(lastWorkerIdentity ?? "", 10));
}

async function pendingActivities(
  temporal: Client,
  query: string,
): Promise<proto.temporal.api.workflow.v1.IPendingActivityInfo[]> {
  return (await describeAll(temporal, query)).flatMap(({ raw }) => raw.pendingActivities ?? []);
}

async function describeAll(temporal: Client, query: string): Promise<WorkflowExecutionDescription[]> {
  const described: Promise<WorkflowExecutionDescription | undefined>[] = [];
  for await (const { workflowId, runId } of temporal.workflow.list({ query })) {
    described.push(
      temporal.workflow
        .getHandle(workflowId, runId)
        .describe()
        .catch(() => undefined),
    );
  }
  return (await Promise.all(described)).filter((one) => one !== undefined);
}

/** Whether a worker was asked for an activity that it does not have. */
export function isNotRegistered(failure: proto.temporal.api.failure.v1.IFailure | null | undefined): boolean {
  for (let one = failure; one; one = one.cause)
    if (one.applicationFailureInfo?.type === NOT_REGISTERED) return true;
  return false;
}
