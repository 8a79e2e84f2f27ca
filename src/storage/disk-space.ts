/**
 * Watches free disk space. Writes of unknown size stop at a floor, which leaves Postgres and Temporal room
 * for their logs.
 *
 * @see docs/decisions/0028-a-full-disk-and-the-ends-of-a-start.md
 */
import type { StatsFs } from "node:fs";
import { statfs } from "node:fs/promises";
import { DomainError } from "../domain/errors.ts";
import { shareFor, shareRunning } from "../process/concurrency/share-running.ts";

export interface DiskReading {
  /** What is stored there: `data` or `objects`. */
  readonly name: string;
  /** Bytes that this user may still write. */
  readonly freeBytes: number;
  /** Bytes that must stay free; 0 if there is no floor. */
  readonly floorBytes: number;
}

export interface DiskSpace {
  /** A reading for each folder, at most a second old. A folder that is missing or too slow is left out. */
  read(): Promise<readonly DiskReading[]>;
  /**
   * @param bytes that are about to be written; 0 by default.
   * @throws DomainError `insufficient_storage` if free space is below a floor, or would be after writing
   *   `bytes`.
   */
  assertRoom(bytes?: number): Promise<void>;
}

interface DiskSettings {
  /** Paths by name. A folder that does not exist yet is looked at as soon as it does. */
  readonly folders: Readonly<Record<string, string>>;
  /** At most a tenth of the file system, so that a small volume, such as a temporary one, stays usable. */
  readonly floorBytes: number;
  /** `statfs` by default; tests give their own. */
  readonly ask?: Ask;
}

type Ask = (folder: string) => Promise<StatsFs>;

const FRESH_MS = 1_000;
const ASK_TIMEOUT_MS = 2_000;
/** The largest floor, as a share of its file system. */
const LARGEST_SHARE = 0.1;
const RETRY_AFTER_SECONDS = 5;

/** Nothing is read before the first question. @example `test/storage/disk-space.test.ts` */
export function watchDisk({ folders, floorBytes, ask = statfs }: DiskSettings): DiskSpace {
  // A question to a share that hangs holds one of the few threads that read and write all files of the
  // process, so there is no second one before it ends.
  const share = shareRunning<StatsFs>();
  const askOnce: Ask = (folder) => share(folder, () => ask(folder));
  const read = shareFor(FRESH_MS, () => readAll(folders, floorBytes, askOnce));
  return {
    read,
    async assertRoom(bytes = 0) {
      const full = (await read()).find(
        (each) => each.floorBytes > 0 && each.freeBytes - bytes < each.floorBytes,
      );
      if (full !== undefined) throw insufficientStorage();
    },
  };
}

export function insufficientStorage(cause?: unknown): DomainError {
  return new DomainError(
    "insufficient_storage",
    "There is too little free disk space. Stored data can be read; uploads are accepted again " +
      "once there is room.",
    {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      cause,
    },
  );
}

async function readAll(
  folders: DiskSettings["folders"],
  floorBytes: number,
  ask: Ask,
): Promise<readonly DiskReading[]> {
  const readings = await Promise.all(
    Object.entries(folders).map(([name, folder]) => readOne({ name, folder, floorBytes, ask })),
  );
  return readings.filter((reading) => reading !== undefined);
}

interface Asked {
  readonly name: string;
  readonly folder: string;
  readonly floorBytes: number;
  readonly ask: Ask;
}

/** Undefined for a share that hangs or fails: whatever reads and writes there reports that. */
async function readOne({ name, folder, floorBytes, ask }: Asked): Promise<DiskReading | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(late.resolve, ASK_TIMEOUT_MS, undefined);
  try {
    const found = await Promise.race([ask(folder), late.promise]);
    if (found === undefined) return undefined;
    return {
      name,
      freeBytes: found.bavail * found.bsize,
      floorBytes: Math.min(floorBytes, Math.floor(found.blocks * found.bsize * LARGEST_SHARE)),
    };
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
