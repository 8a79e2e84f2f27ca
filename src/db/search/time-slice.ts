/** The only place that cuts the long computing of a search into pieces, between which other work of the process has its turn. */
import { setImmediate as pause } from "node:timers/promises";

const SLICE_MS = 4;

/** @returns what is called between two steps, and awaited: a pause once {@link SLICE_MS} are used up since the last one, else nothing. */
export function createTimeSlice(): () => Promise<void> | undefined {
  let sinceMs = performance.now();
  return () => {
    if (performance.now() - sinceMs < SLICE_MS) return undefined;
    return pause().then(() => void (sinceMs = performance.now()));
  };
}
