/**
 * The only place that ends a start's processes where the start itself cannot: a guardian waits beside it, and acts if it is killed.
 * Until then it is a shell that waits for a line: a megabyte, and nothing that could fail.
 */
import { spawn } from "node:child_process";
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import type { ProcessRecord } from "./process-record.ts";

const MAIN = join(import.meta.dirname, "guardian-main.ts");
/** A line ends the wait; the end of the pipe without one means that whoever held it is gone. */
const WAIT = 'read -r over || exec "$@"';

export interface Guardian {
  /** The start has ended in order: nothing is left to do. */
  release(): void;
}

/** Starts the guardian of the processes that `record` holds, in a session of its own, which no signal to this one reaches. */
export async function startGuardian(dataDir: string, record: ProcessRecord): Promise<Guardian> {
  await mkdir(join(dataDir, "logs"), { recursive: true, mode: 0o700 });
  const log = await open(join(dataDir, "logs", "guardian.log"), "a", 0o600);
  try {
    const args = ["-c", WAIT, "holdfast-guardian", process.execPath, MAIN, dataDir, record.owner];
    const child = spawn("/bin/sh", args, { detached: true, stdio: ["pipe", log.fd, log.fd], cwd: dataDir });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    // It outlives this process, and must not keep it.
    child.unref();
    // One that was killed cannot be told anything; the next start ends what is left then.
    child.stdin?.on("error", () => undefined);
    return { release: () => void child.stdin?.end("over\n") };
  } finally {
    await log.close();
  }
}
