/** Counts requests over all API processes: in memory first, or in the database if a limit is near. */
import { LRUCache } from "lru-cache";
import type { CallerCount } from "../../db/instance/rate-limits.ts";
import { shareRounds } from "../../process/concurrency/share-rounds.ts";

/** How long a count stays in this process's memory only. */
const FLUSH_MS = 200;
/** The database is asked first if less than this share of the limit, or so few requests, are left. */
const NEAR_SHARE = 0.1;
const NEAR_REQUESTS = 5;
const MINUTE_MS = 60_000;
/** A bound by size instead of number: the cache would at once make room for `max` entries, 5.6 MB. */
const CALLERS_KEPT = { maxSize: 200_000, sizeCalculation: () => 1 };

export interface BudgetState {
  readonly isWithin: boolean;
  readonly remaining: number;
  readonly resetSeconds: number;
}

interface CountedBudget {
  readonly caller: string;
  /** Requests a minute. */
  readonly limit: number;
  /** As how many requests this one counts. Default 1. */
  readonly weight?: number;
}

export interface SharedCounter {
  /**
   * Counts a request in each of `budgets`, or in none if one of them is known to be used up, so that a
   * refused request takes nothing from the others. Asks the database at most once and never throws: while it
   * is down, each process counts by itself.
   * @returns the state of each budget, in their order.
   */
  count(budgets: readonly CountedBudget[]): Promise<BudgetState[]>;
  close(): Promise<void>;
}

interface CounterParts {
  /** Adds to the counts of all processes. @returns the sums. */
  readonly add: (counts: readonly CallerCount[]) => Promise<readonly CallerCount[]>;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Requests of one caller that are sent to the database together. */
interface Batch {
  size: number;
  /** The count before them; undefined until the database has answered. */
  base?: number;
}

interface Entry {
  readonly minute: number;
  /** The count of all processes, as the database said last. */
  shared: number;
  /** The batch that is on its way to the database. */
  sent: Batch;
  /** The batch that gathers for the next statement. */
  open: Batch;
}

interface Wanted {
  readonly entry: Entry;
  readonly limit: number;
  readonly weight: number;
}

const emptyBatch = (): Batch => ({ size: 0 });

/** @see test/api/rate-limit.database.test.ts */
export function createSharedCounter({ add, now = Date.now }: CounterParts): SharedCounter {
  const entries = new LRUCache<string, Entry>(CALLERS_KEPT);
  let timer: NodeJS.Timeout | undefined;

  function entryOf(caller: string): Entry {
    const minute = Math.floor(now() / MINUTE_MS);
    const known = entries.peek(caller);
    if (known !== undefined && known.minute === minute) return known;
    const fresh: Entry = { minute, shared: 0, sent: emptyBatch(), open: emptyBatch() };
    entries.set(caller, fresh);
    return fresh;
  }

  const flush = shareRounds(async () => {
    clearTimeout(timer);
    timer = undefined;
    // The cache lists what was set last first.
    const waiting = [...entries.entries()].filter(([, { open }]) => open.size > 0).toReversed();
    if (waiting.length > 0) await sendBatches(waiting, add);
  });

  /** The request's number within the minute, or the last of its numbers, for each of its budgets. */
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
    // The request was added to all its budgets above, so that one statement has them all.
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
      // Above a limit, the database need not be asked until the minute ends.
      const isRefused = wanted.some(({ entry, limit }) => entry.shared >= limit);
      const positions = isRefused ? wanted.map(({ entry }) => entry.shared + 1) : await positionsOf(wanted);
      return wanted.map(({ entry, limit }, at) => stateOf(entry, limit, positions[at]!, now()));
    },
    close: flush,
  };
}

/** Adds each entry's open batch to the counts of all processes. If that fails, this one counts alone. */
async function sendBatches(
  waiting: readonly (readonly [caller: string, entry: Entry])[],
  add: CounterParts["add"],
): Promise<void> {
  for (const [, entry] of waiting) {
    entry.sent = entry.open;
    entry.open = emptyBatch();
  }
  const counts = waiting.map(([caller, { minute, sent }]) => ({ caller, minute, count: sent.size }));
  const sums = await add(counts).catch(() => []);
  const byCaller = new Map(sums.map((sum) => [sum.caller, sum]));
  for (const [caller, entry] of waiting) {
    const sum = byCaller.get(caller);
    const total = sum?.minute === entry.minute ? sum.count : entry.shared + entry.sent.size;
    entry.sent.base = total - entry.sent.size;
    entry.shared = total;
    entry.sent = emptyBatch();
  }
}

/** @param position the request's number within the minute. */
function stateOf({ minute }: Entry, limit: number, position: number, nowMs: number): BudgetState {
  const resetSeconds = Math.max(1, Math.ceil(((minute + 1) * MINUTE_MS - nowMs) / 1_000));
  return { isWithin: position <= limit, remaining: Math.max(0, limit - position), resetSeconds };
}
