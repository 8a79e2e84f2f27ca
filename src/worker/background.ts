/** The only place where the worker steps back behind what somebody waits for on the same machine: the API and the databases. */
import { readFile, readdir, writeFile } from "node:fs/promises";
import { constants, setPriority } from "node:os";

const { PRIORITY_BELOW_NORMAL } = constants.priority;

/** Its parsers, started later, inherit it. A system that counts otherwise leaves all as it was. */
export async function workInBackground(): Promise<void> {
  // Linux counts each thread for itself, and those of V8 run already.
  const threads = await readdir("/proc/self/task").catch(() => [String(process.pid)]);
  for (const thread of threads) lower(Number(thread));
  // Where it shares out the processor by sessions first, as on desktops, only that of a process which leads its own may be lowered.
  if (await leadsSession().catch(() => false))
    await writeFile("/proc/self/autogroup", String(PRIORITY_BELOW_NORMAL)).catch(() => undefined);
}

function lower(thread: number): void {
  try {
    setPriority(thread, PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended meanwhile.
  }
}

async function leadsSession(): Promise<boolean> {
  const stat = await readFile("/proc/self/stat", "latin1");
  // Behind the name, which may hold anything: state, parent, group, session.
  const [, , , session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(session) === process.pid;
}
