/** Orders those who wait for the same thing: whoever was served least recently goes first. */

interface Served {
  /** The number of this key's last serving, counted over all keys. */
  last: number;
  times: number;
}

export interface FairOrder {
  /** The key served least recently. One that was never served goes first; equal keys in the given order. */
  next(keys: Iterable<string>): string | undefined;
  /** All keys in that order. */
  inOrder(keys: Iterable<string>): string[];
  /** Notes that the key is served now. @returns how often it was served, this time included. */
  serve(key: string): number;
  /** Forgets everything, which grows with the number of keys: this is called whenever nobody waits. */
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
