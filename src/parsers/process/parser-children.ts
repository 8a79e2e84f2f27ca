/** The only place that decides which document gets a parser process next, and how many processes there are. */

import { createFairQueue, type Owner } from "../../domain/fair-queue.ts";
import { ALONE_ABOVE_BYTES } from "../../domain/work/processing.ts";
import { startParserChild, type ChildLimits, type ChildOutcome, type ParserChild } from "./parser-child.ts";
import { processorSeconds, residentBytes } from "./process-usage.ts";
import { prepareSandbox, type Sandbox } from "./sandbox/sandbox.ts";

export interface ChildrenOptions extends ChildLimits {
  /** Processes that are kept warm from the first document on. */
  readonly size: number;
  /** Processes beyond these, for small documents that would wait for slower ones; each ends once it has been idle for a while. */
  readonly spares: number;
  /** A process is replaced after so many documents, since what leaks would add up. */
  readonly maxDocumentsPerChild: number;
  /** An idle process that holds more than this is replaced. */
  readonly recycleRssBytes: number;
  /** An idle process that has taken more than this is replaced, so that {@link ChildLimits.maxCpuSeconds} leaves a document the rest. */
  readonly recycleCpuSeconds: number;
  /** What is put around each process. Default: found out for this entry and folder with the first document. */
  readonly sandbox?: Promise<Sandbox>;
}

interface ChildJob {
  readonly owner: Owner;
  /** Bytes of the document. */
  readonly size: number;
  readonly signal?: AbortSignal | undefined;
  readonly work: (child: ParserChild) => Promise<ChildOutcome>;
}

export interface ParserChildren {
  /** Waits for a process and gives it back afterwards. Rejects with the signal's reason where the caller gave up waiting. */
  use(job: ChildJob): Promise<ChildOutcome>;
  /** Kills all and resolves when they are gone; what waits is refused. */
  close(): Promise<void>;
}

/** Processes that die before they are ready, in a row, after which waiting documents are told instead of starting more. */
const MAX_FAILED_STARTS = 3;
const SPARE_IDLE_MS = 60_000;

interface Waiter extends Pick<ChildJob, "owner" | "size"> {
  readonly resolve: (child: ParserChild) => void;
  readonly reject: (reason: unknown) => void;
}

/** What a busy process has in hand. */
interface InHand {
  readonly owner: Owner;
  readonly onSpare: boolean;
}

type Room = Pick<ChildrenOptions, "size" | "spares">;

/**
 * Of the first `size` processes anybody may have all. Beyond them a small document may have a spare one, so that it does not wait for a slow one: any but
 * the last two where its user has no other spare, the last but one where its user has nothing else in hand, and the last where its organization has not.
 */
function mayHave(
  { owner, size }: Pick<Waiter, "owner" | "size">,
  inHand: readonly InHand[],
  room: Room,
): boolean {
  const left = room.size + room.spares - inHand.length;
  if (left > room.spares) return true;
  if (left === 0 || size > ALONE_ABOVE_BYTES) return false;
  const ofOrganization = inHand.filter((held) => held.owner.organizationId === owner.organizationId);
  const ofUser = ofOrganization.filter((held) => held.owner.userId === owner.userId);
  if (left === 1) return ofOrganization.length === 0;
  return left === 2 ? ofUser.length === 0 : !ofUser.some((held) => held.onSpare);
}

interface Turns {
  readonly length: number;
  /** Resolves with a process once it is this job's turn. */
  wait(job: ChildJob): Promise<ParserChild>;
  /** Gives a free process to whose turn it is. @returns false where nobody may have it. */
  give(child: ParserChild): boolean;
  isOwed(): boolean;
  end(child: ParserChild): void;
  charge(owner: Owner, milliseconds: number): void;
  refuse(reason: unknown): void;
}

/** Documents take turns as {@link createFairQueue} says, by the milliseconds that their owners' documents took. */
function createTurns(room: Room): Turns {
  const busy = new Map<ParserChild, InHand>();
  const waiting = createFairQueue<Waiter>();
  const may = (waiter: Waiter): boolean => mayHave(waiter, [...busy.values()], room);
  return {
    get length() {
      return busy.size;
    },
    wait({ owner, size, signal }) {
      const { promise, resolve, reject } = Promise.withResolvers<ParserChild>();
      const waiter: Waiter = { owner, size, resolve, reject };
      const abort = (): void => {
        if (waiting.remove(waiter)) reject(signal?.reason);
      };
      waiting.add(waiter);
      signal?.addEventListener("abort", abort, { once: true });
      return promise.finally(() => signal?.removeEventListener("abort", abort));
    },
    give(child) {
      const next = waiting.take(may);
      if (next === undefined) return false;
      busy.set(child, { owner: next.owner, onSpare: busy.size >= room.size });
      next.resolve(child);
      return true;
    },
    isOwed: () => waiting.some(may),
    end: (child) => void busy.delete(child),
    charge: (owner, milliseconds) => waiting.charge(owner, milliseconds),
    refuse: (reason) => waiting.drain().forEach((waiter) => waiter.reject(reason)),
  };
}

