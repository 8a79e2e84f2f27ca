/** Supervises the parts of a start: starts them, restarts what dies, and stops all in reverse order. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Running } from "./launch.ts";
import { HopelessStartError, isHopelessEnd, messageOf } from "../start-error.ts";

/** A part that has run for this long counts as healthy again. */
const HEALTHY_AFTER_MS = 60_000;
const MAX_FAILURES = 8;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 15_000;

export interface Part<R extends Running = Running> {
  readonly name: string;
  /** Starts it and returns when it is ready; `onLaunch` runs with its process, also after each death. */
  start(onLaunch: (running: Running) => void): Promise<R>;
  /** True if a restart need not wait for the end of the process before, because both can run at once. */
  readonly mayOverlap?: boolean;
}

export interface SuperviseOptions {
  readonly onProgress: (line: string) => void;
  readonly onLaunch: (running: Running) => void;
  /** Called for a part that cannot be kept running. The supervisor does not stop the others by itself. */
  readonly onGiveUp: (why: string, name: string, isHopeless: boolean) => void;
  /** For tests. */
  readonly firstDelayMs?: number;
}

export interface Supervisor {
  /** Starts a part and keeps it running. @throws what its first start throws */
  add<R extends Running>(part: Part<R>): Promise<R>;
  /**
   * Ends the part and starts it again, which does not count as a failure. If its start fails here, the part
   * is not started until the next restart, because only an edit can help.
   * @throws what its start throws
   */
  restart(name: string): Promise<void>;
  /** Ends all parts, the last added first, within their grace times. Nothing is started again. */
  stopAll(): Promise<void>;
  /** Kills all parts at once. */
  killAll(): void;
}

interface Kept {
  readonly part: Part;
  running: Running | undefined;
  /** The start or the loop that may still launch a process. */
  busy: Promise<unknown>;
  /** Ends the loop that keeps the current process running. */
  watch: AbortController;
  /** Processes from before a restart that may still run. */
  ending: Promise<unknown>;
  /** Restarts come one after the other. */
  restarting: Promise<unknown>;
}

/** @returns a supervisor without parts. */
export function supervise(options: SuperviseOptions): Supervisor {
  const all: Kept[] = [];
  const stopping = new AbortController();

  const track = (kept: Kept, watch: AbortSignal) => (running: Running) => {
    // A stop or a restart that came while the process was being launched did not find it.
    if (stopping.signal.aborted || watch.aborted) void running.stop();
    if (watch.aborted) return;
    kept.running = running;
    options.onLaunch(running);
  };

  /** Starts the part and keeps it running until its next restart. */
  const begin = async <R extends Running>(part: Part<R>, kept: Kept): Promise<R> => {
    const watch = new AbortController();
    kept.watch = watch;
    const onLaunch = track(kept, watch.signal);
    const first = part.start(onLaunch);
    kept.busy = first.catch(() => undefined);
    const running = await first;
    kept.busy = keep(running, {
      part,
      onLaunch,
      over: AbortSignal.any([stopping.signal, watch.signal]),
      options,
    });
    return running;
  };

  const again = async (kept: Kept): Promise<void> => {
    stopping.signal.throwIfAborted();
    kept.watch.abort();
    kept.ending = Promise.all([kept.running?.stop(), kept.busy, kept.ending]).then(() => undefined);
    if (!kept.part.mayOverlap) await kept.ending;
    stopping.signal.throwIfAborted();
    await begin(kept.part, kept);
  };

  return {
    async add(part) {
      stopping.signal.throwIfAborted();
      const kept: Kept = {
        part,
        running: undefined,
        busy: Promise.resolve(),
        watch: new AbortController(),
        ending: Promise.resolve(),
        restarting: Promise.resolve(),
      };
      all.push(kept);
      return begin(part, kept);
    },
    async restart(name) {
      stopping.signal.throwIfAborted();
      const kept = all.find(({ part }) => part.name === name);
      if (kept === undefined) throw new Error(`There is no part "${name}" to restart.`);
      const restarted = kept.restarting.then(() => again(kept));
      kept.restarting = restarted.catch(() => undefined);
      await restarted;
    },
    async stopAll() {
      stopping.abort();
      for (const kept of all.toReversed()) {
        await kept.running?.stop();
        await kept.busy;
        await kept.running?.stop();
        await kept.ending;
      }
    },
    killAll() {
      stopping.abort();
      for (const kept of all) kept.running?.kill();
    },
  };
}

interface End {
  readonly why: string;
  /** True if starting it again cannot help. */
  readonly isHopeless: boolean;
}

/** How it ended, with the last line of its log, which is usually the reason. */
async function endOf(running: Running): Promise<End> {
  const ended = await running.exited;
  const lastLine = (await running.logTail().catch(() => "")).split("\n").at(-1);
  return {
    why: lastLine === undefined || lastLine === "" ? ended : `${ended}; its last line: ${lastLine}`,
    isHopeless: isHopelessEnd(ended),
  };
}

interface Keeping {
  readonly part: Part;
  readonly onLaunch: (running: Running) => void;
  /** Aborts when the part is not to be started again. */
  readonly over: AbortSignal;
  readonly options: SuperviseOptions;
}

/** Starts the part again each time it ends, after a growing pause, until `over` aborts or it is given up. */
async function keep(first: Running, { part, onLaunch, over, options }: Keeping): Promise<void> {
  let failures = 0;
  let startedAt = Date.now();
  let ended = await endOf(first);
  while (!over.aborted) {
    if (ended.isHopeless) return options.onGiveUp(`${part.name} cannot run (${ended.why})`, part.name, true);
    failures = Date.now() - startedAt > HEALTHY_AFTER_MS ? 1 : failures + 1;
    if (failures > MAX_FAILURES) {
      return options.onGiveUp(
        `${part.name} ended ${MAX_FAILURES} times in a row (${ended.why})`,
        part.name,
        false,
      );
    }
    const delayMs = Math.min(MAX_DELAY_MS, (options.firstDelayMs ?? FIRST_DELAY_MS) * 2 ** (failures - 1));
    options.onProgress(`${part.name} ended (${ended.why}); restarting in ${delayMs / 1_000} s`);
    await sleep(delayMs, undefined, { signal: over }).catch(() => undefined);
    if (over.aborted) return undefined;
    startedAt = Date.now();
    try {
      const running = await part.start(onLaunch);
      if (!over.aborted) options.onProgress(`${part.name} is running again`);
      ended = await endOf(running);
    } catch (error) {
      ended = { why: messageOf(error), isHopeless: error instanceof HopelessStartError };
    }
  }
  return undefined;
}
