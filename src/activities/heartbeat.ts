/** Heartbeats of activities: Temporal notices a dead worker because they stop. */
import { Context } from "@temporalio/activity";
import { asActivityFailure } from "./failure.ts";

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

/** Runs `work` with heartbeats, and throws its errors in the form that Temporal keeps. */
export async function asActivity<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await withHeartbeat(work);
  } catch (error) {
    throw asActivityFailure(error);
  }
}
