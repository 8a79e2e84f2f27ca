/** One parser process: the only place that starts one behind its sandbox, watches its time and memory, and kills it. */

import { fork, type ChildProcess } from "node:child_process";
import { DomainError } from "../../domain/errors.ts";
import type { ParsedDocument, TextUnit } from "../../domain/text-unit.ts";
import type { ChildMessage, ChildRequest } from "./child-protocol.ts";
import { residentBytes } from "./process-usage.ts";
import { permissionArguments } from "./sandbox/node-permissions.ts";
import { takeOwnUser } from "./sandbox/own-user.ts";
import { watchParent } from "./sandbox/parent-watch.ts";
import { makeProcessFolder, type ProcessFolder } from "./sandbox/process-folder.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";

export interface ChildLimits {
  /** The module that the process runs; it speaks child-protocol.ts. */
  readonly entry: URL;
  /** Milliseconds for one document, at most. */
  readonly timeoutMs: number;
  /** Resident memory, measured every {@link MEMORY_POLL_MS}. */
  readonly maxRssBytes: number;
  /** V8's heap, which V8 itself bounds. */
  readonly maxOldSpaceMb: number;
  /** Processor time of the whole process, which the kernel bounds. */
  readonly maxCpuSeconds: number;
  /** Where the process's own folder is made. */
  readonly folder: string;
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
  /** Resolves when its folder is gone too. */
  readonly cleared: Promise<void>;
  /** Requests that it has taken. */
  requests(): number;
  /** One at a time. Never rejects; a process over a limit is dead before this resolves. */
  run(request: ChildRequest, timeoutMs: number, signal?: AbortSignal): Promise<ChildOutcome>;
  kill(): void;
}

const MEMORY_POLL_MS = 100;
const STDERR_TAIL_CHARS = 4096;

/** Of one document's units. A parser holds them all before it sends the first, so that more is no parser's doing. */
const MAX_ANSWER_CHARS = 256 * 1024 * 1024;
const MAX_ANSWER_UNITS = 4_000_000;

interface Job {
  readonly units: TextUnit[];
  chars: number;
  started: boolean;
  /** Set when it was killed for a reason. */
  verdict: { readonly error: unknown } | undefined;
  readonly resolve: (outcome: ChildOutcome) => void;
  unwatch: () => void;
}

/**
 * Memory that Node, V8 and PDFium reserve as writable and never touch: 1.7 GB in a process that has read PDF files. The limit that the kernel
 * holds is on what is reserved, and is there for what grows faster than it is measured.
 */
const RESERVED_BYTES = 2 * 1024 ** 3;

