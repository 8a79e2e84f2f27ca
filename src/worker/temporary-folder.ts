/** The worker's folder for files that a parser child reads: decrypted, so it is the process's own and ends with it. */
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** Makes the folder of this process below `dataDir`, and removes what processes that are gone left there. */
export async function openTemporaryFolder(dataDir: string): Promise<string> {
  const shared = join(dataDir, "tmp");
  await mkdir(shared, { recursive: true, mode: 0o700 });
  for (const name of await readdir(shared)) if (!isRunning(Number(name))) await rm(join(shared, name), { recursive: true, force: true });
  const own = join(shared, String(process.pid));
  await rm(own, { recursive: true, force: true });
  await mkdir(own, { mode: 0o700 });
  return own;
}

function isRunning(pid: number): boolean {
  try {
    return Number.isInteger(pid) && process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
