/** Work that several callers wait for, and that is given up when the last of them has left. */

interface SharedWork<T> {
  /** Settles as the work does, with or without somebody who waits. */
  readonly ended: Promise<T>;
  readonly isGivenUp: boolean;
  /** Waits for the work. Rejects with the signal's reason if the caller leaves before. */
  join(signal: AbortSignal): Promise<T>;
}

interface Given<T> {
  /** The signal is aborted when the work is given up. */
  readonly work: (givenUp: AbortSignal) => Promise<T>;
  /** For how many milliseconds work that nobody waits for goes on. */
  readonly lingerMs: () => number;
}

export function shareWork<T>({ work, lingerMs }: Given<T>): SharedWork<T> {
  const giving = new AbortController();
  const ended = work(giving.signal);
  let waiting = 0;
  let timer: NodeJS.Timeout | undefined;
  const leave = (): void => {
    waiting -= 1;
    if (waiting > 0) return;
    const delay = lingerMs();
    if (delay === 0) giving.abort();
    else timer = setTimeout(() => giving.abort(), delay).unref();
  };
  ended.then(
    () => clearTimeout(timer),
    () => clearTimeout(timer),
  );
  return {
    ended,
    get isGivenUp() {
      return giving.signal.aborted;
    },
    async join(signal) {
      signal.throwIfAborted();
      clearTimeout(timer);
      waiting += 1;
      const left = Promise.withResolvers<never>();
      const abort = (): void => {
        left.reject(signal.reason);
        leave();
      };
      signal.addEventListener("abort", abort, { once: true });
      try {
        return await Promise.race([ended, left.promise]);
      } finally {
        signal.removeEventListener("abort", abort);
      }
    },
  };
}
