/**
 * A thread that asks again and again who it is, until it is told to stop. Apart from those who hold it up, so
 * that what these do in their own process does not count as the service's.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

interface Asker {
  readonly url: string;
  readonly token: string;
}

export interface Watched {
  /** Milliseconds of each answer. */
  readonly took: readonly number[];
  /** How many of which status were no answer. */
  readonly failures: ReadonlyMap<number, number>;
}

/** A caller has 600 requests a minute. */
const PAUSE_MS = 20;

/** @returns what ends it, and says what it saw. */
export function watchMe(asker: Asker): () => Promise<Watched> {
  const thread = new Worker(new URL(import.meta.url), { workerData: asker });
  return async () => {
    const seen = new Promise<Watched>((resolve, reject) => {
      thread.once("message", resolve).once("error", reject);
    });
    thread.postMessage("stop");
    return seen;
  };
}

async function watch({ url, token }: Asker): Promise<Watched> {
  let isOver = false;
  parentPort?.once("message", () => {
    isOver = true;
  });
  const took: number[] = [];
  const failures = new Map<number, number>();
  while (!isOver || took.length === 0) {
    const started = performance.now();
    const answer = await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${token}` } });
    await answer.arrayBuffer();
    took.push(performance.now() - started);
    if (answer.status !== 200) failures.set(answer.status, (failures.get(answer.status) ?? 0) + 1);
    await sleep(PAUSE_MS);
  }
  return { took, failures };
}

if (!isMainThread) parentPort?.postMessage(await watch(workerData as Asker));
