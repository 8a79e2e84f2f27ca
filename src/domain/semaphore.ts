/**
 * Bounds how much work runs at once. Work without a permit waits in the order of the calls, and there is no
 * bound to how much may wait.
 * @returns a function that runs `work` once one of the `permits` is free, and settles as it does.
 * @see test/domain/semaphore.test.ts
 */
export function createSemaphore(permits: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = permits;
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // A permit is handed on without being free in between, so that nobody slips in.
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
