/**
 * The thread that runs subjects: it measures its own processor time and can be terminated if a subject hangs.
 */
import { performance } from "node:perf_hooks";
import { parentPort, workerData } from "node:worker_threads";
import { DomainError } from "../../src/domain/errors.ts";
import { familyOf, type FamilyName } from "./families.ts";
import type { Extent, Subject } from "./subjects/subject.ts";

export interface Run {
  readonly subject: string;
  readonly shape: string;
  readonly length: number;
}

export interface Ran {
  /** Milliseconds of processor time. */
  readonly cpuMs: number;
  readonly wallMs: number;
  /** The length of the generated shape, in UTF-16 units. */
  readonly length: number;
  /** Bytes by which this thread's heap has grown at the end of the run, garbage included. */
  readonly heapBytes: number;
  /** `done`, an error's code, or `uncoded: …` for an error that has none. */
  readonly end: string;
  readonly faults: readonly string[];
}

export interface Listed {
  readonly subjects: readonly {
    readonly name: string;
    readonly shapes: readonly string[];
    readonly maxLength: number;
  }[];
}

const port = parentPort;
if (port === null) throw new Error("measure-thread.ts runs as a worker thread only.");
const { family, extent } = workerData as { family: FamilyName; extent: Extent };
const subjects = await familyOf(family)(extent);

/** Returns the user and system time so far, in microseconds. */
function cpuNow(subject: Subject): number {
  const { user, system } = subject.isNative === true ? process.cpuUsage() : process.threadCpuUsage();
  return user + system;
}

async function run({ subject: name, shape: shapeName, length }: Run): Promise<Ran> {
  const subject = subjects.find((one) => one.name === name)!;
  const text = subject.shapes
    .find((one) => one.name === shapeName)!
    .make(Math.min(length, subject.maxLength ?? Infinity));
  const prepared = subject.prepare === undefined ? text : await subject.prepare(text);
  const heapBefore = process.memoryUsage().heapUsed;
  const startedAt = performance.now();
  const cpuBefore = cpuNow(subject);
  const { end, result } = await ending(subject, prepared);
  const cpuMs = (cpuNow(subject) - cpuBefore) / 1_000;
  const wallMs = performance.now() - startedAt;
  const heapBytes = Math.max(0, process.memoryUsage().heapUsed - heapBefore);
  return {
    cpuMs,
    wallMs,
    heapBytes,
    length: text.length,
    end,
    faults: end === "done" ? (subject.faultsOf?.(result, text) ?? []) : [],
  };
}

async function ending(subject: Subject, prepared: unknown): Promise<{ end: string; result?: unknown }> {
  try {
    return { end: "done", result: await subject.run(prepared) };
  } catch (error) {
    if (error instanceof DomainError) return { end: error.code };
    const what = error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 200) : String(error);
    return { end: subject.endsInItsOwnProcess === true ? "corrupt" : `uncoded: ${what}` };
  }
}

port.on("message", (request: Run) => {
  void run(request).then((ran) => port.postMessage(ran));
});
port.postMessage({
  subjects: subjects.map(({ name, shapes, maxLength = Infinity }) => ({
    name,
    maxLength,
    shapes: shapes.map((shape) => shape.name),
  })),
} satisfies Listed);
