/** Collects rows and writes them in batches: no request waits. Bounded in number, and to a second. */
import type { Log } from "../process/log.ts";

const DELAY_MS = 300;
const RETRY_MS = 1_000;

export interface WriteBehind<T> {
  /** Takes the entry for the next batch. A full queue drops it, and later logs how many it dropped. */
  add(entry: T): void;
  /** Writes all that waits, now. @throws what `write` throws; the entries are kept then. */
  readonly flush: () => Promise<void>;
  /** Writes all that waits for the last time. What cannot be written is lost, and counted in the log. */
  readonly close: () => Promise<void>;
}

interface WriteBehindSettings<T> {
  readonly name: string;
  readonly maxEntries: number;
  readonly log: Pick<Log, "error">;
  /** Is called again with the same entries after it has failed. */
  readonly write: (entries: readonly T[]) => Promise<void>;
}

/**
 * Writes one batch at a time, 300 ms after its first entry. A batch that fails is tried again after a second,
 * before what came after it.
 */
export function createWriteBehind<T>({
  name,
  maxEntries,
  log,
  write,
}: WriteBehindSettings<T>): WriteBehind<T> {
  let waiting: T[] = [];
  /** Is written, or will be tried again: as it is, since it may have been written and the answer lost. */
  let batch: T[] = [];
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  function schedule(delayMs: number): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      flush().catch((error: unknown) => {
        log.error(
          { err: error, waiting: batch.length + waiting.length },
          `${name} could not be written; trying again`,
        );
        schedule(RETRY_MS);
      });
    }, delayMs).unref();
  }

  async function writeBatch(): Promise<void> {
    if (batch.length === 0) [batch, waiting] = [waiting, []];
    if (batch.length === 0) return;
    await write(batch);
    batch = [];
    if (dropped > 0) log.error({ dropped }, `${name} lost entries: more came than could be written`);
    dropped = 0;
  }

  async function writeAll(): Promise<void> {
    const isRepeat = batch.length > 0;
    await writeBatch();
    if (isRepeat) await writeBatch();
  }

  function flush(): Promise<void> {
    const written = writing.then(writeAll);
    writing = written.catch(() => undefined);
    return written;
  }

  return {
    add(entry) {
      if (batch.length + waiting.length >= maxEntries) {
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
        log.error({ err: error, lost: batch.length + waiting.length }, `${name} lost entries at the end`),
      );
      clearTimeout(timer);
    },
  };
}
