/** Where chunking runs: short texts here, longer ones in threads, in turns of organizations and users, so that other work goes on. */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { type Chunk, chunkerNamed } from "../../chunkers/index.ts";
import { DomainError, type ErrorCode } from "../../domain/errors.ts";
import { type Owner, createFairQueue } from "../../domain/fair-queue.ts";
import type { TextUnit } from "../../domain/text-unit.ts";
import type { EmbeddingModel, ModelsConfig } from "../../models/embedding/embedding-model.ts";

export interface ChunkingJob {
  readonly chunkerName: string;
  readonly units: readonly TextUnit[];
  readonly maxTokens: number;
  readonly overlapTokens: number;
  /** As the document says it. */
  readonly language?: string | undefined;
}

export type ChunkingAnswer =
  | { readonly chunks: Chunk[] }
  | { readonly code: ErrorCode; readonly message: string }
  | { readonly error: unknown };

/** Rejects with the signal's reason once it is aborted, else with what the chunker threw. */
export type Chunking = (job: ChunkingJob, owner: Owner, signal: AbortSignal) => Promise<Chunk[]>;

/** Chunking takes up to half a second for each megabyte: of a text below this some milliseconds, as much as handing it to a thread costs. */
const MAX_INLINE_CHARACTERS = 8_192;
/** One more than there are processors, so that a long text leaves some of them to others; each holds a tokenizer of its own, of up to 60 MB. */
const THREADS = Math.min(availableParallelism() + 1, 8);
const IDLE_MS = 60_000;
const THREAD = new URL("chunking-thread.ts", import.meta.url);

interface Waiter {
  readonly owner: Owner;
  readonly size: number;
  start(thread: Worker): void;
}

/** `models` tells the threads which tokenizer to load; it is `embedding`'s own. Threads end that were idle for `idleMs`, and hold up no process that ends. */
export function createChunking(models: ModelsConfig, embedding: EmbeddingModel, idleMs = IDLE_MS): Chunking {
  const threads = createThreads({ ...models, embeddingDimensions: embedding.dimensions }, idleMs);
  return async (job, owner, signal) => {
    const characters = job.units.reduce((sum, unit) => sum + unit.text.length, 0);
    if (characters <= MAX_INLINE_CHARACTERS) return chunkerNamed(job.chunkerName)(job.units, job, embedding);
    signal.throwIfAborted();
    const thread = await threads.turnOf(owner, characters, signal);
    const startedAt = performance.now();
    try {
      const answer = await ask(thread, job, signal);
      threads.rest(thread);
      if ("chunks" in answer) return answer.chunks;
      throw "code" in answer ? new DomainError(answer.code, answer.message) : answer.error;
    } finally {
      threads.charge(owner, performance.now() - startedAt);
    }
  };
}

/** Threads are opened as they are needed; documents take turns as {@link createFairQueue} says, by the milliseconds that their owners' took. */
function createThreads(workerData: ModelsConfig, idleMs: number) {
  const waiting = createFairQueue<Waiter>();
  const idle = new Map<Worker, NodeJS.Timeout>();
  let count = 0;

  const open = (): Worker => {
    const thread = new Worker(THREAD, { workerData });
    count++;
    // What ends it in the middle is told by whoever waits for its answer.
    thread
      .on("error", () => undefined)
      .once("exit", () => {
        count--;
        clearTimeout(idle.get(thread));
        idle.delete(thread);
        startNext();
      });
    return thread;
  };
  const takeIdle = (): Worker | undefined => {
    // The one that has rested least, so that those that nobody needs end.
    const thread = [...idle.keys()].at(-1);
    if (thread === undefined) return undefined;
    clearTimeout(idle.get(thread));
    idle.delete(thread);
    thread.ref();
    return thread;
  };
  const startNext = (): void => {
    while (waiting.length > 0 && (idle.size > 0 || count < THREADS))
      waiting.take()!.start(takeIdle() ?? open());
  };
  return {
    turnOf: (owner: Owner, size: number, signal: AbortSignal): Promise<Worker> =>
      new Promise((resolve, reject) => {
        const leave = (): void => {
          waiting.remove(waiter);
          reject(signal.reason as Error);
        };
        const waiter: Waiter = {
          owner,
          size,
          start(thread) {
            signal.removeEventListener("abort", leave);
            resolve(thread);
          },
        };
        signal.addEventListener("abort", leave, { once: true });
        waiting.add(waiter);
        startNext();
      }),
    /** For a thread that has answered. */
    rest(thread: Worker): void {
      thread.unref();
      const end = (): void => {
        // It ends a while later: nobody may be given it meanwhile.
        idle.delete(thread);
        void thread.terminate();
      };
      idle.set(thread, setTimeout(end, idleMs).unref());
      startNext();
    },
    charge: (owner: Owner, ms: number): void => waiting.charge(owner, ms),
  };
}

/** A thread that is aborted, or fails, is gone. */
async function ask(thread: Worker, job: ChunkingJob, signal: AbortSignal): Promise<ChunkingAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<ChunkingAnswer>();
  const stop = (): void => {
    void thread.terminate();
    reject(signal.reason as Error);
  };
  const lost = (code: number): void =>
    reject(new Error(`the chunking thread ended with ${code} before it answered`));
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  thread.once("message", resolve).once("error", reject).once("exit", lost).postMessage(job);
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", stop);
    thread.off("message", resolve).off("error", reject).off("exit", lost);
  }
}
