/** Orders those who wait for the same thing: whoever was served least recently goes first. */

interface Served {
  /** The number of this key's last serving, counted over all keys. */
  last: number;
  times: number;
}

export interface FairOrder {
  /**
   * The key that was served least recently. A key that was never served goes first; equal keys go in the
   * order given.
   */
  next(keys: Iterable<string>): string | undefined;
  /** All keys in that order. */
  inOrder(keys: Iterable<string>): string[];
  /** Notes that the key is served now. @returns how often it was served, this time included. */
  serve(key: string): number;
  /**
   * Forgets everything. What is remembered grows with the number of keys, so this is called whenever nobody
   * waits.
   */
  forget(): void;
}

export function createFairOrder(): FairOrder {
  const served = new Map<string, Served>();
  let servings = 0;
  const lastOf = (key: string): number => served.get(key)?.last ?? 0;
  const inOrder = (keys: Iterable<string>): string[] =>
    [...new Set(keys)].toSorted((one, other) => lastOf(one) - lastOf(other));
  return {
    next: (keys) => inOrder(keys)[0],
    inOrder,
    serve(key) {
      servings++;
      const times = (served.get(key)?.times ?? 0) + 1;
      served.set(key, { last: servings, times });
      return times;
    },
    forget: () => served.clear(),
  };
}
