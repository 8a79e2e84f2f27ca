/** Whose turn it is where several wait for the same thing: of those who wait, whoever was served least recently. */

interface Served {
  /** Of all servings, the number of the last one. */
  last: number;
  times: number;
}

export interface FairTurns {
  /** Of the keys given, the one that was served least recently: one that never was goes first, equal ones in the order given. */
  next(keys: Iterable<string>): string | undefined;
  /** All keys in that order. */
  inOrder(keys: Iterable<string>): string[];
  /** Notes that the key is served now. @returns how many times it was, this time included. */
  serve(key: string): number;
  /** Forgets everything. What is remembered grows with the number of keys, so this is called whenever nobody waits. */
  forget(): void;
}

export function createFairTurns(): FairTurns {
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
