/** The only place for the embedding model that ships with the project: all-MiniLM-L6-v2, 8-bit, in threads of this process. */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { DomainError } from "../domain/errors.ts";
import type { EmbeddingKind, EmbeddingModel } from "./embedding-model.ts";
import type { ThreadAnswer, ThreadData, ThreadMessage } from "./minilm-thread.ts";
import { loadWordPiece } from "./wordpiece.ts";

interface Job {
  readonly text: string;
  readonly resolve: (vector: Float32Array) => void;
  readonly reject: (reason: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  job: Job | undefined;
}

const MODEL_FOLDER = fileURLToPath(new URL("../../models/all-minilm-l6-v2-int8/", import.meta.url));
const MAX_TOKENS = 256;
const MAX_THREADS = 4;

function send({ worker }: Thread, message: ThreadMessage): void {
  worker.postMessage(message);
}

function checkedThreadData(folder: string): ThreadData {
  const data = { modelPath: `${folder}model.onnx`, vocabularyPath: `${folder}vocab.txt`, maxTokens: MAX_TOKENS };
  const missing = [data.modelPath, data.vocabularyPath].filter((path) => !existsSync(path));
  if (missing.length > 0) throw new Error(`The embedding model is incomplete: ${missing.join(", ")} is missing.`);
  return data;
}

/**
 * Texts wait in one queue for all callers, questions before passages, and each goes to a thread alone. Batches would gain nothing
 * (17 texts of 200 tokens a second one by one, 16 in batches of 8, a thread) and the 8-bit model scales its numbers by the whole
 * batch, so a text's vector would change with its neighbours.
 */
function createPool(data: ThreadData, maxThreads: number) {
  const waiting: Record<EmbeddingKind, Set<Job>> = { query: new Set(), passage: new Set() };
  const threads = new Set<Thread>();
  let closed = false;

  const failAll = (reason: DomainError): void => {
    for (const jobs of [waiting.query, waiting.passage]) {
      for (const job of jobs) job.reject(reason);
      jobs.clear();
    }
  };
  const nextJob = (): Job | undefined => {
    for (const jobs of [waiting.query, waiting.passage]) {
      for (const job of jobs) {
        jobs.delete(job);
        return job;
      }
    }
    return undefined;
  };
  const feed = (thread: Thread): void => {
    thread.job = nextJob();
    if (thread.job === undefined) return void thread.worker.unref();
    thread.worker.ref();
    send(thread, { text: thread.job.text });
  };
  const settle = (thread: Thread, answer: ThreadAnswer): void => {
    if ("vector" in answer) thread.job?.resolve(answer.vector);
    else thread.job?.reject(new DomainError("internal", `The local embedding model failed (${answer.error}).`));
    feed(thread);
  };
  const lose = (thread: Thread): void => {
    threads.delete(thread);
    const reason = new DomainError("provider_unavailable", "The local embedding model ended.");
    thread.job?.reject(reason);
    // What waits would wait for ever where threads die as they start.
    if (threads.size === 0) failAll(reason);
  };
  const start = (): Thread => {
    const worker = new Worker(new URL("./minilm-thread.ts", import.meta.url), { workerData: data });
    const thread: Thread = { worker, job: undefined };
    threads.add(thread);
    worker.on("message", (answer: ThreadAnswer) => settle(thread, answer));
    // An "exit" follows every "error".
    worker.on("error", () => undefined);
    worker.on("exit", () => lose(thread));
    worker.unref();
    return thread;
  };
  /** Gives waiting texts to idle threads; starts another thread only where all are busy. */
  const dispatch = (): void => {
    while (waiting.query.size + waiting.passage.size > 0) {
      const idle = [...threads].find((thread) => thread.job === undefined) ?? (threads.size < maxThreads ? start() : undefined);
      if (idle === undefined) return;
      feed(idle);
    }
  };
  const add = (text: string, kind: EmbeddingKind, signal?: AbortSignal): Promise<Float32Array> => {
    if (closed) return Promise.reject(new DomainError("provider_unavailable", "The local embedding model is closed."));
    return new Promise((resolve, reject) => {
      const job: Job = { text, resolve, reject };
      waiting[kind].add(job);
      signal?.addEventListener("abort", () => {
        waiting[kind].delete(job);
        reject(signal.reason);
      }, { once: true });
    });
  };
  return {
    /** Starts the first thread, so that the first text does not wait for the model to load. */
    warm: () => void start(),
    async embed(texts: readonly string[], kind: EmbeddingKind, signal?: AbortSignal) {
      signal?.throwIfAborted();
      const vectors = texts.map((text) => add(text, kind, signal));
      dispatch();
      return Promise.all(vectors);
    },
    async close() {
      closed = true;
      failAll(new DomainError("provider_unavailable", "The local embedding model is closed."));
      const ends = [...threads].map(async (thread) => {
        const exit = once(thread.worker, "exit");
        thread.worker.ref();
        send(thread, "end");
        await exit;
      });
      await Promise.all(ends);
    },
  };
}

interface LocalOptions {
  /** Threads at most; each takes a core and about 100 MB once it runs. By default one for each core, up to four. */
  readonly maxThreads?: number;
  readonly folder?: string;
}

/** Needs no provider and no network; English only. Throws where the model's files are missing. */
export function createLocalMiniLm(options: LocalOptions = {}): EmbeddingModel {
  const data = checkedThreadData(options.folder ?? MODEL_FOLDER);
  const tokenizer = loadWordPiece(data.vocabularyPath);
  const pool = createPool(data, options.maxThreads ?? Math.min(availableParallelism(), MAX_THREADS));
  pool.warm();
  return {
    name: "all-minilm-l6-v2-int8",
    dimensions: 384,
    maxTokens: MAX_TOKENS,
    fusion: { alpha: 0.5, bm25Saturation: 8 },
    embed: pool.embed,
    countTokens: tokenizer.count,
    tokenOffsets: tokenizer.offsets,
    close: pool.close,
  };
}
