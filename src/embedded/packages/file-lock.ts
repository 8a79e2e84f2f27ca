/** Locks between processes that share a folder: a file names its holder; free if that process is gone. */
import { randomUUID } from "node:crypto";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { isRunning, type ProcessId, processId } from "../processes/process-id.ts";
import { hasCode } from "../start-error.ts";

const POLL_MS = 200;

export interface FileLock {
  release(): Promise<void>;
}

/** Takes the lock at `path`, or returns the live process that holds it. A dead one loses its lock. */
export async function tryLock(path: string): Promise<FileLock | ProcessId> {
  const own = await processId(process.pid);
  if (own === undefined) throw new Error("this process cannot be looked up");
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, JSON.stringify(own), { mode: 0o644 });
  try {
    for (;;) {
      // A hard link appears together with its content, and fails if the name exists.
      const taken = await link(draft, path).then(
        () => true,
        (error: unknown) => {
          if (hasCode(error, "EEXIST")) return false;
          throw error;
        },
      );
      if (taken) return { release: () => rm(path, { force: true }) };
      const holder = await readHolder(path);
      if (holder !== undefined && (await isRunning(holder))) return holder;
      // Renamed first, so that of two processes that see a dead holder only one removes its file.
      await rename(path, `${draft}.stale`).catch(() => undefined);
      await rm(`${draft}.stale`, { force: true });
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/** Waits for the lock. `onWait` is called once, if another process has it. @throws the `signal`'s reason. */
export async function waitForLock(
  path: string,
  { onWait, signal }: { onWait: () => void; signal?: AbortSignal | undefined },
): Promise<FileLock> {
  let isFirst = true;
  for (;;) {
    const result = await tryLock(path);
    if ("release" in result) return result;
    if (isFirst) onWait();
    isFirst = false;
    await sleep(POLL_MS, undefined, signal === undefined ? {} : { signal });
  }
}

async function readHolder(path: string): Promise<ProcessId | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as ProcessId;
  } catch {
    return undefined;
  }
}
