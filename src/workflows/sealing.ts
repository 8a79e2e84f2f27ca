/** Checks that every payload entering a workflow was sealed for that place; marks those that leave it. */
import {
  ApplicationFailure,
  type WorkflowInterceptors,
  proxySinks,
  workflowInfo,
} from "@temporalio/workflow";
import type { coresdk } from "@temporalio/proto";
import {
  FORGED,
  FORGED_MESSAGE,
  type Refusal,
  isAbsence,
  openedOf,
  refusalOfAll,
} from "../domain/payloads/places.ts";
import type { SealSinks } from "../domain/payloads/seal-sinks.ts";
import { forgedFailure, trustedFailure } from "../domain/payloads/failures.ts";
import { type Sent, placeCommand } from "./placing.ts";

type Job = coresdk.workflow_activation.IWorkflowActivationJob;
type Payloads = NonNullable<coresdk.workflow_activation.ISignalWorkflow["input"]>;
type Resolution = coresdk.activity_result.IActivityResolution | coresdk.child_workflow.IChildWorkflowResult;

interface Run {
  readonly sent: Sent;
  /** Why the workflow's input was refused; null if it was not. */
  refusal: Refusal | null;
  /** Queries and updates whose arguments were refused, by id. */
  readonly refusedCalls: Set<string>;
  report(what: string, refusal: Refusal): void;
}

/**
 * Temporal calls this for each workflow. A refused payload is replaced before anything of it is converted: a
 * workflow whose input was not sealed for it fails for good, a signal is dropped, a query or an update fails,
 * and a result becomes a failure. It adds no commands, so histories that were recorded without it replay.
 */
export function interceptors(): WorkflowInterceptors {
  const { seals } = proxySinks<SealSinks>();
  const run: Run = {
    sent: { activities: new Map(), children: new Map(), queries: new Map() },
    refusal: null,
    refusedCalls: new Set(),
    report: (what, refusal) => seals.refused(what, refusal),
  };
  return {
    internals: [
      {
        activate(input, next) {
          const jobs = input.activation.jobs ?? [];
          // Changed in place, because Temporal goes on to use this same array.
          jobs.splice(0, jobs.length, ...jobs.filter((job) => !isDropped(run, job)));
          for (const job of jobs) receive(run, job);
          next(input);
        },
        concludeActivation: (input, next) => ({
          commands: next(input).commands.map((command) =>
            placeCommand(run.sent, workflowInfo().workflowType, command),
          ),
        }),
      },
    ],
    inbound: [
      {
        execute: async (input, next) => (run.refusal === null ? next(input) : fail()),
        handleQuery: async (input, next) => (run.refusedCalls.has(input.queryId) ? fail() : next(input)),
        handleUpdate: async (input, next) => (run.refusedCalls.has(input.updateId) ? fail() : next(input)),
      },
    ],
  };
}

function fail(): never {
  throw ApplicationFailure.nonRetryable(FORGED_MESSAGE, FORGED);
}

/** True for a refused signal: the workflow runs as if it had never arrived. */
function isDropped(run: Run, { signalWorkflow }: Job): boolean {
  if (!signalWorkflow) return false;
  const input = signalWorkflow.input ?? [];
  const refusal = refusalOfAll(input.map(openedOf), {
    kinds: ["signal"],
    name: signalWorkflow.signalName ?? "",
  });
  if (refusal !== null) run.report("signal", refusal);
  signalWorkflow.input = given(input);
  return refusal !== null;
}

/** The arguments for the workflow's code: none, if the sender marked that it sent none. */
function given(payloads: Payloads): Payloads {
  return payloads.length === 1 && isAbsence(openedOf(payloads[0])) ? [] : payloads;
}

function receive(run: Run, job: Job): void {
  const { initializeWorkflow, queryWorkflow, doUpdate, resolveActivity, resolveChildWorkflowExecution } = job;
  if (initializeWorkflow) receiveInput(run, initializeWorkflow);
  if (queryWorkflow) receiveQuery(run, queryWorkflow);
  if (doUpdate) receiveUpdate(run, doUpdate);
  if (resolveActivity) receiveActivity(run, resolveActivity);
  if (resolveChildWorkflowExecution) receiveChild(run, resolveChildWorkflowExecution);
  receiveFailures(run, job);
}

