/** The only place that looks at free space: writes that grow stop at a floor, which leaves Postgres and Temporal room for their logs. */
import type { StatsFs } from "node:fs";
import { statfs } from "node:fs/promises";
import { DomainError } from "../domain/errors.ts";

export interface DiskReading {
  /** What lies there: `data` or `objects`. */
  readonly name: string;
  /** Bytes that this user may still write. */
  readonly freeBytes: number;
  /** Bytes that stay free; 0 where there is no floor. */
  readonly floorBytes: number;
}

export interface DiskSpace {
  /** One for each folder that exists; at most a second old. A file system that cannot be asked in time is left out. */
  read(): Promise<readonly DiskReading[]>;
  /** @throws DomainError `insufficient_storage` where one of them is below its floor, or would be with `bytes` more. */
  assertRoom(bytes?: number): Promise<void>;
}

interface DiskSettings {
  /** By name; one that does not exist holds nothing of ours, and is not looked at until it does. */
  readonly folders: Readonly<Record<string, string>>;
  /** Lowered to a tenth of a file system that is small, as a volume for temporary files. */
  readonly floorBytes: number;
  /** Only tests give their own. */
  readonly ask?: Ask;
}

type Ask = (folder: string) => Promise<StatsFs>;

const FRESH_MS = 1_000;
const ASK_TIMEOUT_MS = 2_000;
const LARGEST_SHARE = 0.1;
const RETRY_AFTER_SECONDS = 5;

export function watchDisk({ folders, floorBytes, ask = statfs }: DiskSettings): DiskSpace {
  const askOnce = withoutSecond(ask);
  let last: { readonly at: number; readonly readings: Promise<readonly DiskReading[]> } | undefined;
  const read = (): Promise<readonly DiskReading[]> => {
    const now = performance.now();
    if (last === undefined || now - last.at > FRESH_MS)
      last = { at: now, readings: readAll(folders, floorBytes, askOnce) };
    return last.readings;
  };
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
    "There is too little free disk space; what is stored can be read, and more is taken once there is room.",
    {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      cause,
    },
  );
}

/** Joins a question that is not answered yet: each takes one of the few threads that all files of the process are read and written by. */
function withoutSecond(ask: Ask): Ask {
  const waiting = new Map<string, Promise<StatsFs>>();
  return (folder) => {
    const asked = waiting.get(folder) ?? ask(folder).finally(() => waiting.delete(folder));
    waiting.set(folder, asked);
    return asked;
  };
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

/** A share that hangs, or fails, is told by what reads and writes there: here it must not hold anything up. */
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
