/** Starts parser processes inside their sandbox, and keeps a list of those that run. */

import { startParserChild, type ChildLimits, type ParserChild } from "./parser-child.ts";
import { prepareSandbox, type Sandbox } from "./sandbox/sandbox.ts";

export interface LiveOptions extends ChildLimits {
  /** What is put around each process. Default: found out for this entry and folder with the first job. */
  readonly sandbox?: Promise<Sandbox>;
}

export interface ChildEvents {
  ready(child: ParserChild): void;
  gone(child: ParserChild): void;
}

export interface LiveChildren {
  readonly count: number;
  has(child: ParserChild): boolean;
  /** Whether so many starts failed in a row that waiting documents should be refused. */
  failsToStart(): boolean;
  /** Finds out the sandbox, once, and allows new starts after failed ones. */
  prepare(): Promise<void>;
  /** Does nothing before {@link LiveChildren.prepare} has resolved. */
  start(): void;
  /** Kills all and resolves when their folders are gone too. */
  close(): Promise<void>;
}

/** Processes that died in a row before they were ready. */
const MAX_FAILED_STARTS = 3;

export function createLiveChildren(options: LiveOptions, events: ChildEvents): LiveChildren {
  const alive = new Set<ParserChild>();
  const uncleared = createUnsettled();
  let finding: Promise<Sandbox> | undefined;
  let sandbox: Sandbox | undefined;
  let failedStarts = 0;
  return {
    get count() {
      return alive.size;
    },
    has: (child) => alive.has(child),
    failsToStart: () => failedStarts >= MAX_FAILED_STARTS,
    async prepare() {
      finding ??= options.sandbox ?? prepareSandbox(options);
      sandbox ??= await finding;
      if (failedStarts >= MAX_FAILED_STARTS) failedStarts = 0;
    },
    start() {
      if (sandbox === undefined) return;
      const child = startParserChild(options, sandbox);
      alive.add(child);
      uncleared.add(child.cleared);
      child.ready.then(
        () => {
          failedStarts = 0;
          events.ready(child);
        },
        () => {
          failedStarts++;
        },
      );
      void child.gone.then(() => {
        alive.delete(child);
        events.gone(child);
      });
    },
    async close() {
      for (const child of alive) child.kill();
      // A folder that cannot be removed is left to the next start of a worker.
      await uncleared.settled();
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