function receiveActivity(run: Run, job: coresdk.workflow_activation.IResolveActivity): void {
  const asked = run.sent.activities.get(job.seq ?? 0);
  run.sent.activities.delete(job.seq ?? 0);
  if (job.result)
    job.result = receiveResult(run, job.result, [
      asked?.isLocal ? "local-activity-result" : "activity-result",
      asked?.name ?? "",
    ]);
}

function receiveChild(run: Run, job: coresdk.workflow_activation.IResolveChildWorkflowExecution): void {
  const type = run.sent.children.get(job.seq ?? 0);
  run.sent.children.delete(job.seq ?? 0);
  if (job.result) job.result = receiveResult(run, job.result, ["result", type ?? ""]);
}

function receiveInput(run: Run, job: coresdk.workflow_activation.IInitializeWorkflow): void {
  const input = job.arguments ?? [];
  const name = workflowInfo().workflowType;
  const kind =
    workflowInfo().parent === undefined || workflowInfo().continuedFromExecutionRunId !== undefined
      ? "input"
      : "child";
  run.refusal = refusalOfAll(input.map(openedOf), { kinds: [kind], name });
  if (run.refusal !== null) run.report("input", run.refusal);
  job.arguments = run.refusal === null ? given(input) : [];
}

/** A query without arguments is let through, because Temporal's UI sends one; its answer is sealed. */
function receiveQuery(run: Run, job: coresdk.workflow_activation.IQueryWorkflow): void {
  const input = job.arguments ?? [];
  const id = job.queryId ?? "";
  const name = job.queryType ?? "";
  run.sent.queries.set(id, name);
  // Temporal reuses query ids.
  run.refusedCalls.delete(id);
  if (input.length === 0) return;
  const refusal = refusalOfAll(input.map(openedOf), { kinds: ["query"], name });
  job.arguments = refusal === null ? given(input) : [];
  if (refusal === null) return;
  run.refusedCalls.add(id);
  run.report("query", refusal);
}

function receiveUpdate(run: Run, job: coresdk.workflow_activation.IDoUpdate): void {
  const input = job.input ?? [];
  const refusal = refusalOfAll(input.map(openedOf), {
    kinds: ["update"],
    name: job.name ?? "",
  });
  run.sent.queries.set(job.protocolInstanceId ?? "", job.name ?? "");
  job.input = refusal === null ? given(input) : [];
  if (refusal === null) return;
  run.refusedCalls.add(job.id ?? "");
  run.report("update", refusal);
}

function receiveResult<Result extends Resolution>(
  run: Run,
  result: Result,
  [kind, name]: readonly ["activity-result" | "local-activity-result" | "result", string],
): Result {
  const { completed, failed, cancelled } = result;
  if (failed?.failure) failed.failure = trusted(run, failed.failure);
  if (cancelled?.failure) cancelled.failure = trusted(run, cancelled.failure);
  if (!completed) return result;
  const refusal = refusalOfAll(completed.result ? [openedOf(completed.result)] : [], {
    kinds: [kind],
    name,
  });
  if (refusal === null) return result;
  run.report(kind, refusal);
  return { failed: { failure: forgedFailure() } } as Result;
}

function receiveFailures(
  run: Run,
  {
    resolveChildWorkflowExecutionStart,
    resolveSignalExternalWorkflow,
    resolveRequestCancelExternalWorkflow,
  }: Job,
): void {
  for (const holder of [
    resolveChildWorkflowExecutionStart?.cancelled,
    resolveSignalExternalWorkflow,
    resolveRequestCancelExternalWorkflow,
  ]) {
    if (holder?.failure) holder.failure = trusted(run, holder.failure);
  }
}

const trusted = (run: Run, failure: Parameters<typeof trustedFailure>[0]) =>
  trustedFailure(failure, (refusal) => run.report("failure", refusal));
