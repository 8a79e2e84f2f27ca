/** Carries a trace through a workflow, from what started it to what it starts. Nothing without a header. */
import { defaultPayloadConverter } from "@temporalio/common";
import { type WorkflowInterceptors, proxySinks, workflowInfo } from "@temporalio/workflow";
import type { TraceSinks } from "../domain/tracing/sinks.ts";
import { TRACE_HEADER, carriedTraceparent, spanIdOfRun, withSpanId } from "../domain/tracing/header.ts";

/** Temporal calls this for each workflow. It adds no commands: histories recorded without it replay. */
export function interceptors(): WorkflowInterceptors {
  const { tracing } = proxySinks<TraceSinks>();
  let parent: string | undefined;
  const headers = <Input extends { readonly headers: object }>(input: Input): Input =>
    parent === undefined
      ? input
      : {
          ...input,
          headers: {
            ...input.headers,
            [TRACE_HEADER]: defaultPayloadConverter.toPayload(
              withSpanId(parent, spanIdOfRun(workflowInfo().runId)),
            ),
          },
        };
  return {
    inbound: [
      {
        async execute(input, next) {
          const started = carriedTraceparent(input.headers[TRACE_HEADER]);
          if (started === undefined) return next(input);
          parent = started;
          let isFailed = true;
          try {
            const result = await next(input);
            isFailed = false;
            return result;
          } finally {
            tracing.ended(started, isFailed);
          }
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(headers(input)),
        scheduleLocalActivity: (input, next) => next(headers(input)),
        startChildWorkflowExecution: (input, next) => next(headers(input)),
        continueAsNew: (input, next) => next(headers(input)),
      },
    ],
  };
}
