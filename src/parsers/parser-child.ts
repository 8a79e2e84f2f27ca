/** One parser process: the only place that starts one, watches its time and memory, and kills it. */

import { fork, type ChildProcess } from "node:child_process";
import { DomainError } from "../domain/errors.ts";
import type { ParsedDocument, TextUnit } from "../domain/text-unit.ts";
import type { ChildMessage, ChildRequest } from "./child-protocol.ts";
import { residentBytes } from "./process-memory.ts";

export interface ChildLimits {
  /** The module that the process runs; it speaks child-protocol.ts. */
  readonly entry: URL;
  /** Milliseconds for one document, at most. */
  readonly timeoutMs: number;
  /** Resident memory, measured every {@link MEMORY_POLL_MS}. */
  readonly maxRssBytes: number;
  /** V8's heap, which V8 itself bounds. */
  readonly maxOldSpaceMb: number;
}

/** `lost`: the process died, by the document's doing or not: nobody can tell from one death. */
export type ChildOutcome =
  | { readonly kind: "parsed"; readonly document: ParsedDocument }
  | { readonly kind: "page_count"; readonly pages: number | null }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "lost"; readonly started: boolean };

export interface ParserChild {
  readonly pid: number;
  /** Resolves when it can take a document; rejects where it dies before. */
  readonly ready: Promise<void>;
  /** Resolves when the process has ended. */
  readonly gone: Promise<void>;
  /** Requests that it has taken. */
  requests(): number;
  /** One at a time. Never rejects; a process over a limit is dead before this resolves. */
  run(request: ChildRequest, timeoutMs: number, signal?: AbortSignal): Promise<ChildOutcome>;
  kill(): void;
}

const MEMORY_POLL_MS = 100;
const STDERR_TAIL_CHARS = 4096;

interface Job {
  readonly units: TextUnit[];
  started: boolean;
  /** Set when it was killed for a reason. */
  verdict: { readonly error: unknown } | undefined;
  readonly resolve: (outcome: ChildOutcome) => void;
  unwatch: () => void;
}

export function startParserChild(limits: ChildLimits): ParserChild {
  const child = forkChild(limits);
  const stderr = tailOf(child);
  const ready = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  ready.promise.catch(() => undefined);
  let job: Job | undefined;
  let requests = 0;

  const settle = (outcome: ChildOutcome): void => {
    job?.unwatch();
    job?.resolve(outcome);
    job = undefined;
  };
  const stop = (error: unknown): void => {
    if (job !== undefined) job.verdict ??= { error };
    child.kill("SIGKILL");
  };
  const end = (): void => {
    ready.reject(new Error("The parser process ended before it was ready."));
    if (job !== undefined) settle(endOutcome(job, stderr()));
    gone.resolve();
  };
  child.on("error", () => undefined);
  // "close" comes after the last bytes of stderr; where no process could be started, only "error" comes.
  child.once("close", end);
  if (child.pid === undefined) end();
  child.on("message", (message: ChildMessage) => {
    if (message.kind === "ready") ready.resolve();
    else if (job !== undefined) receive(job, message, settle);
  });

  return {
    pid: child.pid ?? 0,
    ready: ready.promise,
    gone: gone.promise,
    requests: () => requests,
    kill: () => void child.kill("SIGKILL"),
    run(request, timeoutMs, signal) {
      requests++;
      return new Promise((resolve) => {
        job = { units: [], started: false, verdict: undefined, resolve, unwatch: () => undefined };
        job.unwatch = watch({ limits, timeoutMs, pid: child.pid ?? 0, signal, stop });
        if (child.connected) child.send(request, () => undefined);
        else stop(undefined);
      });
    },
  };
}

function forkChild(limits: ChildLimits): ChildProcess {
  return fork(limits.entry, {
    execArgv: [`--max-old-space-size=${limits.maxOldSpaceMb}`],
    // What parses foreign files has no use for the worker's secrets.
    env: {},
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
}

function tailOf(child: ChildProcess): () => string {
  let tail = "";
  child.stderr?.setEncoding("latin1").on("data", (text: string) => {
    tail = (tail + text).slice(-STDERR_TAIL_CHARS);
  });
  return () => tail;
}

function receive(job: Job, message: ChildMessage, settle: (outcome: ChildOutcome) => void): void {
  switch (message.kind) {
    case "started":
      job.started = true;
      break;
    case "units":
      for (const unit of message.units) job.units.push(unit);
      break;
    case "parsed":
      settle({ kind: "parsed", document: { ...message.document, units: job.units } });
      break;
    case "page_count":
      settle({ kind: "page_count", pages: message.pages });
      break;
    case "failed":
      settle({ kind: "failed", error: new DomainError(message.code, message.message) });
      break;
    case "ready":
      break;
  }
}

/** Ends the process at the time limit, over the memory limit, or when the caller gives up; the returned function ends the watch. */
function watch(watched: { limits: ChildLimits; timeoutMs: number; pid: number; signal: AbortSignal | undefined; stop: (error: unknown) => void }): () => void {
  const { limits, timeoutMs, pid, signal, stop } = watched;
  const timer = setTimeout(() => stop(new DomainError("timeout", `Parsing took more than ${Math.round(timeoutMs / 1000)} s.`)), timeoutMs);
  const poll = setInterval(() => {
    void residentBytes(pid).then((bytes) => (bytes > limits.maxRssBytes ? stop(outOfMemory()) : undefined));
  }, MEMORY_POLL_MS);
  const abort = (): void => stop(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted === true) abort();
  return () => {
    clearTimeout(timer);
    clearInterval(poll);
    signal?.removeEventListener("abort", abort);
  };
}

/** A crash may be the document's; a kill from outside the kernel's, short of memory, or an operator's. */
function endOutcome(job: Job, stderr: string): ChildOutcome {
  if (job.verdict !== undefined) return { kind: "failed", error: job.verdict.error };
  if (stderr.includes("heap out of memory") || stderr.includes("invalid table size")) return { kind: "failed", error: outOfMemory() };
  return { kind: "lost", started: job.started };
}

function outOfMemory(): DomainError {
  return new DomainError("out_of_memory", "The file needs more memory than a parser may take.");
}
