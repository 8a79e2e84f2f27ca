/** The only supervisor: starts the parts, starts again what dies, and stops all in the reverse order. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Running } from "./launch.ts";
import { messageOf } from "./start-error.ts";

/** What has run for this long counts as healthy again. */
const HEALTHY_AFTER_MS = 60_000;
const MAX_FAILURES = 8;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 15_000;

export interface Part<R extends Running = Running> {
  readonly name: string;
  /** Starts it and returns when it is ready; `onLaunch` is called as soon as its process runs. Called again after each death. */
  start(onLaunch: (running: Running) => void): Promise<R>;
}

export interface SuperviseOptions {
  readonly onProgress: (line: string) => void;
  readonly onLaunch: (running: Running) => void;
  /** A part that cannot be kept running; called once. The supervisor does not stop the others by itself. */
  readonly onGiveUp: (why: string) => void;
  /** Only tests give their own. */
  readonly firstDelayMs?: number;
}

export interface Supervisor {
  /** Starts a part and keeps it running from then on. @throws what its first start throws. */
  add<R extends Running>(part: Part<R>): Promise<R>;
  /** Ends all parts, the last added first; bounded by their grace times. Nothing is started again. */
  stopAll(): Promise<void>;
  /** Ends all at once, without order. */
  killAll(): void;
}

interface Kept {
  readonly name: string;
  running: Running | undefined;
  /** The start or watch that may still launch something. */
  busy: Promise<unknown>;
}

/** A supervisor without parts. */
export function supervise(options: SuperviseOptions): Supervisor {
  const all: Kept[] = [];
  const stopping = new AbortController();

  const track = (kept: Kept) => (running: Running) => {
    kept.running = running;
    options.onLaunch(running);
    // A stop that came while it was being launched has passed it by.
    if (stopping.signal.aborted) void running.stop();
  };

  const keep = async (part: Part, kept: Kept): Promise<void> => {
    let failures = 0;
    let startedAt = Date.now();
    let ended = await kept.running?.exited;
    while (!stopping.signal.aborted) {
      failures = Date.now() - startedAt > HEALTHY_AFTER_MS ? 1 : failures + 1;
      if (failures > MAX_FAILURES) return options.onGiveUp(`${part.name} ended ${MAX_FAILURES} times in a row (${ended})`);
      const delayMs = Math.min(MAX_DELAY_MS, (options.firstDelayMs ?? FIRST_DELAY_MS) * 2 ** (failures - 1));
      options.onProgress(`${part.name} ended (${ended}); starting it again in ${delayMs / 1_000} s`);
      await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return undefined;
      startedAt = Date.now();
      try {
        const running = await part.start(track(kept));
        options.onProgress(`${part.name} runs again`);
        ended = await running.exited;
      } catch (error) {
        ended = messageOf(error);
      }
    }
    return undefined;
  };

  return {
    async add(part) {
      stopping.signal.throwIfAborted();
      const kept: Kept = { name: part.name, running: undefined, busy: Promise.resolve() };
      all.push(kept);
      const first = part.start(track(kept));
      kept.busy = first.catch(() => undefined);
      const running = await first;
      kept.busy = keep(part, kept);
      return running;
    },
    async stopAll() {
      stopping.abort();
      for (const kept of all.toReversed()) {
        await kept.running?.stop();
        await kept.busy;
        await kept.running?.stop();
      }
    },
    killAll() {
      stopping.abort();
      for (const kept of all) kept.running?.kill();
    },
  };
}
