/** Keeps a backup from filling the service's disk: uploads would stop, and then Postgres. */
import { stat } from "node:fs/promises";
import { ExpectedFailure } from "../domain/expected-failure.ts";
import type { DiskSpace } from "../storage/disk-space.ts";

const LOOK_EVERY_MS = 1_000;

export type AssertRoom = () => Promise<void>;

/** @returns a function that throws ExpectedFailure below the floor of a disk that the service uses. */
export async function roomBeside(
  folder: string,
  dataDir: string,
  disk: Pick<DiskSpace, "assertRoom">,
): Promise<AssertRoom> {
  const [there, here] = await Promise.all([deviceOf(folder), deviceOf(dataDir)]);
  if (there === undefined || there !== here) return () => Promise.resolve();
  return () =>
    disk.assertRoom().catch((error: unknown) => {
      throw new ExpectedFailure(
        "The backup would leave too little free on the disk of DATA_DIR, where the service writes " +
          "(MIN_FREE_DISK_BYTES): name a folder on another disk.",
        error,
      );
    });
}

async function deviceOf(folder: string): Promise<number | undefined> {
  return stat(folder).then(
    ({ dev }) => dev,
    () => undefined,
  );
}

/** Runs `work` and checks the room meanwhile; its signal aborts when there is too little. */
export async function whileRoom<T>(
  assertRoom: AssertRoom,
  work: (signal: AbortSignal) => Promise<T>,
  everyMs: number = LOOK_EVERY_MS,
): Promise<T> {
  await assertRoom();
  const full = new AbortController();
  const timer = setInterval(() => void assertRoom().catch((error: unknown) => full.abort(error)), everyMs);
  try {
    return await work(full.signal);
  } catch (error) {
    // The error of the aborted work only says that it was aborted.
    throw full.signal.aborted ? full.signal.reason : error;
  } finally {
    clearInterval(timer);
  }
}
