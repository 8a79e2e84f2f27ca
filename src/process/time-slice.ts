/** Cuts long computations on the event loop into slices, so that other work runs in between. */

const SLICE_MS = 4;

/** Computations that wait to continue: one in each iteration of the loop, so others wait for one slice. */
const waiting: Array<() => void> = [];

function resumeNext(): void {
  const resume = waiting.shift()!;
  resume();
  if (waiting.length > 0) setImmediate(resumeNext);
}

/** Resolves when a step may begin that takes tens of milliseconds and cannot be cut. */
export function turnOfLoop(): Promise<void> {
  return new Promise((resume) => {
    waiting.push(resume);
    if (waiting.length === 1) setImmediate(resumeNext);
  });
}

/** Returns a function to await between steps: it pauses if {@link SLICE_MS} have passed, else undefined. */
export function createTimeSlice(): () => Promise<void> | undefined {
  let sinceMs = performance.now();
  const pause = async (): Promise<void> => {
    await turnOfLoop();
    sinceMs = performance.now();
  };
  return () => (performance.now() - sinceMs < SLICE_MS ? undefined : pause());
}
