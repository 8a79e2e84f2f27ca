/** The only place that tells one process from a later one with the same number: by its start time. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

export interface ProcessId {
  readonly pid: number;
  /** As the system tells it; compared, never read. */
  readonly startedAt: string;
}

const START_TIME_FIELD = 19;
const STATE_FIELD = 0;

/** The identity of a running process; undefined where there is none. */
export async function processId(pid: number): Promise<ProcessId | undefined> {
  const startedAt = process.platform === "linux" ? await startTimeOnLinux(pid) : await startTimeByPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

/** True while this very process runs. */
export async function isRunning(id: ProcessId): Promise<boolean> {
  return (await processId(id.pid))?.startedAt === id.startedAt;
}

async function startTimeOnLinux(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return undefined;
  // The second field is the command in brackets and may hold spaces; the count starts behind it.
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
