/** How a process does something again and again: one round at a time, a pause between rounds, stopped in order. */

export interface Rounds {
  /** Resolves when the round under way has ended; none begins after it. */
  stop(): Promise<void>;
}

/** Calls `round` with `pauseMs` between the end of one and the beginning of the next; a round that throws is told to `onError`. */
export function every(
  pauseMs: number,
  round: () => Promise<void>,
  onError: (error: unknown) => void,
): Rounds {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<void> = Promise.resolve();
  const next = (): void => {
    current = round()
      .catch(onError)
      .finally(() => {
        if (!stopped) timer = setTimeout(next, pauseMs);
      });
  };
  next();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await current;
    },
  };
}
