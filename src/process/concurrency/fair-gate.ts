/** Lets some pieces of work run at once, in the order of a fair queue. */
import { type Owner, createFairQueue } from "./fair-queue.ts";

export interface Demand {
  readonly owner: Owner;
  /** In a unit that all work of the gate shares. */
  readonly size: number;
}

export type FairGate = <T>(demand: Demand, work: () => Promise<T>) => Promise<T>;

/** Lets `limit` pieces of work run at once; others wait as in {@link createFairQueue}, by owners' time. */
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

/** Half of `connections` for transactions that write chunks, by number: those with few do not wait. */
export function createWriteGate(connections: number): FairGate {
  const places = Math.max(2, Math.floor(connections / 2));
  const large = createFairGate(Math.floor(places / 2));
  const small = createFairGate(Math.ceil(places / 2));
  return (demand, work) => (demand.size <= SMALL_CHUNKS ? small : large)(demand, work);
}
