/** Looks at every payload that comes into a workflow, whether it was sealed for that place, and says for every one that leaves where it belongs. */
import {
  ApplicationFailure,
  type Sinks,
  type WorkflowInterceptors,
  proxySinks,
  workflowInfo,
} from "@temporalio/workflow";
import type { coresdk } from "@temporalio/proto";
import {
  BARE_WORKFLOWS,
  FORGED,
  FORGED_MESSAGE,
  type Refusal,
  isAbsence,
  openedOf,
  refusalOfAll,
} from "../domain/payloads/places.ts";
import { forgedFailure, trustedFailure } from "../domain/payloads/failures.ts";
import { type Sent, placeCommand } from "./placing.ts";

type Job = coresdk.workflow_activation.IWorkflowActivationJob;
type Payloads = NonNullable<coresdk.workflow_activation.ISignalWorkflow["input"]>;
type Resolution = coresdk.activity_result.IActivityResolution | coresdk.child_workflow.IChildWorkflowResult;

/** Told to the worker, which counts it and writes it down. */
export interface SealSinks extends Sinks {
  seals: {
    refused(what: string, refusal: Refusal): void;
  };
}

/** Of one run of a workflow. */
interface Run {
  readonly sent: Sent;
  /** Why its input was refused. */
  refusal: Refusal | null;
  /** Queries and updates whose arguments were refused, by id. */
  readonly refusedCalls: Set<string>;
  report(what: string, refusal: Refusal): void;
}

/**
 * Of the bundle; called for each workflow. What is refused is replaced before anything of it is converted: a workflow without a sealed input fails
 * for good, a signal is dropped, a query or an update fails, and a result becomes a failure. Adds no commands, so that histories without it replay.
 */
export function interceptors(): WorkflowInterceptors {
  const { seals } = proxySinks<SealSinks>();
  const run: Run = {
    sent: { activities: new Map(), children: new Map(), queries: new Map(), unsealedSince: undefined },
    refusal: null,
    refusedCalls: new Set(),
    report: (what, refusal) => seals.refused(what, refusal),
  };
  return {
    internals: [
      {
        activate(input, next) {
          const jobs = input.activation.jobs ?? [];
          // In place: Temporal goes on with this very list.
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

const begunAt = (): number => workflowInfo().startTime.getTime();

/** A signal that was refused is as if it had not come. */
function isDropped(run: Run, { signalWorkflow }: Job): boolean {
  if (!signalWorkflow) return false;
  const input = signalWorkflow.input ?? [];
  const refusal = refusalOfAll(input.map(openedOf), {
    kinds: ["signal"],
    name: signalWorkflow.signalName ?? "",
    begunAt: begunAt(),
  });
  if (refusal !== null) run.report("signal", refusal);
  signalWorkflow.input = given(input);
  return refusal !== null;
}

/** The arguments as the workflow's code gets them. */
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
  if (input.length === 0 && BARE_WORKFLOWS.has(name)) {
    // Only version 0.3.0 starts one so: its activities look whether it began in time for that.
    run.sent.unsealedSince = begunAt();
    return;
  }
  const kind =
    workflowInfo().parent === undefined || workflowInfo().continuedFromExecutionRunId !== undefined
      ? "input"
      : "child";
  run.refusal = refusalOfAll(input.map(openedOf), { kinds: [kind], name, begunAt: begunAt() });
  if (run.refusal !== null) run.report("input", run.refusal);
  job.arguments = run.refusal === null ? given(input) : [];
}

/** A query without arguments may come from Temporal's own UI; its answer is sealed. */
function receiveQuery(run: Run, job: coresdk.workflow_activation.IQueryWorkflow): void {
  const input = job.arguments ?? [];
  const [id, name] = [job.queryId ?? "", job.queryType ?? ""];
  run.sent.queries.set(id, name);
  // Temporal gives the same id to one query after the other.
  run.refusedCalls.delete(id);
  if (input.length === 0) return;
  const refusal = refusalOfAll(input.map(openedOf), { kinds: ["query"], name, begunAt: begunAt() });
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
    begunAt: begunAt(),
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
    begunAt: begunAt(),
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
  trustedFailure(failure, begunAt(), (refusal) => run.report("failure", refusal));
