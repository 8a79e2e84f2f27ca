/**
 * A process's folder for files that parser processes read. They are decrypted, so the folder belongs to this
 * process, which removes it when it ends. A process opens one, at its start, and hands out folders in it.
 */
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { DomainError } from "../domain/errors.ts";
import { ExpectedFailure } from "../domain/expected-failure.ts";

export interface TemporaryFolder {
  /** The folder of this name, which is made if there is none: whatever cleans up may have removed it. */
  subfolder(name: string): string;
  /** Removes it with all that is in it. */
  close(): Promise<void>;
}

/** The folders that this process has open, which it does not take for those of one that died. */
const opened = new Set<string>();

/** Longer than a process works on one file: what nobody has written to for so long belongs to none. */
const LEFT_AFTER_MS = 24 * 3_600_000;

/**
 * Makes a folder of this process in `dataDir/tmp`, and removes folders of processes that no longer run.
 * @param onFailure Told if the folder cannot be made now; `subfolder` tries again.
 */
export async function openTemporaryFolder(
  dataDir: string,
  onFailure: (error: ExpectedFailure) => void,
): Promise<TemporaryFolder> {
  const shared = join(dataDir, "tmp");
  const own = join(shared, `${hostname()}-${process.pid}-${randomBytes(4).toString("hex")}`);
  const folder: TemporaryFolder = {
    subfolder(name) {
      const path = join(own, name);
      try {
        for (const one of [shared, own, path]) ensureFolder(one);
      } catch (error) {
        throw asUnwritable(error);
      }
      return path;
    },
    async close() {
      await rm(own, { recursive: true, force: true });
      opened.delete(own);
    },
  };
  opened.add(own);
  try {
    folder.subfolder(".");
    for (const name of await readdir(shared))
      if (await isLeft(shared, name)) await rm(join(shared, name), { recursive: true, force: true });
  } catch (error) {
    const cause = error instanceof DomainError ? error.cause : error;
    onFailure(new ExpectedFailure(`Temporary files cannot be written in ${shared}: ${String(cause)}`, cause));
  }
  return folder;
}

/** Makes a folder closed to other users; as root, parsers' own users may pass through to their files. */
export function ensureFolder(path: string): void {
  const isMade = mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined;
  if (isMade && process.getuid?.() === 0) chmodSync(path, 0o711);
}

/**
 * Treats a failure to write temporary data as an outage: a retry helps once the folder can be written. Any
 * other error is left as it is.
 */
export function asUnwritable(error: unknown): unknown {
  if (!(error instanceof Error) || !("syscall" in error)) return error;
  return new DomainError("storage_unavailable", "The service cannot write its temporary files.", {
    cause: error,
  });
}

/**
 * Whether nobody uses the folder any more. Process ids tell only of this host, and hosts (containers, say)
 * may share the data folder; of others, and of names of another form, only their age tells.
 */
async function isLeft(shared: string, name: string): Promise<boolean> {
  const path = join(shared, name);
  if (opened.has(path)) return false;
  const [, host, pid] = /^(.*)-(\d+)-[\da-f]{8}$/.exec(name) ?? [];
  if (host === hostname()) return Number(pid) === process.pid || !isRunning(Number(pid));
  return (await lastWritten(path)) < Date.now() - LEFT_AFTER_MS;
}

/** When something was last placed in the folder or in one of its folders; 0 if it is gone. */
async function lastWritten(path: string): Promise<number> {
  const inside = await readdir(path).catch(() => []);
  const folders = [path, ...inside.map((name) => join(path, name))];
  const times = await Promise.all(
    folders.map((one) =>
      stat(one).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  return Math.max(...times);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
