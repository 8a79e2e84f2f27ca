/**
 * The embedding model that ships with the project: all-MiniLM-L6-v2, 8-bit, in threads of this process.
 *
 * @see docs/decisions/0006-local-embeddings-in-threads.md
 */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { DomainError } from "../../domain/errors.ts";
import type { EmbeddingKind, EmbeddingModel } from "./types.ts";
import type { ThreadAnswer, ThreadData, ThreadMessage } from "./minilm-thread.ts";
import { MayBeOfOneText } from "../provider/error.ts";
import { loadWordPiece } from "./wordpiece.ts";

interface Job {
  readonly text: string;
  readonly resolve: (vector: Float32Array | null) => void;
  readonly reject: (reason: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  job: Job | undefined;
  /** Set while it has nothing to do. */
  idle: NodeJS.Timeout | undefined;
}

interface Pool {
  /** Starts the first thread, so that the first text does not wait for the model to load. */
  readonly warm: () => void;
  readonly embed: (
    texts: readonly string[],
    kind: EmbeddingKind,
    signal?: AbortSignal,
  ) => Promise<Array<Float32Array | null>>;
  /** Waiting texts fail; a text that a thread has begun is finished. */
  readonly close: () => Promise<void>;
}

const MODEL_FOLDER = fileURLToPath(new URL("../../../models/all-minilm-l6-v2-int8/", import.meta.url));
const MAX_TOKENS = 256;
const MAX_THREADS = 4;
/** Loading the model again takes a second; until then a thread holds some 170 MB. */
const IDLE_MS = 60_000;
/** ONNX Runtime reports to its maker unless this is set before it is loaded. */
const NO_TELEMETRY = "ORT_DISABLE_TELEMETRY";

function send({ worker }: Thread, message: ThreadMessage): void {
  worker.postMessage(message);
}

function checkedThreadData(folder: string): ThreadData {
  const data = {
    modelPath: `${folder}model.onnx`,
    vocabularyPath: `${folder}vocab.txt`,
    maxTokens: MAX_TOKENS,
  };
  const missing = [data.modelPath, data.vocabularyPath].filter((path) => !existsSync(path));
  if (missing.length > 0)
    throw new Error(`The embedding model is incomplete: ${missing.join(", ")} is missing.`);
  return data;
}

/** Texts of all callers that wait for a thread: questions first, otherwise in the order they came. */
function createQueue() {
  const waiting: Record<EmbeddingKind, Set<Job>> = { query: new Set(), passage: new Set() };
  return {
    isEmpty: () => waiting.query.size + waiting.passage.size === 0,
    next(): Job | undefined {
      const jobs = waiting.query.size > 0 ? waiting.query : waiting.passage;
      const [job] = jobs;
      if (job !== undefined) jobs.delete(job);
      return job;
    },
    failAll(reason: DomainError): void {
      for (const jobs of Object.values(waiting)) {
        for (const job of jobs) job.reject(reason);
        jobs.clear();
      }
    },
    /** Adds the texts of one caller. After an abort those that no thread has taken yet are not computed. */
    add(
      texts: readonly string[],
      kind: EmbeddingKind,
      signal?: AbortSignal,
    ): Promise<Array<Float32Array | null>> {
      const jobs: Job[] = [];
      const vectors = texts.map(
        (text) => new Promise<Float32Array | null>((resolve, reject) => jobs.push({ text, resolve, reject })),
      );
      for (const job of jobs) waiting[kind].add(job);
      const leave = (): void => {
        for (const job of jobs) {
          waiting[kind].delete(job);
          job.reject(signal?.reason);
        }
      };
      signal?.addEventListener("abort", leave, { once: true });
      return Promise.all(vectors).finally(() => signal?.removeEventListener("abort", leave));
    },
  };
}

interface ThreadEvents {
  readonly onAnswer: (answer: ThreadAnswer) => void;
  readonly onExit: () => void;
}

function startThread(data: ThreadData, { onAnswer, onExit }: ThreadEvents): Thread {
  // Native code reads the environment of the process, which only its main thread can change.
  // oxlint-disable-next-line node/no-process-env -- written for a library, not read
  process.env[NO_TELEMETRY] = "1";
  const worker = new Worker(new URL("./minilm-thread.ts", import.meta.url), { workerData: data });
  worker.on("message", onAnswer);
  // Nothing to do: "exit" follows every "error".
  worker.on("error", () => undefined);
  worker.on("exit", onExit);
  worker.unref();
  return { worker, job: undefined, idle: undefined };
}

/** Resolves after the thread has finished its text and exited. */
async function endThread(thread: Thread): Promise<void> {
  const exit = new Promise((resolve) => thread.worker.once("exit", resolve));
  thread.worker.ref();
  send(thread, "end");
  await exit;
}

function settle(job: Job | undefined, answer: ThreadAnswer): void {
  // The caller finds out by another text whether this text is at fault or the model.
  if ("vector" in answer) job?.resolve(answer.vector.every(Number.isFinite) ? answer.vector : null);
  else
    job?.reject(
      new MayBeOfOneText("rejected_by_provider", `The local embedding model failed (${answer.error}).`),
    );
}

/**
 * Each text goes to a thread by itself. Batches would gain nothing (16 texts of 200 tokens a second and
 * thread, one by one or 8 at a time), and the 8-bit model scales its numbers by the whole batch, so that a
 * text's vector would depend on the other texts of its batch.
 */
function createPool(data: ThreadData, maxThreads: number, idleMs: number): Pool {
  const queue = createQueue();
  const threads = new Set<Thread>();
  const ending = new Set<Promise<void>>();
  let isClosed = false;

  /** The last thread stays, so that a question after a pause does not wait for the model to load. */
  const endIfSpare = (thread: Thread): void => {
    if (isClosed || threads.size === 1) return;
    threads.delete(thread);
    const end = endThread(thread).finally(() => ending.delete(end));
    ending.add(end);
  };

  const feed = (thread: Thread): void => {
    clearTimeout(thread.idle);
    thread.job = queue.next();
    if (thread.job !== undefined) {
      thread.worker.ref();
      send(thread, { text: thread.job.text });
    } else if (!isClosed) {
      thread.worker.unref();
      thread.idle = setTimeout(() => endIfSpare(thread), idleMs).unref();
    }
  };
  const lose = (thread: Thread): void => {
    threads.delete(thread);
    clearTimeout(thread.idle);
    const reason = new DomainError("provider_unavailable", "The local embedding model ended.");
    thread.job?.reject(reason);
    // If threads die as they start, nothing would ever take what waits.
    if (threads.size === 0) queue.failAll(reason);
  };
  const start = (): Thread => {
    const thread = startThread(data, {
      onAnswer(answer) {
        settle(thread.job, answer);
        feed(thread);
      },
      onExit: () => lose(thread),
    });
    threads.add(thread);
    return thread;
  };
  /** Gives waiting texts to idle threads; starts another thread if all are busy. */
  const dispatch = (): void => {
    while (!queue.isEmpty()) {
      const idle =
        [...threads].find((thread) => thread.job === undefined) ??
        (threads.size < maxThreads ? start() : undefined);
      if (idle === undefined) return;
      feed(idle);
    }
  };
  return {
    warm() {
      start();
    },
    embed: async (texts, kind, signal) => {
      signal?.throwIfAborted();
      if (isClosed) throw new DomainError("provider_unavailable", "The local embedding model is closed.");
      const vectors = queue.add(texts, kind, signal);
      dispatch();
      return vectors;
    },
    close: async () => {
      isClosed = true;
      queue.failAll(new DomainError("provider_unavailable", "The local embedding model is closed."));
      await Promise.all([...ending, ...[...threads].map(endThread)]);
    },
  };
}

interface LocalOptions {
  /** Threads at most; each takes a core and about 200 MB. By default one for each core, up to four. */
  readonly maxThreads?: number;
  readonly folder?: string;
  /** After how long a thread without work ends, unless it is the last; a minute by default. */
  readonly idleMs?: number;
  /**
   * True by default: the first thread starts at once. False, for a process that may only count tokens, starts
   * it with the first text.
   */
  readonly embedsSoon?: boolean;
}

export const LOCAL_MODEL = "all-minilm-l6-v2-int8";

/**
 * The local model; it needs no network and is made for English. Close it before `process.exit`, which aborts
 * a process whose threads compute.
 *
 * @throws Error if the model's files are missing.
 * @example `test/models/embedding/local-minilm.test.ts`
 */
export function createLocalMiniLm(options: LocalOptions = {}): EmbeddingModel {
  const data = checkedThreadData(options.folder ?? MODEL_FOLDER);
  const tokenizer = loadWordPiece(data.vocabularyPath);
  const maxThreads = options.maxThreads ?? Math.min(availableParallelism(), MAX_THREADS);
  const pool = createPool(data, maxThreads, options.idleMs ?? IDLE_MS);
  if (options.embedsSoon !== false) pool.warm();
  return {
    name: LOCAL_MODEL,
    dimensions: 384,
    maxTokens: MAX_TOKENS,
    // Half a second of work, so that urgent texts do not wait longer than that.
    preferredBatch: 16,
    fusion: { alpha: 0.55, unrelated: 0.4 },
    fitOf: tokenizer.fitOf,
    embed: pool.embed,
    countTokens: tokenizer.count,
    tokenOffsets: tokenizer.offsets,
    close: pool.close,
  };
}
