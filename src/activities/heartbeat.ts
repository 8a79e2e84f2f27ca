/** Heartbeats of activities: Temporal notices a dead worker because they stop. */
import { PAUSES } from "#timings";
import { Context } from "@temporalio/activity";

/**
 * Runs `work` with a heartbeat every `everyMs`, by default every second. Temporal waits 5 to 20 seconds for
 * one: each activity has its own `heartbeatTimeout` (workflows/proxies.ts, workflows/chat-proxies.ts).
 */
export async function withHeartbeat<T>(
  work: () => Promise<T>,
  everyMs: number = PAUSES.heartbeat,
): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), everyMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
