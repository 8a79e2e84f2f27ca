/** The only place that cuts long computing of this process's event loop into pieces, between which other work has its turn. */

const SLICE_MS = 4;

/** Who goes on next: one in each turn of the event loop, whatever the number that computes, so that no other work waits for all of them. */
const waiting: Array<() => void> = [];

function goOn(): void {
  waiting.shift()!();
  if (waiting.length > 0) setImmediate(goOn);
}

/** For a step that may take tens of milliseconds and cannot be cut: resolves when it may begin. */
export function turnOfLoop(): Promise<void> {
  return new Promise((resume) => {
    waiting.push(resume);
    if (waiting.length === 1) setImmediate(goOn);
  });
}

/** @returns what is called between two steps, and awaited: a pause once {@link SLICE_MS} are used up since the last one, else nothing. */
export function createTimeSlice(): () => Promise<void> | undefined {
  let sinceMs = performance.now();
  return () => {
    if (performance.now() - sinceMs < SLICE_MS) return undefined;
    return turnOfLoop().then(() => void (sinceMs = performance.now()));
  };
}
