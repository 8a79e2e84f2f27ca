/** Caches the moment since when every process writes payloads that are bound to their place. */
/** How often the database is asked until the moment is known. */
const LOOK_MS = 5_000;
/**
 * For this long after the cut-over the old encoding is still accepted: a process may not know of it yet, and
 * clocks differ.
 */
const GRACE_MS = 60_000;

/** The name of the cut-over from the encoding that 0.3.0 reads to the bound one. */
export const BOUND_PAYLOADS = "bound_payloads";

export interface CutOver {
  /**
   * The time (milliseconds since 1970) from which nothing may begin with payloads in the old encoding; null
   * while workers of version 0.3.0 may still run. Asks the database at most every five seconds, and no more
   * once the time is known.
   */
  oldFormUntil(): Promise<number | null>;
}

/**
 * @param load reads the stored moment; null if there is none yet. A caller gets the error that it throws, and
 * the next caller asks again.
 */
export function createCutOver(load: () => Promise<Date | null>, now: () => number = Date.now): CutOver {
  let known: number | null = null;
  let lookedAt = -Infinity;
  let running: Promise<number | null> | undefined;

  async function look(): Promise<number | null> {
    const startedAt = now();
    const at = await load();
    lookedAt = startedAt;
    if (at !== null) known = at.getTime() + GRACE_MS;
    return known;
  }

  return {
    async oldFormUntil() {
      if (known !== null || now() < lookedAt + LOOK_MS) return known;
      // One look at a time: a worker's look lasts as long as an outage does.
      running ??= look().finally(() => {
        running = undefined;
      });
      return running;
    },
  };
}
