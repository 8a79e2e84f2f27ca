/** Carries traces through Temporal: interceptors of clients and workers, and the spans of workflows. */
import type { WorkflowClientInterceptor } from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";
import type { ActivityInterceptors, InjectedSinks, WorkerOptions } from "@temporalio/worker";
import { TRACE_HEADER, carriedTraceparent, spanIdOfRun } from "../domain/tracing/header.ts";
import { inSpan, recordSpan, traceparent } from "../telemetry/span.ts";
import type { TraceSinks } from "../domain/tracing/sinks.ts";

/** Workflows that are started within a trace continue it. */
export const clientTracing = {
  workflow: [
    {
      startWithDetails: (input, next) =>
        inSpan(`start ${input.workflowType}`, { kind: "client" }, () => {
          const current = traceparent();
          return next(
            current === null
              ? input
              : {
                  ...input,
                  headers: { ...input.headers, [TRACE_HEADER]: defaultPayloadConverter.toPayload(current) },
                },
          );
        }),
    },
  ],
} satisfies { readonly workflow: WorkflowClientInterceptor[] };

const sinks: InjectedSinks<TraceSinks> = {
  tracing: {
    ended: {
      fn({ workflowType, workflowId, runId, startTime }, parent, isFailed) {
        recordSpan({
          name: `workflow ${workflowType}`,
          parent,
          spanId: spanIdOfRun(runId),
          startedAt: startTime,
          attributes: { "temporal.workflow_id": workflowId },
          isFailed,
        });
      },
    },
  },
};

/** For every worker: an activity gets a span if its workflow is part of a trace. */
export const workerTracing = {
  interceptors: {
    activity: [
      ({ info }): ActivityInterceptors => ({
        inbound: {
          execute(input, next) {
            const parent = carriedTraceparent(input.headers[TRACE_HEADER]);
            if (parent === undefined) return next(input);
            const attributes = {
              "temporal.workflow_id": info.workflowExecution?.workflowId ?? "",
              "temporal.attempt": info.attempt,
            };
            return inSpan(
              `activity ${info.activityType}`,
              { parent: { traceparent: parent }, attributes },
              () => next(input),
            );
          },
        },
      }),
    ],
  },
  sinks,
} satisfies Pick<WorkerOptions, "interceptors" | "sinks">;
