/** The only place where a trace passes through workflows: from what started one to what it starts. Without the header it does nothing. */
import { defaultPayloadConverter } from "@temporalio/common";
import { type Sinks, type WorkflowInterceptors, proxySinks, workflowInfo } from "@temporalio/workflow";
import { TRACE_HEADER, carriedTraceparent, spanIdOfRun, withSpanId } from "../domain/trace-header.ts";

/** Told to the worker, which makes the span: code in the sandbox has no clock and no network of its own. */
export interface TraceSinks extends Sinks {
  tracing: {
    /** `parent` is the `traceparent` under which the workflow was started. */
    ended(parent: string, isFailed: boolean): void;
  };
}

/** Of the bundle; called for each workflow. Adds headers and no commands, so that histories without it replay. */
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
