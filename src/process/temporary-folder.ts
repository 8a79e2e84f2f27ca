/**
 * A process's folder for files that parser processes read. They are decrypted, so the folder belongs to this
 * process, which removes it when it ends.
 */
import { chmod, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** Makes the folder of this process in `dataDir/tmp`, and removes folders of processes that no longer run. */
export async function openTemporaryFolder(dataDir: string): Promise<string> {
  const shared = join(dataDir, "tmp");
  await makeFolder(shared);
  for (const name of await readdir(shared))
    if (!isRunning(Number(name))) await rm(join(shared, name), { recursive: true, force: true });
  const own = join(shared, String(process.pid));
  await rm(own, { recursive: true, force: true });
  await makeFolder(own);
  return own;
}

/**
 * Closed to other users. If this runs as root, parser processes have users of their own, who may pass through
 * to their files.
 */
async function makeFolder(path: string): Promise<void> {
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  await mkdir(path, { recursive: true, mode });
  await chmod(path, mode);
}

function isRunning(pid: number): boolean {
  try {
    return Number.isInteger(pid) && process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
