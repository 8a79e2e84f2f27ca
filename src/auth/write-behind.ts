/**
 * Collects rows and writes them in batches, so that no request waits for them. Bounded in number, and to a
 * second.
 */
import type { Log } from "../process/log.ts";

const DELAY_MS = 300;
const RETRY_MS = 1_000;

export interface WriteBehind<T> {
  /**
   * Takes the entry for the next batch. A full queue drops it, and logs how many it dropped once it can write
   * again.
   */
  add(entry: T): void;
  /** Writes all that waits, now. @throws what `write` throws; the entries are kept then. */
  readonly flush: () => Promise<void>;
  /** Writes all that waits for the last time. What cannot be written is lost, and counted in the log. */
  readonly close: () => Promise<void>;
}

interface WriteBehindSettings<T> {
  /** What the entries are, for log lines. */
  readonly name: string;
  readonly maxEntries: number;
  readonly log: Pick<Log, "error">;
  readonly write: (entries: T[]) => Promise<void>;
}

/**
 * Writes one batch at a time, 300 ms after its first entry. A batch that fails is tried again after a second.
 * @see test/auth/write-behind.database.test.ts
 */
export function createWriteBehind<T>({
  name,
  maxEntries,
  log,
  write,
}: WriteBehindSettings<T>): WriteBehind<T> {
  let waiting: T[] = [];
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  function schedule(delayMs: number): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      flush().catch((error: unknown) => {
        log.error({ err: error, waiting: waiting.length }, `${name} could not be written; trying again`);
        schedule(RETRY_MS);
      });
    }, delayMs).unref();
  }

  async function writeBatch(): Promise<void> {
    const batch = waiting;
    if (batch.length === 0) return;
    waiting = [];
    try {
      await write(batch);
    } catch (error) {
      const room = maxEntries - waiting.length;
      dropped += Math.max(0, batch.length - room);
      waiting = [...batch.slice(0, room), ...waiting];
      throw error;
    }
    if (dropped > 0) log.error({ dropped }, `${name} lost entries: more came than could be written`);
    dropped = 0;
  }

  function flush(): Promise<void> {
    const batch = writing.then(writeBatch);
    writing = batch.catch(() => undefined);
    return batch;
  }

  return {
    add(entry) {
      if (waiting.length >= maxEntries) {
        dropped += 1;
        return;
      }
      waiting.push(entry);
      schedule(DELAY_MS);
    },
    flush,
    async close() {
      clearTimeout(timer);
      await flush().catch((error: unknown) =>
        log.error({ err: error, lost: waiting.length }, `${name} lost entries at the end`),
      );
      clearTimeout(timer);
    },
  };
}