export function startParserChild(limits: ChildLimits, sandbox: Sandbox): ParserChild {
  const user = sandbox.on.includes("user") ? takeOwnUser() : undefined;
  const folder = makeProcessFolder(limits.folder, user?.id);
  const child = forkChild(limits, sandbox, folder, user?.id);
  const stderr = tailOf(child);
  const ready = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  ready.promise.catch(() => undefined);
  let job: Job | undefined;
  let requests = 0;
  let ended = false;

  const settle = (outcome: ChildOutcome): void => {
    job?.unwatch();
    job?.resolve(outcome);
    job = undefined;
  };
  const stop = (error: unknown): void => {
    if (job !== undefined) job.verdict ??= { error };
    child.kill("SIGKILL");
  };
  const end = (signal: NodeJS.Signals | null): void => {
    ended = true;
    ready.reject(new Error(`The parser process ended before it was ready. ${stderr()}`.trimEnd()));
    if (job !== undefined) settle(endOutcome(job, signal, stderr()));
    user?.release();
    gone.resolve();
  };
  child.on("error", () => undefined);
  // "close" comes after the last bytes of stderr; where no process could be started, only "error" comes.
  child.once("close", (_code, signal) => end(signal));
  if (child.pid === undefined) end(null);
  child.on("message", (message: ChildMessage) => {
    if (message.kind === "ready") ready.resolve();
    else if (job !== undefined) receive(job, message, { settle, stop });
  });
  const answerTo = (
    request: ChildRequest,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<ChildOutcome> =>
    new Promise((resolve) => {
      if (ended) return resolve({ kind: "lost", started: false });
      job = { units: [], chars: 0, started: false, verdict: undefined, resolve, unwatch: () => undefined };
      job.unwatch = watch({ limits, timeoutMs, pid: child.pid ?? 0, signal, stop });
      if (child.connected) child.send(request, () => undefined);
      else stop(undefined);
    });

  return {
    pid: child.pid ?? 0,
    ready: ready.promise,
    gone: gone.promise,
    cleared: gone.promise.then(() => folder.remove()),
    requests: () => requests,
    kill: () => void child.kill("SIGKILL"),
    async run(request, timeoutMs, signal) {
      requests++;
      try {
        await using placed = await folder.place(request.input);
        return await answerTo({ ...request, input: placed.input }, timeoutMs, signal);
      } catch (error) {
        return {
          kind: "failed",
          error: new DomainError("internal", "The file could not be read.", { cause: error }),
        };
      }
    },
  };
}

function forkChild(
  limits: ChildLimits,
  sandbox: Sandbox,
  folder: ProcessFolder,
  userId: number | undefined,
): ChildProcess {
  const confined = {
    ...folder,
    entry: limits.entry,
    userId,
    cpuSeconds: limits.maxCpuSeconds,
    dataBytes: limits.maxRssBytes + RESERVED_BYTES,
  };
  const nodeArguments = [
    ...permissionArguments(limits.entry, folder),
    `--max-old-space-size=${limits.maxOldSpaceMb}`,
  ];
  const [program, ...rest] = [...sandbox.around(confined), process.execPath, ...nodeArguments];
  const child = fork(limits.entry, {
    execPath: program,
    execArgv: rest,
    // What parses foreign files has no use for the worker's secrets.
    env: { TMPDIR: folder.scratch },
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  if (!sandbox.on.includes("privileges")) watchParent(child);
  return child;
}

function tailOf(child: ChildProcess): () => string {
  let tail = "";
  child.stderr?.setEncoding("latin1").on("data", (text: string) => {
    tail = (tail + text).slice(-STDERR_TAIL_CHARS);
  });
  return () => tail;
}

interface Ends {
  readonly settle: (outcome: ChildOutcome) => void;
  readonly stop: (error: unknown) => void;
}

function receive(job: Job, message: ChildMessage, { settle, stop }: Ends): void {
  switch (message.kind) {
    case "started":
      job.started = true;
      break;
    case "units":
      for (const unit of message.units) {
        job.units.push(unit);
        job.chars += unit.text.length;
      }
      // What a process says is bounded too: it may no longer be a parser that speaks.
      if (job.chars > MAX_ANSWER_CHARS || job.units.length > MAX_ANSWER_UNITS) stop(outOfMemory());
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
function watch(watched: {
  limits: ChildLimits;
  timeoutMs: number;
  pid: number;
  signal: AbortSignal | undefined;
  stop: (error: unknown) => void;
}): () => void {
  const { limits, timeoutMs, pid, signal, stop } = watched;
  const timer = setTimeout(
    () => stop(new DomainError("timeout", `Parsing took more than ${Math.round(timeoutMs / 1000)} s.`)),
    timeoutMs,
  );
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

/** What C++, Rust, V8 and Node say when they are refused memory. */
const NO_MEMORY = [
  "heap out of memory",
  "process out of memory",
  "invalid table size",
  "std::bad_alloc",
  "memory allocation of",
  "Cannot allocate memory",
];

/** A crash may be the document's; a kill from outside the kernel's, short of memory, or an operator's. */
function endOutcome(job: Job, signal: NodeJS.Signals | null, stderr: string): ChildOutcome {
  if (job.verdict !== undefined) return { kind: "failed", error: job.verdict.error };
  if (signal === "SIGXCPU")
    return {
      kind: "failed",
      error: new DomainError("timeout", "Parsing took more processor time than a parser may take."),
    };
  if (NO_MEMORY.some((words) => stderr.includes(words))) return { kind: "failed", error: outOfMemory() };
  return { kind: "lost", started: job.started };
}

function outOfMemory(): DomainError {
  return new DomainError("out_of_memory", "The file needs more memory than a parser may take.");
}
