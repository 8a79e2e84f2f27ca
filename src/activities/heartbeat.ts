/** Heartbeats of activities: Temporal notices a dead worker because they stop. */
import { Context } from "@temporalio/activity";

const HEARTBEAT_MS = 1_000;

/**
 * Runs `work` with a heartbeat every `everyMs`, by default every second. Temporal waits 5 to 20 seconds for
 * one: each activity has its own `heartbeatTimeout` (workflows/proxies.ts, workflows/chat-proxies.ts).
 */
export async function withHeartbeat<T>(work: () => Promise<T>, everyMs = HEARTBEAT_MS): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), everyMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
