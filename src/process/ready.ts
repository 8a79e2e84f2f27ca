/** How a process tells the one that started it that it is ready to work. */

export const READY = "ready";

/** A process that was started without a channel, as in production, tells nobody. */
export function reportReady(): void {
  if (!process.connected) return;
  // Whoever started it may be gone by now, which is no reason to fail.
  process.send?.(READY, undefined, undefined, () => undefined);
}
