/** How activities do many things at once without doing all at once. */
import { setImmediate } from "node:timers/promises";

/** Runs `work` for every item, at most `limit` at a time. Rejects with the first rejection, once all that started have ended. */
export async function eachOf<T>(items: readonly T[], limit: number, work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(limit, items.length) }, lane));
  for (const result of ended) if (result.status === "rejected") throw result.reason;
}

/**
 * Natural batching of writes: one write is under way at a time, and what comes meanwhile, or in the same turn of the event loop, shares the next.
 * The returned function resolves when the write that held its item is done, and rejects with that write's error.
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

/** Lets `limit` pieces of work run at once, of all callers; the others wait in the order they came. */
export function createGate(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: Array<() => void> = [];
  return async (work) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
