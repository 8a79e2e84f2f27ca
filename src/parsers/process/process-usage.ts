/** The only place that measures what another process takes: memory, and processor time. */

import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What Linux counts in for other programs, on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Resident bytes of a process: what it really takes, native memory included. 0 where it is gone or nothing tells. */
export async function residentBytes(pid: number): Promise<number> {
  try {
    return process.platform === "linux" ? await fromProc(pid) : await fromPs(pid);
  } catch {
    return 0;
  }
}

/** Seconds of processor time that a process has taken with all its threads. 0 where it is gone or nothing tells. */
export async function processorSeconds(pid: number): Promise<number> {
  if (process.platform !== "linux") return 0;
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "latin1");
    // The name, in parentheses, may hold anything; user and system time are the 12th and 13th field after it.
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
