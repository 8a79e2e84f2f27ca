/** Chunks short texts on the event loop and longer ones in threads, shared fairly between users. */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { type Chunk, chunkerNamed } from "../../chunkers/index.ts";
import { DomainError, type ErrorCode } from "../../domain/errors.ts";
import { type Owner, createFairQueue } from "../../process/concurrency/fair-queue.ts";
import type { TextUnit } from "../../domain/text-unit.ts";
import type { ModelsConfig } from "../../models/config.ts";
import type { EmbeddingModel } from "../../models/embedding/embedding-model.ts";

export interface ChunkingJob {
  readonly chunkerName: string;
  readonly units: readonly TextUnit[];
  readonly maxTokens: number;
  readonly overlapTokens: number;
  /** The language that the document declares. */
  readonly language?: string | undefined;
}

export type ChunkingAnswer =
  | { readonly chunks: Chunk[] }
  | { readonly code: ErrorCode; readonly message: string }
  | { readonly error: unknown };

/** Rejects with the reason of the signal when it aborts, or with what the chunker threw. */
export type Chunking = (job: ChunkingJob, owner: Owner, signal: AbortSignal) => Promise<Chunk[]>;

/** Chunking takes up to 0.5 s a megabyte: for shorter texts no more than passing them to a thread. */
const MAX_INLINE_CHARACTERS = 8_192;
/** One more than processors, so that long texts leave some to others. Each has 60 MB of tokenizer. */
const THREADS = Math.min(availableParallelism() + 1, 8);
const IDLE_MS = 60_000;
const THREAD = new URL("chunking-thread.ts", import.meta.url);

interface Waiter {
  readonly owner: Owner;
  readonly size: number;
  start(thread: Worker): void;
}

/**
 * @param models tells the threads which tokenizer to load: the one of `embedding`.
 * @param idleMs threads that are idle for longer end. They never keep the process alive.
 */
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

/** Opens threads as needed. Documents wait in a {@link createFairQueue}, by the milliseconds used. */
function createThreads(workerData: ModelsConfig, idleMs: number) {
  const waiting = createFairQueue<Waiter>();
  const idle = new Map<Worker, NodeJS.Timeout>();
  let count = 0;

  const open = (): Worker => {
    const thread = new Worker(THREAD, { workerData });
    count++;
    // An error reaches the caller that waits for the answer; see `ask`.
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
    // The one that was idle for the shortest time, so that superfluous ones end.
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
    /** Call it when a thread has answered. */
    rest(thread: Worker): void {
      thread.unref();
      const end = (): void => {
        // It takes a while to end, and must not be given out meanwhile.
        idle.delete(thread);
        void thread.terminate();
      };
      idle.set(thread, setTimeout(end, idleMs).unref());
      startNext();
    },
    charge: (owner: Owner, ms: number): void => waiting.charge(owner, ms),
  };
}

/** Terminates the thread if the signal aborts. After an error or an abort the thread cannot be used again. */
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
