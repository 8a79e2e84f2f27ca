/** The only place that bounds how many searches use the database at once. */
import { DomainError } from "../domain/errors.ts";
import { searchStage } from "../telemetry/stage.ts";

export type Gate = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

interface GateSettings {
  readonly places: number;
  readonly maxWaitMs: number;
}

const RETRY_AFTER_SECONDS = 1;

/** Lets `places` pieces of work run at once; the others wait in the order they came. @throws DomainError `overloaded` after `maxWaitMs`. */
export function createGate({ places, maxWaitMs }: GateSettings): Gate {
  let free = places;
  const waiting = new Set<() => void>();

  const enter = async (signal: AbortSignal | undefined): Promise<void> => {
    if (free > 0) {
      free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const leave = (reason: unknown): void => {
        settle();
        reject(reason);
      };
      const aborted = (): void => leave(signal?.reason);
      const timer = setTimeout(
        () =>
          leave(
            new DomainError("overloaded", "Too many searches at once.", {
              retryAfterSeconds: RETRY_AFTER_SECONDS,
            }),
          ),
        maxWaitMs,
      );
      const called = (): void => {
        settle();
        resolve();
      };
      const settle = (): void => {
        clearTimeout(timer);
        waiting.delete(called);
        signal?.removeEventListener("abort", aborted);
      };
      waiting.add(called);
      signal?.addEventListener("abort", aborted, { once: true });
    });
  };

  return async (work, signal) => {
    signal?.throwIfAborted();
    await searchStage("wait", () => enter(signal));
    try {
      return await work();
    } finally {
      const next = waiting.values().next().value;
      // The place passes to the next in line, so that nobody who comes now is before it.
      if (next === undefined) free += 1;
      else next();
    }
  };
}
