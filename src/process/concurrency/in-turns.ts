import { setImmediate } from "node:timers/promises";

/**
 * Natural batching of writes: one write is under way at a time, and the items that come meanwhile, or in the
 * same iteration of the event loop, share the next one. The returned function resolves when the write of its
 * item is done, and rejects with that write's error.
 * @see test/process/concurrency/fair-gate.test.ts
 */
export function inTurns<T>(write: (items: T[]) => Promise<void>): (item: T) => Promise<void> {
  let gathered: T[] = [];
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  return (item) => {
    gathered.push(item);
    next ??= running
      .catch(() => undefined)
      .then(() => setImmediate())
      .then(() => {
        const items = gathered;
        gathered = [];
        next = undefined;
        running = write(items);
        return running;
      });
    return next;
  };
}
