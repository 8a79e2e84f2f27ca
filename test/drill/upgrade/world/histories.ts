/**
 * Reads every workflow of both versions from Temporal: how it ended, what failed on the way, and whether this
 * version's code replays it.
 */
import { join } from "node:path";
import type { Client } from "@temporalio/client";
import proto from "@temporalio/proto";
import { DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import { loadConfig, requireReal } from "../../../../src/config/config.ts";
import { openSharedDeps } from "../../../../src/deps.ts";
import type { workflowBundle as WorkflowBundle } from "../../../../src/temporal/workflow-bundle.ts";
import { isNotRegistered } from "../looks.ts";

type History = proto.temporal.api.history.v1.IHistory;

export interface KeptWorkflow {
  readonly workflowId: string;
  readonly type: string;
  readonly status: string;
  readonly history: History;
}

const {
  WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR: NON_DETERMINISTIC,
  WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE: UNHANDLED,
} = proto.temporal.api.enums.v1.WorkflowTaskFailedCause;
/** A client that goes away cancels its turn; everything else ends in order. */
const IN_ORDER = ["COMPLETED", "CONTINUED_AS_NEW", "CANCELLED"];

/** Reads all workflows that Temporal knows. */
export async function readHistories(temporal: Client): Promise<KeptWorkflow[]> {
  const kept: KeptWorkflow[] = [];
  for await (const { workflowId, runId, type, status } of temporal.workflow.list()) {
    kept.push({
      workflowId,
      type,
      status: status.name,
      history: await temporal.workflow.getHandle(workflowId, runId).fetchHistory(),
    });
  }
  return kept;
}

/**
 * Lists workflows that did not end in order, tasks that either version's code could not run, and activities
 * that a worker did not have.
 */
export function findWorkflowFaults(workflows: readonly KeptWorkflow[]): string[] {
  return workflows.flatMap(({ type, status, history }) => {
    const events = history.events ?? [];
    const causes = events.flatMap(({ workflowTaskFailedEventAttributes: failed }) =>
      failed?.cause === NON_DETERMINISTIC || failed?.cause === UNHANDLED ? [failed.cause] : [],
    );
    const isUnknown = events.some((event) =>
      [
        event.activityTaskFailedEventAttributes?.failure,
        event.activityTaskStartedEventAttributes?.lastFailure,
      ].some(isNotRegistered),
    );
    return [
      ...(IN_ORDER.includes(status) || status === "RUNNING" ? [] : [`a ${type} ended as ${status}`]),
      ...(causes.includes(NON_DETERMINISTIC)
        ? [`a ${type} does not fit the code that runs it (non-determinism)`]
        : []),
      ...(causes.includes(UNHANDLED) ? [`a ${type} failed in the code that runs it`] : []),
      ...(isUnknown ? [`a ${type} asked a worker for an activity that it does not have`] : []),
    ];
  });
}

/** Replays every history with the workflows of the tree at `root`. @returns the histories that do not fit. */
export async function replayAll(
  root: string,
  env: Readonly<Record<string, string>>,
  workflows: readonly KeptWorkflow[],
): Promise<string[]> {
  // The drill itself reports histories that do not replay.
  Runtime.install({
    logger: new DefaultLogger("ERROR"),
    telemetryOptions: { logging: { filter: { core: "ERROR", other: "ERROR" } } },
    shutdownSignals: [],
  });
  const { workflowBundle } = (await import(join(root, "src/temporal/workflow-bundle.ts"))) as {
    workflowBundle: typeof WorkflowBundle;
  };
  const deps = await openSharedDeps(requireReal(loadConfig(env)), "drill");
  const types = new Map(workflows.map(({ workflowId, type }) => [workflowId, type]));
  const faults: string[] = [];
  try {
    const options = { workflowBundle: await workflowBundle(), dataConverter: deps.workerDataConverter };
    for await (const { workflowId, error } of Worker.runReplayHistories(options, workflows)) {
      if (error !== undefined)
        faults.push(`the history of a ${types.get(workflowId)} does not replay: ${error.message}`);
    }
  } finally {
    await deps.close();
  }
  return faults;
}
