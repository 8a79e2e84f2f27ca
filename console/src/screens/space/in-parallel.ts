/** Few enough for the browser's connections and the service's rate limit. */
const AT_ONCE = 4;

export interface Outcomes<T> {
  readonly done: readonly T[];
  readonly failures: readonly unknown[];
}

/** Does the same to many things, a few at a time; one that fails does not stop the others. */
export async function inParallel<T, R>(
  things: readonly T[],
  work: (thing: T) => Promise<R>,
): Promise<Outcomes<R>> {
  const done: R[] = [];
  const failures: unknown[] = [];
  const waiting = things[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (const thing of waiting) {
      try {
        done.push(await work(thing));
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { done, failures };
}
