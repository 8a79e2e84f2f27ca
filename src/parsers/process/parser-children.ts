/** Shares parser processes between documents: how many there are, and when one is started or replaced. */

import { createChildQueue, type ChildCounts, type ChildJob, type ChildQueue } from "./child-queue.ts";
import { asUnwritable } from "../../process/temporary-folder.ts";
import { createLiveChildren, type LiveChildren, type LiveOptions } from "./live-children.ts";
import type { ChildOutcome } from "./child-protocol.ts";
import type { ParserChild } from "./parser-child.ts";
import { processorSeconds, residentBytes } from "./process-usage.ts";

export interface ChildrenOptions extends LiveOptions, ChildCounts {
  /** A process is replaced after so many documents, since memory that leaks adds up. */
  readonly maxDocumentsPerChild: number;
  /** An idle process with more resident memory than this is replaced. */
  readonly recycleRssBytes: number;
  /** An idle process that used more is replaced: a document needs enough of `maxCpuSeconds`. */
  readonly recycleCpuSeconds: number;
}

export interface ParserChildren {
  /**
   * Waits for a process, uses it and gives it back. Rejects with the signal's reason if the caller gave up
   * waiting, and with an Error if the pool is closed or no process starts.
   */
  use(job: ChildJob): Promise<ChildOutcome>;
  /** Kills all processes and resolves when they are gone; waiting documents are refused. */
  close(): Promise<void>;
}

const SPARE_IDLE_MS = 60_000;

interface Pool {
  readonly options: ChildrenOptions;
  readonly idle: Set<ParserChild>;
  readonly queue: ChildQueue;
  readonly live: LiveChildren;
  isClosed: boolean;
}

export function createParserChildren(options: ChildrenOptions): ParserChildren {
  const pool: Pool = {
    options,
    idle: new Set(),
    queue: createChildQueue(options),
    live: createLiveChildren(options, {
      ready: (child) => offer(pool, child),
      gone: (child) => forget(pool, child),
    }),
    isClosed: false,
  };
  return {
    async use(job) {
      assertOpen(pool, job.signal);
      await pool.live.prepare();
      assertOpen(pool, job.signal);
      const outcome = await run(pool, job, await freeChild(pool, job));
      if (pool.isClosed && outcome.kind === "lost") throw closedError();
      return outcome;
    },
    async close() {
      pool.isClosed = true;
      pool.queue.refuse(closedError());
      await pool.live.close();
    },
  };
}

/** Gives idle processes to waiting documents, and starts another one if a document waits that may have it. */
function serve({ options, idle, queue, live }: Pool): void {
  try {
    while (live.count < options.size) live.start();
    for (const child of idle) if (queue.give(child)) idle.delete(child);
    const areStarting = live.count > queue.busy + idle.size;
    if (idle.size === 0 && !areStarting && queue.isWanted()) live.start();
  } catch (error) {
    queue.refuse(asUnwritable(error));
  }
}

/** The process whose turn it is; one whose folder is gone is replaced. */
async function freeChild(pool: Pool, job: ChildJob): Promise<ParserChild> {
  for (;;) {
    const waiting = pool.queue.wait(job);
    serve(pool);
    const child = await waiting;
    if (child.hasFolder()) return child;
    child.kill();
    await child.gone;
    assertOpen(pool, job.signal);
  }
}

/** Makes a process available to the next document; ends it if it is a spare one that stays idle. */
function offer(pool: Pool, child: ParserChild): void {
  pool.idle.add(child);
  serve(pool);
  const isSpare = (): boolean => pool.idle.has(child) && pool.live.count > pool.options.size;
  if (isSpare()) setTimeout(() => isSpare() && child.kill(), SPARE_IDLE_MS).unref();
}

function forget(pool: Pool, child: ParserChild): void {
  pool.idle.delete(child);
  pool.queue.release(child);
  if (pool.isClosed) return;
  if (pool.live.failsToStart()) pool.queue.refuse(new Error("The parser process does not start."));
  else serve(pool);
}

async function run(pool: Pool, job: ChildJob, child: ParserChild): Promise<ChildOutcome> {
  const startedAt = performance.now();
  try {
    return await job.work(child);
  } finally {
    pool.queue.charge(job.owner, performance.now() - startedAt);
    const isReplaced = await isWorn(child, pool.options);
    pool.queue.release(child);
    if (isReplaced) child.kill();
    else if (pool.live.has(child)) offer(pool, child);
  }
}

async function isWorn(
  child: ParserChild,
  { maxDocumentsPerChild, recycleRssBytes, recycleCpuSeconds }: ChildrenOptions,
): Promise<boolean> {
  if (child.requests() >= maxDocumentsPerChild) return true;
  const [bytes, seconds] = await Promise.all([residentBytes(child.pid), processorSeconds(child.pid)]);
  return bytes > recycleRssBytes || seconds > recycleCpuSeconds;
}

function assertOpen(pool: Pool, signal?: AbortSignal): void {
  if (pool.isClosed) throw closedError();
  signal?.throwIfAborted();
}

/** Not a DomainError: a document that a stopping worker was parsing is to be tried again. */
function closedError(): Error {
  return new Error("The parser pool is closed.");
}
