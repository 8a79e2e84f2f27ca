/** Counts callers over all API processes: locally at once, in the database after the request; before it if a limit is near. */
import { LRUCache } from "lru-cache";
import type { CallerCount } from "../../db/instance/rate-limits.ts";

/** How long a count stays known to this process alone. */
const FLUSH_MS = 200;
/** Nearer to the limit than this the database is asked first: a share of the limit, or so many requests. */
const NEAR_SHARE = 0.1;
const NEAR_REQUESTS = 5;
const MINUTE_MS = 60_000;
/** A bound by size instead of number: the cache would make room for `max` entries at once, which are 5.6 MB. */
const CALLERS_KEPT = { maxSize: 200_000, sizeCalculation: () => 1 };

export interface Standing {
  readonly isWithin: boolean;
  readonly remaining: number;
  readonly resetSeconds: number;
}

interface CountedBudget {
  readonly caller: string;
  /** Requests a minute. */
  readonly limit: number;
  /** How many requests this one counts as; 1 where it is left out. */
  readonly weight?: number;
}

export interface SharedCounter {
  /**
   * Counts a request in every one of `budgets`, or in none where one of them is known to be used up: what is refused takes nothing from
   * the others. Asks the database once at most, and never throws: where it is away, each process counts by itself.
   * @returns the standing of each budget, in their order.
   */
  count(budgets: readonly CountedBudget[]): Promise<Standing[]>;
  close(): Promise<void>;
}

interface CounterParts {
  /** Adds to what all processes have counted, and tells the sums. */
  readonly add: (counts: readonly CallerCount[]) => Promise<readonly CallerCount[]>;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Requests of one caller that go to the database together. */
interface Batch {
  size: number;
  /** What the caller had before them; undefined until the database has answered. */
  base?: number;
}

interface Entry {
  readonly minute: number;
  /** What all processes have counted, as the database said last. */
  shared: number;
  /** On their way, and waiting to go. */
  sent: Batch;
  open: Batch;
}

interface Wanted {
  readonly entry: Entry;
  readonly limit: number;
  readonly weight: number;
}

const emptyBatch = (): Batch => ({ size: 0 });

export function createSharedCounter({ add, now = Date.now }: CounterParts): SharedCounter {
  const entries = new LRUCache<string, Entry>(CALLERS_KEPT);
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function entryOf(caller: string): Entry {
    const minute = Math.floor(now() / MINUTE_MS);
    const known = entries.peek(caller);
    if (known !== undefined && known.minute === minute) return known;
    const fresh: Entry = { minute, shared: 0, sent: emptyBatch(), open: emptyBatch() };
    entries.set(caller, fresh);
    return fresh;
  }

  async function send(): Promise<void> {
    // The cache lists what was set last first.
    const waiting = [...entries.entries()].toReversed().filter(([, { open }]) => open.size > 0);
    if (waiting.length === 0) return;
    for (const [, entry] of waiting) [entry.sent, entry.open] = [entry.open, emptyBatch()];
    const sums = await add(
      waiting.map(([caller, { minute, sent }]) => ({ caller, minute, count: sent.size })),
    ).catch(() => []);
    const byCaller = new Map(sums.map((sum) => [sum.caller, sum]));
    for (const [caller, entry] of waiting) {
      const sum = byCaller.get(caller);
      const total = sum?.minute === entry.minute ? sum.count : entry.shared + entry.sent.size;
      entry.sent.base = total - entry.sent.size;
      [entry.shared, entry.sent] = [total, emptyBatch()];
    }
  }

  /** One statement at a time; who comes while one runs shares the next. */
  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (running === undefined) {
      running = send().finally(() => (running = undefined));
      return running;
    }
    next ??= running.then(() => {
      next = undefined;
      return flush();
    });
    return next;
  }

  /** Which one of the minute the request is, or the last of those that it counts as, for each of its budgets. */
  async function positionsOf(wanted: readonly Wanted[]): Promise<number[]> {
    const places = wanted.map(({ entry, limit, weight }) => {
      const batch = entry.open;
      batch.size += weight;
      return { batch, index: batch.size, known: entry.shared + entry.sent.size + batch.size, limit };
    });
    if (places.every(({ known, limit }) => known <= limit - Math.max(NEAR_REQUESTS, limit * NEAR_SHARE))) {
      timer ??= setTimeout(() => void flush(), FLUSH_MS).unref();
      return places.map(({ known }) => known);
    }
    // All were counted before, so that one statement has them all.
    await flush();
    return places.map(({ batch, index, known }) => (batch.base ?? known - index) + index);
  }

  return {
    async count(budgets) {
      const wanted = budgets.map(({ caller, limit, weight = 1 }) => ({
        entry: entryOf(caller),
        limit,
        weight,
      }));
      // Over a limit the minute's end is waited for, without a question.
      const isRefused = wanted.some(({ entry, limit }) => entry.shared >= limit);
      const positions = isRefused ? wanted.map(({ entry }) => entry.shared + 1) : await positionsOf(wanted);
      return wanted.map(({ entry, limit }, at) => standingOf(entry, limit, positions[at]!));
    },
    close: () => flush(),
  };

  function standingOf({ minute }: Entry, limit: number, position: number): Standing {
    const resetSeconds = Math.max(1, Math.ceil(((minute + 1) * MINUTE_MS - now()) / 1_000));
    return { isWithin: position <= limit, remaining: Math.max(0, limit - position), resetSeconds };
  }
}
