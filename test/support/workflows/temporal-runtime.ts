/** Sets up Temporal's native runtime, of which a process has one, whichever test file needs it first. */
import { DefaultLogger, Runtime } from "@temporalio/worker";

let isInstalled = false;

/** Logs errors only, and leaves signals to the test runner. */
export function quietRuntime(): void {
  if (isInstalled) return;
  isInstalled = true;
  Runtime.install({ logger: new DefaultLogger("ERROR"), shutdownSignals: [] });
}
