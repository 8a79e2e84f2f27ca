/** The only place that holds rows back to write them in batches: bounded in number, and in time to one second. */
import type { Log } from "../process/log.ts";

const DELAY_MS = 300;
const RETRY_MS = 1_000;

export interface WriteBehind<T> {
  /** Takes the entry for the next batch. A full queue drops it and says so in the log once it can write again. */
  add(entry: T): void;
  /** Writes all that waits, now. Throws where it cannot. */
  readonly flush: () => Promise<void>;
  /** Writes what waits for the last time; what cannot be written is lost and counted in the log. */
  readonly close: () => Promise<void>;
}

interface WriteBehindSettings<T> {
  /** Named in log lines. */
  readonly name: string;
  readonly maxEntries: number;
  readonly log: Pick<Log, "error">;
  readonly write: (entries: T[]) => Promise<void>;
}

/** Batches are written one at a time; a batch that fails is kept and tried again after a second. */
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
