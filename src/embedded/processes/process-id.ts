/** Identifies a process by its number and its start time, because numbers are reused. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

export interface ProcessId {
  readonly pid: number;
  /** In the system's own format; it is only compared. */
  readonly startedAt: string;
}

const START_TIME_FIELD = 19;
const STATE_FIELD = 0;

/** The identity of a running process; undefined if there is none. */
export async function processId(pid: number): Promise<ProcessId | undefined> {
  const startedAt = process.platform === "linux" ? await startTimeOnLinux(pid) : await startTimeByPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

/** True while exactly this process runs. */
export async function isRunning(id: ProcessId): Promise<boolean> {
  return (await processId(id.pid))?.startedAt === id.startedAt;
}

async function startTimeOnLinux(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return undefined;
  // The second field is the command in brackets and may contain spaces, so fields are counted after it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const isZombie = fields[STATE_FIELD] === "Z";
  return isZombie ? undefined : fields[START_TIME_FIELD];
}

async function startTimeByPs(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "lstart=", "-p", String(pid)]);
    return stdout.trim() === "" ? undefined : stdout.trim();
  } catch {
    return undefined;
  }
}
