/** Bounds how many searches use the database at once. */
import { DomainError } from "../../domain/errors.ts";
import { searchStage } from "../../telemetry/stage.ts";

export type Gate = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

interface GateSettings {
  readonly places: number;
  readonly maxWaitMs: number;
}

const RETRY_AFTER_SECONDS = 1;

/**
 * Lets `places` pieces of work run at once; the others wait in the order they came. A place is free only
 * after its work has ended, also if the signal was aborted meanwhile: until then its statements run.
 *
 * @throws DomainError `overloaded` after `maxWaitMs` without a place; the reason of `signal` if it is aborted
 *   while waiting.
 * @example `test/process/concurrency/gate.test.ts`
 */
export function createGate({ places, maxWaitMs }: GateSettings): Gate {
  let free = places;
  const waiting = new Set<() => void>();

  const enter = async (signal: AbortSignal | undefined): Promise<void> => {
    if (free > 0) {
      free -= 1;
      return;
    }
    await untilCalled(waiting, maxWaitMs, signal);
  };

  return async (work, signal) => {
    signal?.throwIfAborted();
    await searchStage("wait", () => enter(signal));
    try {
      return await work();
    } finally {
      const [next] = waiting;
      // The place passes to the caller that has waited longest, so that a new one is not served first.
      if (next === undefined) free += 1;
      else next();
    }
  };
}

/** Waits in `waiting`, and leaves it the moment the wait ends: no place is given to one who has gone. */
function untilCalled(
  waiting: Set<() => void>,
  maxWaitMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      clearTimeout(timer);
      waiting.delete(called);
      signal?.removeEventListener("abort", aborted);
    };
    const called = (): void => {
      leave();
      resolve();
    };
    const aborted = (): void => {
      leave();
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      leave();
      reject(overloaded());
    }, maxWaitMs);
    waiting.add(called);
    signal?.addEventListener("abort", aborted, { once: true });
  });
}

function overloaded(): DomainError {
  return new DomainError("overloaded", "Too many searches at once.", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
