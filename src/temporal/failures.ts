/** Logs an activity's failure with its cause, then maps it for Temporal, without unknown messages. */
import type { Context, Info } from "@temporalio/activity";
import { ApplicationFailure, CancelledFailure } from "@temporalio/common";
import type { ActivityInterceptorsFactory } from "@temporalio/worker";
import { DomainError } from "../domain/errors.ts";
import { organizationIn } from "../domain/payloads/values.ts";
import { organizationOfWorkflow } from "../domain/work/workflow-ids.ts";
import type { Log } from "../process/log.ts";
import { activityFailures } from "../telemetry/instruments.ts";

type Level = "info" | "warn" | "error";

/** Their workflows end as cancelled. Any other step that was not cancelled itself is tried again. */
const ENDED_BY_CANCEL: ReadonlySet<string> = new Set(["adoptTurns", "callModel", "runTool"]);

/** For every worker, around all other interceptors: one line for each failure, before it is mapped. */
export function reportingFailures(log: Log): ActivityInterceptorsFactory {
  return (context) => ({
    inbound: {
      async execute(input, next) {
        try {
          return await next(input);
        } catch (error) {
          const { info } = context;
          const failure = asActivityFailure(error, context);
          const isCancelled = failure instanceof CancelledFailure;
          const code = isCancelled ? "cancelled" : (failure.type ?? "internal");
          activityFailures.inc({ activity: info.activityType, code, last: String(isLast(info, failure)) });
          log[isCancelled ? "info" : levelOf(error)](
            { ...idsOf(info, input.args), code, err: error },
            "an activity failed",
          );
          throw failure;
        }
      },
    },
  });
}

function asActivityFailure(error: unknown, context: Context): ApplicationFailure | CancelledFailure {
  if (error instanceof ApplicationFailure) return error;
  if (isCancel(error, context))
    return error instanceof CancelledFailure ? error : new CancelledFailure("The activity was cancelled.");
  if (error instanceof DomainError)
    return ApplicationFailure.create({
      type: error.code,
      message: error.message,
      nonRetryable: error.class === "hopeless",
    });
  return ApplicationFailure.create({
    type: "internal",
    message: "Internal error; the worker's log has the cause.",
  });
}

function isCancel(error: unknown, { info, cancellationSignal, cancellationDetails }: Context): boolean {
  const isAbort =
    error instanceof CancelledFailure || (error instanceof Error && error.name === "AbortError");
  if (!isAbort || !cancellationSignal.aborted) return false;
  return cancellationDetails?.cancelRequested === true || ENDED_BY_CANCEL.has(info.activityType);
}

/** True if Temporal makes no further attempt by itself. */
function isLast({ attempt, retryPolicy }: Info, failure: ApplicationFailure | CancelledFailure): boolean {
  if (failure instanceof CancelledFailure || failure.nonRetryable === true) return true;
  const most = retryPolicy?.maximumAttempts ?? 0;
  return most > 0 && attempt >= most;
}

function levelOf(error: unknown): Level {
  if (!(error instanceof DomainError) || error.class === "unknown") return "error";
  return error.passes ? "warn" : "info";
}

function idsOf(info: Info, args: readonly unknown[]): Record<string, unknown> {
  const { workflowId = null, runId = null } = info.workflowExecution ?? {};
  return {
    activity: info.activityType,
    attempt: info.attempt,
    activity_id: info.activityId,
    organization_id:
      (workflowId === null ? null : organizationOfWorkflow(workflowId)) ?? organizationIn(args),
    workflow_id: workflowId,
    workflow_run_id: runId,
  };
}
