/** One parser process: starts it in its sandbox, watches its time and memory, kills it over a limit. */

import { fork, type ChildProcess } from "node:child_process";
import { DomainError } from "../../domain/errors.ts";
import type { TextUnit } from "../../domain/text-unit.ts";
import {
  unitSize,
  withCheckedPlaces,
  type ChildMessage,
  type ChildOutcome,
  type ChildRequest,
} from "./child-protocol.ts";
import { residentBytes } from "./process-usage.ts";
import { limitTime } from "./time-limit.ts";
import { permissionArguments } from "./sandbox/node-permissions.ts";
import { takeOwnUser } from "./sandbox/own-user.ts";
import { watchParent } from "./sandbox/parent-watch.ts";
import { makeProcessFolder, type ProcessFolder } from "./sandbox/process-folder.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";

export interface ChildLimits {
  /** The module that the process runs; it uses the messages of child-protocol.ts. */
  readonly entry: URL;
  /** The most milliseconds for one document. */
  readonly timeoutMs: number;
  /** Bytes of resident memory, measured every {@link MEMORY_POLL_MS}. */
  readonly maxRssBytes: number;
  /** Megabytes of V8's heap, which V8 itself bounds. */
  readonly maxOldSpaceMb: number;
  /** Seconds of processor time of the whole process, which the kernel bounds. */
  readonly maxCpuSeconds: number;
  /** The folder in which the process's own folder is made. */
  readonly folder: string;
}

export interface ParserChild {
  readonly pid: number;
  /** Resolves when it can take a document; rejects if it dies before. */
  readonly ready: Promise<void>;
  /** Resolves when the process has ended. */
  readonly gone: Promise<void>;
  /** Resolves when its folder has been removed too. */
  readonly cleared: Promise<void>;
  requests(): number;
  /** False if its folder was removed, so that it can take no document any more. */
  hasFolder(): boolean;
  /** Takes one request at a time. Never rejects; a process over a limit is dead before this resolves. */
  run(request: ChildRequest, timeoutMs: number, signal?: AbortSignal): Promise<ChildOutcome>;
  kill(): void;
}

const MEMORY_POLL_MS = 100;
const STDERR_TAIL_CHARS = 4096;

/** Bounds of one document's units. A parser holds all of them in memory, so that no parser sends more. */
const MAX_ANSWER_CHARS = 256 * 1024 * 1024;
const MAX_ANSWER_UNITS = 4_000_000;

interface Job {
  readonly units: TextUnit[];
  chars: number;
  started: boolean;
  /** Why the process was killed, if this module did it. */
  verdict: { readonly error: unknown } | undefined;
  readonly resolve: (outcome: ChildOutcome) => void;
  unwatch: () => void;
}

/**
 * Memory that Node, V8 and PDFium reserve as writable and never touch: 1.7 GB in a process that has read PDF
 * files. The kernel's limit is on reserved memory, and is there for what grows faster than
 * {@link MEMORY_POLL_MS} can notice.
 */
const RESERVED_BYTES = 2 * 1024 ** 3;

/** A process with its current job. */
interface Running {
  readonly limits: ChildLimits;
  readonly child: ChildProcess;
  readonly stderr: () => string;
  readonly ready: PromiseWithResolvers<void>;
  readonly gone: PromiseWithResolvers<void>;
  job: Job | undefined;
  hasEnded: boolean;
}

export function startParserChild(limits: ChildLimits, sandbox: Sandbox): ParserChild {
  const user = sandbox.on.includes("user") ? takeOwnUser() : undefined;
  const folder = makeProcessFolder(limits.folder, user?.id);
  const child = forkChild(limits, sandbox, folder, user?.id);
  const running: Running = {
    limits,
    child,
    stderr: tailOf(child),
    ready: Promise.withResolvers(),
    gone: Promise.withResolvers(),
    job: undefined,
    hasEnded: false,
  };
  listen(running, () => user?.release());
  let requests = 0;
  return {
    pid: child.pid ?? 0,
    ready: running.ready.promise,
    gone: running.gone.promise,
    cleared: running.gone.promise.then(() => folder.remove()),
    requests: () => requests,
    hasFolder: () => folder.exists(),
    kill() {
      child.kill("SIGKILL");
    },
    async run(request, timeoutMs, signal) {
      requests++;
      try {
        await using placed = await folder.place(request.input);
        return await answerTo(running, { ...request, input: placed.input }, timeoutMs, signal);
      } catch (error) {
        return folder.exists() ? { kind: "failed", error } : { kind: "lost", started: false };
      }
    },
  };
}

