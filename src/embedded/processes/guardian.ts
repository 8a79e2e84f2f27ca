/**
 * The guardian of a start: a process of its own that ends the start's other processes if the start is killed.
 * While it waits it is only a shell that reads a line, which takes a megabyte and can hardly fail.
 */
import { spawn } from "node:child_process";
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import type { ProcessRecord } from "./process-record.ts";

const MAIN = join(import.meta.dirname, "guardian-main.ts");
/** A line ends the guardian; if the pipe ends without one, the start is gone and the guardian acts. */
const WAIT = 'read -r over || exec "$@"';

export interface Guardian {
  /** Call it when the start has ended in order, so that the guardian ends too. */
  release(): void;
}

/** Starts the guardian for the processes in `record`, in its own session: our signals do not reach it. */
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
    // It must outlive this process without keeping it alive.
    child.unref();
    // The pipe breaks if the guardian was killed; the next start then ends what is left.
    child.stdin?.on("error", () => undefined);
    return {
      release() {
        child.stdin?.end("over\n");
      },
    };
  } finally {
    await log.close();
  }
}
