/** The only place that counts callers over all API processes: locally at once, in the database behind the request; before it where the limit is near. */
import type { CallerCount } from "../db/rate-limits.ts";

/** How long a count stays known to this process alone. */
const FLUSH_MS = 200;
/** Nearer to the limit than this the database is asked first: a share of the limit, or so many requests. */
const NEAR_SHARE = 0.1;
const NEAR_REQUESTS = 5;
const MINUTE_MS = 60_000;
const MAX_CALLERS = 100_000;

interface Standing {
  readonly isWithin: boolean;
  readonly remaining: number;
  readonly resetSeconds: number;
}

export interface SharedCounter {
  /** Counts one request of `caller` against `limit` a minute. Never throws: where the database is away, each process counts by itself. */
  count(caller: string, limit: number): Promise<Standing>;
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

const emptyBatch = (): Batch => ({ size: 0 });

export function createSharedCounter({ add, now = Date.now }: CounterParts): SharedCounter {
  const entries = new Map<string, Entry>();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function entryOf(caller: string): Entry {
    const minute = Math.floor(now() / MINUTE_MS);
    const known = entries.get(caller);
    if (known !== undefined && known.minute === minute) return known;
    const fresh: Entry = { minute, shared: 0, sent: emptyBatch(), open: emptyBatch() };
    entries.delete(caller);
    entries.set(caller, fresh);
    const oldest = entries.keys().next();
    if (entries.size > MAX_CALLERS && oldest.done !== true) entries.delete(oldest.value);
    return fresh;
  }

  async function send(): Promise<void> {
    const waiting = [...entries].filter(([, { open }]) => open.size > 0);
    if (waiting.length === 0) return;
    for (const [, entry] of waiting) [entry.sent, entry.open] = [entry.open, emptyBatch()];
    const sums = await add(waiting.map(([caller, { minute, sent }]) => ({ caller, minute, count: sent.size }))).catch(() => []);
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

  /** Which one of the minute the request is. */
  async function positionOf(entry: Entry, limit: number): Promise<number> {
    const batch = entry.open;
    const index = (batch.size += 1);
    const known = entry.shared + entry.sent.size + index;
    if (known <= limit - Math.max(NEAR_REQUESTS, limit * NEAR_SHARE)) {
      timer ??= setTimeout(() => void flush(), FLUSH_MS).unref();
      return known;
    }
    await flush();
    return (batch.base ?? known - index) + index;
  }

  return {
    async count(caller, limit) {
      const entry = entryOf(caller);
      const resetSeconds = Math.max(1, Math.ceil(((entry.minute + 1) * MINUTE_MS - now()) / 1_000));
      // Over the limit the minute's end is waited for, without a question.
      if (entry.shared >= limit) return { isWithin: false, remaining: 0, resetSeconds };
      const position = await positionOf(entry, limit);
      return { isWithin: position <= limit, remaining: Math.max(0, limit - position), resetSeconds };
    },
    close: () => flush(),
  };
}
