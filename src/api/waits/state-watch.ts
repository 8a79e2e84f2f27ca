/**
 * Tells those who wait for a run or a batch that its state has changed. All waits of a process share one
 * look, so that none of them costs more than its place in a list, and nobody who waits holds a connection.
 */
import type { Watched } from "../../db/runs/states.ts";
import { shareRounds } from "../../process/concurrency/share-rounds.ts";

export interface StateWatch {
  /** Waits until the state is not `state` any more; also returns when time is over or the client left. */
  changed(watched: Watched, state: string, within: Within): Promise<void>;
  /** Ends all waits, and every later one at once. */
  drain(): void;
  close(): Promise<void>;
}

interface Within {
  readonly timeoutMs: number;
  /** Aborted if the client goes away. */
  readonly signal: AbortSignal;
}

interface StateWatchParts {
  /** The states by id; those of what does not exist any more are left out. */
  readonly readStates: (watched: readonly Watched[]) => Promise<ReadonlyMap<string, string>>;
  /** How often it looks while somebody waits. Default 500 ms. */
  readonly lookEveryMs?: number;
  /** Told of the first of several looks in a row that fail. */
  readonly onFailure: (error: unknown) => void;
}

interface Waiter {
  readonly watched: Watched;
  readonly state: string;
  readonly wake: () => void;
}

const LOOK_EVERY_MS = 500;

export function createStateWatch({
  readStates,
  lookEveryMs = LOOK_EVERY_MS,
  onFailure,
}: StateWatchParts): StateWatch {
  const waiters = new Set<Waiter>();
  let timer: NodeJS.Timeout | undefined;
  let isDraining = false;
  let hasFailed = false;

  const look = shareRounds(async () => {
    const watched = new Map([...waiters].map((waiter) => [waiter.watched.id, waiter.watched]));
    if (watched.size === 0) return;
    try {
      const states = await readStates([...watched.values()]);
      hasFailed = false;
      // Those who came during the look wait for the next one.
      for (const waiter of waiters) {
        const { id } = waiter.watched;
        if (watched.has(id) && states.get(id) !== waiter.state) waiter.wake();
      }
    } catch (error) {
      // The next look is soon; waiters see nothing of it.
      if (!hasFailed) onFailure(error);
      hasFailed = true;
    }
  });

  return {
    async changed(watched, state, { timeoutMs, signal }) {
      if (isDraining || signal.aborted) return;
      const woken = Promise.withResolvers<void>();
      const waiter: Waiter = { watched, state, wake: woken.resolve };
      const timeout = setTimeout(woken.resolve, timeoutMs);
      signal.addEventListener("abort", waiter.wake);
      waiters.add(waiter);
      timer ??= setInterval(() => void look(), lookEveryMs).unref();
      try {
        await woken.promise;
      } finally {
        clearTimeout(timeout);
        signal.removeEventListener("abort", waiter.wake);
        waiters.delete(waiter);
        if (waiters.size === 0) {
          clearInterval(timer);
          timer = undefined;
        }
      }
    },
    drain() {
      isDraining = true;
      for (const waiter of waiters) waiter.wake();
    },
    async close() {
      clearInterval(timer);
      await look();
    },
  };
}
