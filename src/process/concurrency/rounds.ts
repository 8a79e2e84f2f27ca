/** Repeats a round of work with pauses in between, one round at a time. */

export interface Rounds {
  /** Lets no further round begin, and resolves when the running one has ended. */
  stop(): Promise<void>;
}

/** Calls `round`, pauses for `pauseMs`, and so on, also after errors. The rounds keep no process alive. */
export function every(
  pauseMs: number,
  round: () => Promise<void>,
  onError: (error: unknown) => void,
): Rounds {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<void> = Promise.resolve();
  const next = (): void => {
    current = round()
      .catch(onError)
      .finally(() => {
        if (!isStopped) timer = setTimeout(next, pauseMs).unref();
      });
  };
  next();
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await current;
    },
  };
}
