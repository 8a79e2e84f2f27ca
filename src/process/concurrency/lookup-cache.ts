/** A cache of look-ups: bounded, short-lived, and with one look-up for all who ask at the same time. */
import { LRUCache } from "lru-cache";

interface Entry<T> {
  readonly answer: Promise<T>;
  /** Undefined while the look-up is under way. */
  settled: { readonly value: T; readonly goodUntilMs: number } | undefined;
}

export interface LookupCache<T> {
  /** The cached value of `key`, else what `look` finds. A look-up that fails is not cached. */
  get(key: string, look: () => Promise<T>): Promise<T>;
  /** Looks `key` up even if its value is cached, and caches what it finds. */
  renew(key: string, look: () => Promise<T>): Promise<T>;
  /** Drops the values that match, and every look-up under way: it may have read the state before a change. */
  forget(matches: (value: T) => boolean): void;
}

interface LookupCacheSettings<T> {
  readonly maxEntries: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Counted from the start of the look-up, so that a value is never older than this. */
  readonly maxAgeMs: (value: T) => number;
}

/** If there is no room, the entry that was used least recently is dropped. */
export function createLookupCache<T>({ maxEntries, now, maxAgeMs }: LookupCacheSettings<T>): LookupCache<T> {
  const entries = new LRUCache<string, Entry<T>>({ max: maxEntries });

  function drop(key: string, entry: Entry<T>): void {
    if (entries.peek(key) === entry) entries.delete(key);
  }

  function start(key: string, look: () => Promise<T>): Promise<T> {
    const startedMs = now();
    const answer = look();
    const entry: Entry<T> = { answer, settled: undefined };
    entries.set(key, entry);
    answer.then(
      (value) => {
        entry.settled = { value, goodUntilMs: startedMs + maxAgeMs(value) };
      },
      () => drop(key, entry),
    );
    return answer;
  }

  return {
    get(key, look) {
      const known = entries.get(key);
      if (known === undefined || (known.settled !== undefined && known.settled.goodUntilMs <= now()))
        return start(key, look);
      return known.answer;
    },
    renew: start,
    forget(matches) {
      // A copy, since the cache cannot be iterated while entries are deleted.
      const all = [...entries.entries()];
      for (const [key, entry] of all) {
        if (entry.settled === undefined || matches(entry.settled.value)) entries.delete(key);
      }
    },
  };
}
