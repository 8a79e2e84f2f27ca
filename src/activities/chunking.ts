/** Where chunking runs: short texts here, long ones in a thread of their own, so that heartbeats go on. */
import { Worker } from "node:worker_threads";
import { type Chunk, chunkerNamed } from "../chunkers/index.ts";
import type { TextUnit } from "../domain/text-unit.ts";
import type { EmbeddingModel, ModelsConfig } from "../models/embedding-model.ts";
import { createGate } from "./concurrency.ts";

export interface ChunkingJob {
  readonly chunkerName: string;
  readonly units: readonly TextUnit[];
  readonly maxTokens: number;
  readonly overlapTokens: number;
  /** As the document says it. */
  readonly language?: string | undefined;
}

export type Chunking = (job: ChunkingJob, signal: AbortSignal) => Promise<Chunk[]>;

/** Chunking takes up to half a second for each megabyte; below this many characters nobody notices. */
const MAX_INLINE_CHARACTERS = 200_000;
/** Threads at once, each with a tokenizer of its own: more than the long documents that one organization has under way. */
const inThreads = createGate(8);
const THREAD = new URL("chunking-thread.ts", import.meta.url);

/** `models` tells the thread which tokenizer to load; it is `embedding`'s own. */
export function createChunking(models: ModelsConfig, embedding: EmbeddingModel): Chunking {
  return async (job, signal) => {
    const characters = job.units.reduce((sum, unit) => sum + unit.text.length, 0);
    if (characters > MAX_INLINE_CHARACTERS) return inThreads(() => inThread({ job, models: { ...models, embeddingDimensions: embedding.dimensions } }, signal));
    return chunkerNamed(job.chunkerName)(job.units, job, embedding);
  };
}

async function inThread(workerData: { job: ChunkingJob; models: ModelsConfig }, signal: AbortSignal): Promise<Chunk[]> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const thread = new Worker(THREAD, { workerData });
    const stop = (): void => {
      void thread.terminate();
      reject(signal.reason);
    };
    signal.addEventListener("abort", stop, { once: true });
    thread.once("message", (chunks: Chunk[]) => resolve(chunks));
    thread.once("error", reject);
    thread.once("exit", (code) => {
      signal.removeEventListener("abort", stop);
      reject(new Error(`the chunking thread ended with ${code} before it answered`));
    });
  });
}
