/** Runs at most one round for each key at a time, however often it is asked for. */

export interface Coalesced<Key> {
  /**
   * Begins a round for the key. If one is running, another follows it, because the running one may have read
   * the state before the caller changed it; further calls during a round lead to no further rounds.
   * @returns a promise that resolves when no round for the key runs any more.
   */
  run(key: Key): Promise<void>;
  /** Resolves when no round runs. */
  idle(): Promise<void>;
}

/** @param round must not reject. @param taskName gives equal keys the same name. */
export function coalesce<Key>(
  taskName: (key: Key) => string,
  round: (key: Key) => Promise<void>,
): Coalesced<Key> {
  const running = new Map<string, Promise<void>>();
  const askedAgain = new Set<string>();

  const runRounds = async (key: Key, name: string): Promise<void> => {
    do {
      askedAgain.delete(name);
      await round(key);
    } while (askedAgain.has(name));
    running.delete(name);
  };

  return {
    run(key) {
      const name = taskName(key);
      const current = running.get(name);
      if (current !== undefined) {
        askedAgain.add(name);
        return current;
      }
      const started = runRounds(key, name);
      running.set(name, started);
      return started;
    },
    async idle() {
      await Promise.all(running.values());
    },
  };
}
