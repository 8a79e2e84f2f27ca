/** Measures the memory and processor time of another process. */

import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Linux reports times to other programs in this unit, on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Resident bytes of a process, native memory included; 0 if it is gone or they cannot be read. */
export async function residentBytes(pid: number): Promise<number> {
  try {
    return process.platform === "linux" ? await fromProc(pid) : await fromPs(pid);
  } catch {
    return 0;
  }
}

/** Seconds of processor time of a process with its threads; 0 if it is gone, and outside of Linux. */
export async function processorSeconds(pid: number): Promise<number> {
  if (process.platform !== "linux") return 0;
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "latin1");
    // The name, in parentheses, may hold any character; user and system time are fields 12 and 13 after it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}

async function fromProc(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "latin1");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}

async function fromPs(pid: number): Promise<number> {
  const { stdout } = await run("ps", ["-o", "rss=", "-p", String(pid)]);
  return Number(stdout.trim()) * 1024;
}
