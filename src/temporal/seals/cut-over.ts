/** Since when every process writes payloads bound to their place: what is kept of it in memory. */
const LOOK_MS = 5_000;
/** The old form is taken from what begins this long after the cut-over: a process may not know of it yet, and clocks differ. */
const GRACE_MS = 60_000;

/** What this release's upgrade cuts over: from the form that 0.3.0 reads to the one that is bound. */
export const BOUND_PAYLOADS = "bound_payloads";

export interface CutOver {
  /**
   * Milliseconds since 1970 from which on nothing begins with payloads of the old form; null while such are written, as workers of version 0.3.0 may run.
   * Asks the database at most every five seconds, and never again once it is stored.
   */
  oldFormUntil(): Promise<number | null>;
}

/** @param load the stored moment; null where there is none. What it throws, a caller gets, and the next one looks again. */
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
      // One at a time: in an outage a worker's look lasts as long as that.
      running ??= look().finally(() => (running = undefined));
      return running;
    },
  };
}
