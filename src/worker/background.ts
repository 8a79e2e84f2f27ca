/** Lowers the worker's priority: the API and databases on this machine, which people wait for, go first. */
import { readFile, readdir, writeFile } from "node:fs/promises";
import { constants, setPriority } from "node:os";

const { PRIORITY_BELOW_NORMAL } = constants.priority;

/** Parser processes started later inherit the priority. Without `/proc` only the main thread has it. */
export async function workInBackground(): Promise<void> {
  // Linux has a priority for each thread, and those of V8 are running already.
  const threads = await readdir("/proc/self/task").catch(() => [String(process.pid)]);
  for (const thread of threads) lower(Number(thread));
  // On desktops Linux shares the processor among sessions; a process may lower only one it leads.
  if (await leadsSession().catch(() => false))
    await writeFile("/proc/self/autogroup", String(PRIORITY_BELOW_NORMAL)).catch(() => undefined);
}

function lower(thread: number): void {
  try {
    setPriority(thread, PRIORITY_BELOW_NORMAL);
  } catch {
    // The thread has ended meanwhile.
  }
}

async function leadsSession(): Promise<boolean> {
  const stat = await readFile("/proc/self/stat", "latin1");
  // After the name in parentheses, which may hold anything: state, parent, group, session.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[3]) === process.pid;
}
