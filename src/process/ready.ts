/** Tells the process that started this one that it is ready. */

export const READY = "ready";

/** Does nothing in a process that was started without an IPC channel, as in production. */
export function reportReady(): void {
  if (!process.connected) return;
  // The parent may have ended by now; the callback keeps that from becoming an error.
  process.send?.(READY, undefined, undefined, () => undefined);
}
