/** How activities do many things at once without doing all at once. */
import { setImmediate } from "node:timers/promises";
import { type Owner, createFairQueue } from "../../domain/fair-queue.ts";

/**
 * Runs `work` for every item, at most `limit` at a time. Rejects with the first rejection, once all that
 * started have ended.
 */
export async function eachOf<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(limit, items.length) }, lane));
  for (const result of ended) if (result.status === "rejected") throw result.reason;
}

/**
 * Natural batching of writes: one write is under way at a time, and the items that come meanwhile, or in the
 * same iteration of the event loop, share the next one. The returned function resolves when the write of its
 * item is done, and rejects with that write's error.
 * @see test/activities/pipeline/concurrency.test.ts
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

export interface Demand {
  readonly owner: Owner;
  /** In a unit that all work of the gate shares. */
  readonly size: number;
}

export type FairGate = <T>(demand: Demand, work: () => Promise<T>) => Promise<T>;

/**
 * Lets `limit` pieces of work run at once, of all callers; the others wait as long as {@link
 * createFairQueue} says, by the time that the work of their owners took.
 */
export function createFairGate(limit: number): FairGate {
  const waiting = createFairQueue<Demand & { start(): void }>();
  let running = 0;
  const startNext = (): void => {
    if (running >= limit || waiting.length === 0) return;
    running++;
    waiting.take()!.start();
  };
  return async (demand, work) => {
    await new Promise<void>((start) => {
      waiting.add({ ...demand, start });
      startNext();
    });
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      running--;
      waiting.charge(demand.owner, performance.now() - startedAt);
      startNext();
    }
  };
}

/** Chunks of many small documents, or of one that is over in moments. */
const SMALL_CHUNKS = 64;

/**
 * Half of `connections` for transactions that write chunks, by their number: in turns, and those that write
 * little do not wait for those that write much.
 */
export function createWriteGate(connections: number): FairGate {
  const places = Math.max(2, Math.floor(connections / 2));
  const large = createFairGate(Math.floor(places / 2));
  const small = createFairGate(Math.ceil(places / 2));
  return (demand, work) => (demand.size <= SMALL_CHUNKS ? small : large)(demand, work);
}
