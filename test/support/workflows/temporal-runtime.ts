/** Temporal's native runtime of a test process: there is one, whichever file needs it first. */
import { DefaultLogger, Runtime } from "@temporalio/worker";

let isInstalled = false;

/** Says errors only, and leaves signals to the test runner. */
export function quietRuntime(): void {
  if (isInstalled) return;
  isInstalled = true;
  Runtime.install({ logger: new DefaultLogger("ERROR"), shutdownSignals: [] });
}