function listen(running: Running, release: () => void): void {
  const { child } = running;
  const end = (signal: NodeJS.Signals | null): void => {
    running.hasEnded = true;
    const stderr = running.stderr();
    running.ready.reject(new Error(`The parser process ended before it was ready. ${stderr}`.trimEnd()));
    if (running.job !== undefined) settle(running, endOutcome(running.job, signal, stderr));
    release();
    running.gone.resolve();
  };
  // A rejection is reported to whoever waits for the process; it is not unhandled if nobody does.
  running.ready.promise.catch(() => undefined);
  child.on("error", () => undefined);
  // "close" comes after the last bytes of stderr; if no process could be started, there is only "error".
  child.once("close", (_code, signal) => end(signal));
  if (child.pid === undefined) end(null);
  child.on("message", (message: ChildMessage) => {
    if (message.kind === "ready") running.ready.resolve();
    else if (running.job !== undefined) receive(running, running.job, message);
  });
}

function answerTo(
  running: Running,
  request: ChildRequest,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<ChildOutcome> {
  return new Promise((resolve) => {
    if (running.hasEnded) return resolve({ kind: "lost", started: false });
    const job: Job = {
      units: [],
      chars: 0,
      started: false,
      verdict: undefined,
      resolve,
      unwatch: () => undefined,
    };
    running.job = job;
    job.unwatch = watch(running, timeoutMs, signal);
    if (running.child.connected) running.child.send(request, () => undefined);
    else stop(running, undefined);
  });
}

function settle(running: Running, outcome: ChildOutcome): void {
  running.job?.unwatch();
  running.job?.resolve(outcome);
  running.job = undefined;
}

/** Kills the process; the current job will fail with the error of the first call. */
function stop({ job, child }: Running, error: unknown): void {
  if (job !== undefined) job.verdict ??= { error };
  child.kill("SIGKILL");
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
    // A process that parses foreign files does not need the worker's secrets.
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

function receive(running: Running, job: Job, message: Exclude<ChildMessage, { kind: "ready" }>): void {
  switch (message.kind) {
    case "started":
      job.started = true;
      break;
    case "units":
      for (const sent of message.units) {
        const unit = withCheckedPlaces(sent);
        job.units.push(unit);
        job.chars += unitSize(unit);
      }
      // Answers are bounded too: a compromised process may send anything.
      if (job.chars > MAX_ANSWER_CHARS || job.units.length > MAX_ANSWER_UNITS) stop(running, outOfMemory());
      break;
    case "parsed":
      settle(running, { kind: "parsed", document: { ...message.document, units: job.units } });
      break;
    case "page_count":
    case "page_sizes":
    case "picture":
      settle(running, message);
      break;
    case "failed":
      settle(running, { kind: "failed", error: new DomainError(message.code, message.message) });
      break;
  }
}

/** Kills the process at the time or memory limit, or on an abort. The returned function ends the watch. */
function watch(running: Running, timeoutMs: number, signal: AbortSignal | undefined): () => void {
  const { limits, child } = running;
  const pid = child.pid ?? 0;
  const endLimit = limitTime({ pid, timeoutMs, onLate: (error) => stop(running, error) });
  const poll = setInterval(() => {
    void residentBytes(pid).then((bytes) => {
      if (bytes > limits.maxRssBytes) stop(running, outOfMemory());
    });
  }, MEMORY_POLL_MS);
  const abort = (): void => stop(running, signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted === true) abort();
  return () => {
    endLimit();
    clearInterval(poll);
    signal?.removeEventListener("abort", abort);
  };
}

/** Messages of C++, Rust, V8 and Node when they cannot get memory. */
const NO_MEMORY = [
  "heap out of memory",
  "process out of memory",
  "invalid table size",
  "std::bad_alloc",
  "memory allocation of",
  "Cannot allocate memory",
];

/** A crash may be caused by the document, and a kill by the kernel (out of memory) or by an operator. */
function endOutcome(job: Job, signal: NodeJS.Signals | null, stderr: string): ChildOutcome {
  if (job.verdict !== undefined) return { kind: "failed", error: job.verdict.error };
  if (signal === "SIGXCPU")
    return {
      kind: "failed",
      error: new DomainError("timeout", "Parsing took too much CPU time."),
    };
  if (NO_MEMORY.some((words) => stderr.includes(words))) return { kind: "failed", error: outOfMemory() };
  return { kind: "lost", started: job.started };
}

function outOfMemory(): DomainError {
  return new DomainError("out_of_memory", "Parsing the file needs too much memory.");
}
