/** Runs a workflow's own code in this process, with real activities and a clock that jumps when the workflow sleeps. */
import { asyncLocalStorage, type Context } from "@temporalio/activity";
import { vi } from "vitest";

interface VirtualWorkflow {
  /** Milliseconds that the workflow has slept. */
  sleptMs(): number;
}

/** Binds activity names to functions; `onSleep` lets the world age by as much as the workflow sleeps. Call it before the workflow is imported. */
export function virtualWorkflow(activities: Record<string, (input: never) => Promise<unknown>>, onSleep: (ms: number) => Promise<void>): VirtualWorkflow {
  let slept = 0;
  const inContext = (work: () => Promise<unknown>): Promise<unknown> => {
    const context = { cancellationSignal: new AbortController().signal, heartbeat: () => undefined };
    return asyncLocalStorage.run(context as unknown as Context, work);
  };
  vi.doMock("@temporalio/workflow", () => ({
    ActivityFailure: class extends Error {},
    TimeoutFailure: class extends Error {},
    isCancellation: () => false,
    upsertSearchAttributes: () => undefined,
    setCurrentDetails: () => undefined,
    proxyActivities: () => new Proxy({}, { get: (_target, name: string) => (input: never) => inContext(() => activities[name]!(input)) }),
    async sleep(ms: number) {
      slept += ms;
      await onSleep(ms);
    },
  }));
  return { sleptMs: () => slept };
}
