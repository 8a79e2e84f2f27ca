/** The only place that sets up Temporal's core in this process. */
import { DefaultLogger, Runtime } from "@temporalio/worker";

/** Before the first worker. Signals stay with the process itself, which drains in its own order. */
export function installRuntime(level: "WARN" | "ERROR"): void {
  Runtime.install({ logger: new DefaultLogger(level), shutdownSignals: [] });
}
