/** The pool of parser processes: the only way in which the worker parses what may hang, crash or grow. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DomainError } from "../domain/errors.ts";
import type { ParsedDocument } from "../domain/text-unit.ts";
import type { ChildRequest, ChildTask } from "./child-protocol.ts";
import { patienceMs, type OcrSettings, type ParseInput } from "./parser.ts";
import { startParserChild, type ChildLimits, type ChildOutcome, type ParserChild } from "./parser-child.ts";
import { residentBytes } from "./process-memory.ts";

export interface ParserPoolOptions extends ChildLimits {
  /** Absent: pictures and scans are not read. */
  readonly ocr?: OcrSettings;
  /** Processes that are kept warm from the first document on, and documents that are parsed at once. */
  readonly size: number;
  /** A process is replaced after so many documents, since what leaks would add up. */
  readonly maxDocumentsPerChild: number;
  /** An idle process that holds more than this is replaced. */
  readonly recycleRssBytes: number;
}

export interface ParserPool {
  /**
   * Parses a document in a process of its own. Throws what the parser throws; `timeout`, `out_of_memory` where the process was killed for
   * it; `worker_crashed` where two processes died with the document, which each had alone; the signal's reason where the caller gave up (the process is dead by then). Waiting for a free process
   * does not count as parsing time.
   */
  parse(input: ParseInput, signal?: AbortSignal): Promise<ParsedDocument>;
  /** Pages of the document without reading their text, null where its format has none; throws as `parse` does. */
  pageCount(input: ParseInput, signal?: AbortSignal): Promise<number | null>;
  /** Kills all processes and resolves when they are gone; what is under way or comes later is refused. Repeating is harmless. */
  close(): Promise<void>;
}

const MEBIBYTE = 1024 * 1024;

const DEFAULTS: ParserPoolOptions = {
  entry: new URL("./child-main.ts", import.meta.url),
  size: 2,
  timeoutMs: 600_000,
  maxRssBytes: 1024 * MEBIBYTE,
  maxOldSpaceMb: 512,
  maxDocumentsPerChild: 200,
  recycleRssBytes: 300 * MEBIBYTE,
};

/** Bytes beyond this go to the process as a file. */
const MAX_INLINE_BYTES = MEBIBYTE;

/** One death may be anybody's doing; a document that two processes died with is not tried on a third. */
const ATTEMPTS = 2;

/** Processes that die before they are ready, in a row, after which waiting documents are told instead of starting more. */
const MAX_FAILED_STARTS = 3;

export function createParserPool(given: Partial<ParserPoolOptions> = {}): ParserPool {
  const options: ParserPoolOptions = { ...DEFAULTS, ...given };
  const children = createChildren(options);

  const run = async (task: ChildTask, input: ParseInput, signal?: AbortSignal): Promise<ChildOutcome> => {
    await using placed = await placeInput(input);
    const request: ChildRequest = { task, input: { ...placed.input, ocr: options.ocr } };
    const timeoutMs = Math.min(options.timeoutMs, await patienceMs(input));
    let outcome: ChildOutcome = { kind: "lost", started: false };
    for (let attempt = 0; attempt < ATTEMPTS && outcome.kind === "lost"; attempt++) outcome = await children.use((child) => child.run(request, timeoutMs, signal), signal);
    if (outcome.kind === "failed") throw outcome.error;
    if (outcome.kind === "lost") throw outcome.started ? crashed() : new Error("The parser process ended before it took the document.");
    return outcome;
  };

  return {
    async parse(input, signal) {
      const outcome = await run("parse", input, signal);
      if (outcome.kind !== "parsed") throw new Error(`A parser process answered ${outcome.kind} to parse.`);
      return outcome.document;
    },
    async pageCount(input, signal) {
      const outcome = await run("page_count", input, signal);
      if (outcome.kind !== "page_count") throw new Error(`A parser process answered ${outcome.kind} to page_count.`);
      return outcome.pages;
    },
    close: () => children.close(),
  };
}

