/** Uploads documents to a stack and measures what their pipeline takes. */
import { setTimeout as sleep } from "node:timers/promises";
import { mapAtMost } from "../../../src/process/concurrency/settle-all.ts";
import { upload } from "../../../test/support/clients/client.ts";
import type { Stack } from "../../../test/support/stack/stack.ts";
import { KEYS, SPACES } from "../../../test/support/tenants/tenants.ts";
import { privateBytes, treeOf } from "../../process-tree.ts";
import { textOf } from "./texts.ts";
import { type Pids, countDone, cpuOf, pidsOf } from "./usage.ts";

export const UPLOADERS = 8;
/** A phase that takes longer is judged by what is done until then. */
export const PHASE_MS = 80_000;
const WATCH_MS = 500;

export interface Ingested {
  readonly seconds: number;
  readonly documents: number;
  readonly chunks: number;
  /** Seconds of processor time by process. */
  readonly cpu: Record<keyof Pids, number>;
  /** The most private bytes that the worker and its parsers had. */
  readonly peakBytes: number;
}

/** Keeps the most private bytes that a process and its children had, every half second. */
function watchPrivateBytes(pid: number): { stop(): Promise<number> } {
  let peakBytes = 0;
  const look = async (): Promise<void> => {
    const bytes = await privateBytes(await treeOf(pid));
    peakBytes = Math.max(peakBytes, bytes);
  };
  const timer = setInterval(() => void look(), WATCH_MS);
  return {
    async stop() {
      clearInterval(timer);
      await look();
      return peakBytes;
    },
  };
}

/** Uploads `count` documents, but begins no more after `isLate`. */
async function uploadAll(stack: Stack, count: number, isLate: () => boolean): Promise<void> {
  const documents = Array.from({ length: count }, (_, at) => at);
  await mapAtMost(UPLOADERS, documents, async (at) => {
    if (!isLate()) await upload(stack.url, KEYS.editor, SPACES.research, textOf(at), `document-${at}.md`);
  });
}

/** Uploads documents and waits until they are completed, at most {@link PHASE_MS}. */
export async function ingest(stack: Stack, count: number): Promise<Ingested> {
  const pids = await pidsOf(stack);
  const before = await countDone(stack);
  const cpuBefore = await cpuOf(pids);
  const start = performance.now();
  const watched = watchPrivateBytes(pids.worker);
  const isLate = (): boolean => performance.now() - start > PHASE_MS;
  await uploadAll(stack, count, isLate);
  let now = await countDone(stack);
  while (now.documents - before.documents < count && !isLate()) {
    await sleep(50);
    now = await countDone(stack);
  }
  const seconds = (performance.now() - start) / 1_000;
  const cpuAfter = await cpuOf(pids);
  const peakBytes = await watched.stop();
  const cpu = Object.fromEntries(
    Object.entries(cpuAfter).map(([name, spent]) => [name, spent - cpuBefore[name as keyof Pids]]),
  ) as Ingested["cpu"];
  return {
    seconds,
    documents: now.documents - before.documents,
    chunks: now.chunks - before.chunks,
    cpu,
    peakBytes,
  };
}
