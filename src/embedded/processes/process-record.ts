/** The record of the processes that a start has begun; the next start ends those that outlived it. */
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type FileLock, tryLock } from "../packages/file-lock.ts";
import type { Running } from "./launch.ts";
import { type ProcessId, isRunning, processId } from "./process-id.ts";
import { StartError } from "../start-error.ts";

interface RecordedProcess extends ProcessId {
  readonly name: string;
  readonly stopSignal: NodeJS.Signals;
  /** The start that began it. */
  readonly owner: string;
}

const STOP_GRACE_MS = 15_000;
const POLL_MS = 50;

/** Makes this process the data folder's only one. @throws StartError if another process runs on it */
export async function claimDataDir(dataDir: string): Promise<FileLock> {
  const result = await tryLock(join(dataDir, "holdfast.pid"));
  if ("release" in result) return result;
  throw new StartError(
    `Holdfast already runs on ${dataDir} (process ${result.pid}). ` +
      "Stop it first, or give this one its own: DATA_DIR=.data2 PORT=8081 npm start",
  );
}

export interface ProcessRecord {
  /** Identifies the start that the processes belong to. */
  readonly owner: string;
  add(running: Running): void;
  /** Resolves when everything that was added is written. */
  flush(): Promise<void>;
  clear(): Promise<void>;
}

/** Keeps the record in the data folder. Each write drops processes that have ended. */
export async function openProcessRecord(dataDir: string): Promise<ProcessRecord> {
  const path = recordPath(dataDir);
  const own = await processId(process.pid);
  if (own === undefined) throw new Error("this process cannot be looked up");
  const owner = `${own.pid} ${own.startedAt}`;
  // A map keeps the order of the first start for a part that is started again.
  const known = new Map<string, { running: Running; recorded: RecordedProcess }>();
  let writing = Promise.resolve();
  const write = async (running: Running): Promise<void> => {
    const id = await processId(running.pid);
    if (id === undefined) return;
    known.set(running.name, {
      running,
      recorded: { ...id, name: running.name, stopSignal: running.stopSignal, owner },
    });
    const alive = [...known.values()]
      .filter((entry) => !entry.running.hasExited())
      .map((entry) => entry.recorded);
    await writeFile(`${path}.new`, JSON.stringify(alive));
    await rename(`${path}.new`, path);
  };
  return {
    owner,
    add(running) {
      writing = writing.then(() => write(running));
    },
    flush: () => writing,
    async clear() {
      await writing;
      await rm(path, { force: true });
    },
  };
}

/** Ends what an earlier start left behind, last begun first. The caller holds the folder's lock. */
export async function stopLeftovers(dataDir: string, onProgress: (line: string) => void): Promise<void> {
  await stopRecorded(await readRecord(dataDir), onProgress);
  await rm(recordPath(dataDir), { force: true });
}

/** Ends what the start `owner` left behind. Needs no lock: later starts and the record stay untouched. */
export async function stopProcessesOf(
  dataDir: string,
  owner: string,
  onProgress: (line: string) => void,
): Promise<void> {
  const recorded = await readRecord(dataDir);
  await stopRecorded(
    recorded.filter((each) => each.owner === owner),
    onProgress,
  );
}

async function stopRecorded(
  recorded: readonly RecordedProcess[],
  onProgress: (line: string) => void,
): Promise<void> {
  for (const leftover of recorded.toReversed()) {
    if (!(await isRunning(leftover))) continue;
    onProgress(`stopping ${leftover.name} (process ${leftover.pid}), left by an earlier start …`);
    await stopLeftover(leftover);
  }
}

async function stopLeftover(leftover: RecordedProcess): Promise<void> {
  signal(leftover.pid, leftover.stopSignal);
  const deadline = Date.now() + STOP_GRACE_MS;
  while (Date.now() < deadline && (await isRunning(leftover))) await sleep(POLL_MS);
  // Kill its group too: a worker may have had children, and the group lives as long as one of them.
  signal(-leftover.pid, "SIGKILL");
  while (await isRunning(leftover)) await sleep(POLL_MS);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}

function recordPath(dataDir: string): string {
  return join(dataDir, "processes.json");
}

async function readRecord(dataDir: string): Promise<RecordedProcess[]> {
  const text = await readFile(recordPath(dataDir), "utf8").catch(() => "[]");
  try {
    return JSON.parse(text) as RecordedProcess[];
  } catch {
    return [];
  }
}