interface Waiter {
  readonly resolve: (child: ParserChild) => void;
  readonly reject: (reason: unknown) => void;
}

interface Children {
  /** Waits for a free process and gives it back afterwards. */
  use(work: (child: ParserChild) => Promise<ChildOutcome>, signal?: AbortSignal): Promise<ChildOutcome>;
  close(): Promise<void>;
}

function createChildren(options: ParserPoolOptions): Children {
  const alive = new Set<ParserChild>();
  const idle: ParserChild[] = [];
  const waiting: Waiter[] = [];
  let failedStarts = 0;
  let closed = false;

  const offer = (child: ParserChild): void => {
    const next = waiting.shift();
    if (next === undefined) idle.push(child);
    else next.resolve(child);
  };
  const refuseWaiting = (reason: Error): void => waiting.splice(0).forEach((waiter) => waiter.reject(reason));
  const drop = (child: ParserChild): void => {
    alive.delete(child);
    const at = idle.indexOf(child);
    if (at >= 0) idle.splice(at, 1);
    if (closed) return;
    if (failedStarts < MAX_FAILED_STARTS) fill();
    else refuseWaiting(new Error("The parser process does not start."));
  };
  const start = (): void => {
    const child = startParserChild(options);
    alive.add(child);
    child.ready.then(
      () => {
        failedStarts = 0;
        offer(child);
      },
      () => failedStarts++,
    );
    void child.gone.then(() => drop(child));
  };
  const fill = (): void => {
    while (alive.size < options.size) start();
  };
  const giveBack = async (child: ParserChild): Promise<void> => {
    const worn = child.requests() >= options.maxDocumentsPerChild || (await residentBytes(child.pid)) > options.recycleRssBytes;
    if (worn) child.kill();
    else if (alive.has(child)) offer(child);
  };

  return {
    async use(work, signal) {
      if (closed) throw closedError();
      signal?.throwIfAborted();
      if (failedStarts >= MAX_FAILED_STARTS) failedStarts = 0;
      fill();
      const child = idle.pop() ?? (await waitForChild(waiting, signal));
      const outcome = await work(child);
      await giveBack(child);
      if (closed && outcome.kind === "lost") throw closedError();
      return outcome;
    },
    async close() {
      closed = true;
      refuseWaiting(closedError());
      for (const child of alive) child.kill();
      await Promise.all([...alive].map((child) => child.gone));
    },
  };
}

function waitForChild(waiting: Waiter[], signal: AbortSignal | undefined): Promise<ParserChild> {
  const { promise, resolve, reject } = Promise.withResolvers<ParserChild>();
  const abort = (): void => {
    waiting.splice(waiting.indexOf(waiter), 1);
    reject(signal?.reason);
  };
  const waiter: Waiter = {
    resolve(child) {
      signal?.removeEventListener("abort", abort);
      resolve(child);
    },
    reject(reason) {
      signal?.removeEventListener("abort", abort);
      reject(reason);
    },
  };
  waiting.push(waiter);
  signal?.addEventListener("abort", abort, { once: true });
  return promise;
}

function crashed(): DomainError {
  return new DomainError("worker_crashed", "The parser stopped twice while it had this document alone in hand.");
}

/** No domain error: a document that a stopping worker held is to be tried again. */
function closedError(): Error {
  return new Error("The parser pool is closed.");
}

/** Large bytes as a file of a private folder, removed afterwards; small ones and paths as they are. */
async function placeInput(input: ParseInput): Promise<{ input: ParseInput } & AsyncDisposable> {
  if (input.bytes === undefined || input.bytes.length <= MAX_INLINE_BYTES) return { input, [Symbol.asyncDispose]: async () => undefined };
  const folder = await mkdtemp(join(tmpdir(), "holdfast-parse-"));
  const path = join(folder, `document.${input.fileType.toLowerCase()}`);
  const dispose = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await writeFile(path, input.bytes);
  } catch (error) {
    await dispose();
    throw error;
  }
  return { input: { ...input, bytes: undefined, path }, [Symbol.asyncDispose]: dispose };
}
