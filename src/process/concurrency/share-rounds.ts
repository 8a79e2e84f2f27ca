/**
 * Runs one round of `work` at a time. Calls that come during a round share the next one, because the round
 * that runs may have read the state before the caller changed it.
 * @returns a function that resolves when the caller's round has ended, and rejects with the error of it; the
 * error of an earlier round is not the caller's.
 */
export function shareRounds(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function run(): Promise<void> {
    if (running === undefined) {
      running = work().finally(() => {
        running = undefined;
      });
      return running;
    }
    next ??= running.then(runNext, runNext);
    return next;
  }
  function runNext(): Promise<void> {
    next = undefined;
    return run();
  }
  return run;
}