interface ProcessEvents {
  ready(child: ParserChild): void;
  gone(child: ParserChild): void;
}

/** The processes that live, each behind the sandbox that was found out with the first. */
function createProcesses(options: ChildrenOptions, events: ProcessEvents) {
  const alive = new Set<ParserChild>();
  const uncleared = createUnsettled();
  let finding: Promise<Sandbox> | undefined;
  let sandbox: Sandbox | undefined;
  let failedStarts = 0;
  return {
    get count() {
      return alive.size;
    },
    has: (child: ParserChild) => alive.has(child),
    doNotStart: () => failedStarts >= MAX_FAILED_STARTS,
    async prepare(): Promise<void> {
      sandbox ??= await (finding ??= options.sandbox ?? prepareSandbox(options));
      if (failedStarts >= MAX_FAILED_STARTS) failedStarts = 0;
    },
    start(): void {
      if (sandbox === undefined) return;
      const child = startParserChild(options, sandbox);
      alive.add(child);
      uncleared.add(child.cleared);
      child.ready.then(
        () => {
          failedStarts = 0;
          events.ready(child);
        },
        () => failedStarts++,
      );
      void child.gone.then(() => {
        alive.delete(child);
        events.gone(child);
      });
    },
    async close(): Promise<void> {
      for (const child of alive) child.kill();
      // What cannot be removed is left to the next start of a worker.
      await uncleared.settled();
    },
  };
}

export function createParserChildren(options: ChildrenOptions): ParserChildren {
  const idle = new Set<ParserChild>();
  const turns = createTurns(options);
  let closed = false;

  /** Gives idle processes away, and starts another where that is what somebody waits for. */
  const serve = (): void => {
    try {
      while (processes.count < options.size) processes.start();
      for (const child of idle) if (turns.give(child)) idle.delete(child);
      const areStarting = processes.count > turns.length + idle.size;
      if (idle.size === 0 && !areStarting && turns.isOwed()) processes.start();
    } catch (error) {
      turns.refuse(error);
    }
  };
  const offer = (child: ParserChild): void => {
    idle.add(child);
    serve();
    const isSpare = (): boolean => idle.has(child) && processes.count > options.size;
    if (isSpare()) setTimeout(() => isSpare() && child.kill(), SPARE_IDLE_MS).unref();
  };
  const processes = createProcesses(options, {
    ready: offer,
    gone(child) {
      idle.delete(child);
      turns.end(child);
      if (closed) return;
      if (processes.doNotStart()) turns.refuse(new Error("The parser process does not start."));
      else serve();
    },
  });
  const run = async (job: ChildJob, child: ParserChild): Promise<ChildOutcome> => {
    const startedAt = performance.now();
    const outcome = await job.work(child);
    turns.charge(job.owner, performance.now() - startedAt);
    const worn = await isWorn(child, options);
    turns.end(child);
    if (worn) child.kill();
    else if (processes.has(child)) offer(child);
    return outcome;
  };
  const assertOpen = (signal?: AbortSignal): void => {
    if (closed) throw closedError();
    signal?.throwIfAborted();
  };

  return {
    async use(job) {
      assertOpen(job.signal);
      await processes.prepare();
      assertOpen(job.signal);
      const turn = turns.wait(job);
      serve();
      const outcome = await run(job, await turn);
      if (closed && outcome.kind === "lost") throw closedError();
      return outcome;
    },
    async close() {
      closed = true;
      turns.refuse(closedError());
      await processes.close();
    },
  };
}

/** Promises that have not settled yet. */
function createUnsettled() {
  const promises = new Set<Promise<unknown>>();
  return {
    add(promise: Promise<unknown>): void {
      const forgotten = promise.catch(() => undefined).finally(() => promises.delete(forgotten));
      promises.add(forgotten);
    },
    settled: () => Promise.all(promises),
  };
}

async function isWorn(
  child: ParserChild,
  { maxDocumentsPerChild, recycleRssBytes, recycleCpuSeconds }: ChildrenOptions,
): Promise<boolean> {
  if (child.requests() >= maxDocumentsPerChild) return true;
  const [bytes, seconds] = await Promise.all([residentBytes(child.pid), processorSeconds(child.pid)]);
  return bytes > recycleRssBytes || seconds > recycleCpuSeconds;
}

/** No domain error: a document that a stopping worker held is to be tried again. */
function closedError(): Error {
  return new Error("The parser pool is closed.");
}
