/** The only place that says for an activity that its worker lives: a worker that is gone is noticed by its silence. */
import { Context } from "@temporalio/activity";

const HEARTBEAT_MS = 1_000;

/** Runs `work` with a heartbeat a second, or every `everyMs`. Proxies that bound heartbeats give silence ten seconds. */
export async function withHeartbeat<T>(work: () => Promise<T>, everyMs = HEARTBEAT_MS): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), everyMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
