/** What benches know of other processes: the parsers below a worker, and the most memory that any of some took. */
import { readFile } from "node:fs/promises";

const POLL_MS = 50;

/** Resident megabytes; 0 for a process that is gone. */
export async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "latin1").catch(() => "");
  return Math.ceil(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1_024);
}

/** Parsers among the children of a process. */
export async function parserProcesses(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "latin1").catch(() => "");
  const pids = children.split(" ").filter(Boolean).map(Number);
  const commands = await Promise.all(pids.map((child) => readFile(`/proc/${child}/cmdline`, "latin1").catch(() => "")));
  return pids.filter((_, index) => commands[index]!.includes("parsers/child-main.ts"));
}

/** Watches until it is stopped; then tells the most megabytes that one of the processes took. */
export function peakOf(pids: () => Promise<number[]>): { stop(): number } {
  let peak = 0;
  const look = (): void => {
    void pids()
      .then((found) => Promise.all(found.map(residentMegabytes)))
      .then((megabytes) => (peak = Math.max(peak, ...megabytes)));
  };
  look();
  const timer = setInterval(look, POLL_MS);
  return {
    stop() {
      clearInterval(timer);
      return peak;
    },
  };
}
