/** What a workflow sends to its worker for tracing, because the sandbox has no real clock and no network. */
import type { Sinks } from "@temporalio/workflow";

export interface TraceSinks extends Sinks {
  tracing: {
    /** The worker makes the workflow's span; `parent` is the `traceparent` that it was started under. */
    ended(parent: string, isFailed: boolean): void;
  };
}
