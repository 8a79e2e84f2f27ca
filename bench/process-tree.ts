/** Reads processor time and memory of other processes from /proc, so it runs on Linux only. */
import { readFile } from "node:fs/promises";

const POLL_MS = 50;
/** USER_HZ, which Linux has fixed for what programs see. */
const TICKS_A_SECOND = 100;

/** Resident megabytes; 0 if the process has ended. */
export async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "latin1").catch(() => "");
  return Math.ceil(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1_024);
}

/**
 * Megabytes in memory, shared ones divided by those who share them (PSS), also of a parser process; 0 if the
 * process has ended.
 */
export async function proportionalMegabytes(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "latin1").catch(() => "");
  return Math.ceil(Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? 0) / 1_024);
}

/** The arguments that it was started with, separated by NUL; empty if the process has ended. */
export async function commandOf(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, "latin1").catch(() => "");
}

/** The parser processes among the children of a process. */
export async function parserProcesses(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "latin1").catch(() => "");
  const pids = children.split(" ").filter(Boolean).map(Number);
  const commands = await Promise.all(pids.map(commandOf));
  return pids.filter((_, index) => commands[index]!.includes("parsers/process/child-main.ts"));
}

/** Watches until it is stopped. `stop` returns the most resident megabytes that one of the processes had. */
export function peakOf(pids: () => Promise<number[]>): { stop(): number } {
  let peak = 0;
  const look = async (): Promise<void> => {
    const megabytes = await Promise.all((await pids()).map(residentMegabytes));
    peak = Math.max(peak, ...megabytes);
  };
  void look();
  const timer = setInterval(() => void look(), POLL_MS);
  return {
    stop() {
      clearInterval(timer);
      return peak;
    },
  };
}

/** The process and all its descendants. */
export async function treeOf(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "latin1").catch(() => "");
  const below = await Promise.all(children.split(" ").filter(Boolean).map(Number).map(treeOf));
  return [pid, ...below.flat()];
}

/** Bytes that belong to these processes alone, without shared memory such as Postgres's buffers. */
export async function privateBytes(pids: readonly number[]): Promise<number> {
  const rollups = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/smaps_rollup`, "latin1").catch(() => "")),
  );
  return rollups
    .flatMap((rollup) => [...rollup.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB/gm)])
    .reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1_024, 0);
}

/** Seconds of processor time of the process and all its descendants so far, including ended ones. */
export async function cpuSeconds(pid: number): Promise<number> {
  const stats = await Promise.all(
    (await treeOf(pid)).map((one) => readFile(`/proc/${one}/stat`, "latin1").catch(() => "")),
  );
  const ticks = stats.flatMap((stat) =>
    stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 15)
      .map(Number),
  );
  return ticks.reduce((sum, count) => sum + count, 0) / TICKS_A_SECOND;
}

export async function parentOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}
