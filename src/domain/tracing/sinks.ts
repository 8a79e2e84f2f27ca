/** What a workflow sends to its worker for tracing, because the sandbox has no real clock and no network. */
import type { Sinks } from "@temporalio/workflow";

export interface TraceSinks extends Sinks {
  tracing: {
    /**
     * The worker makes the workflow's span; `parent` is the `traceparent` under which the workflow was
     * started.
     */
    ended(parent: string, isFailed: boolean): void;
  };
}
