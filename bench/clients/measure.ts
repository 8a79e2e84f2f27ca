/** Asks two or three ways of the same thing in turn, one request at a time, and compares the times. */
import { percentile } from "../report.ts";

/** Does something once. @returns how long it took, in milliseconds. */
export type Way = () => Promise<number>;

/** Times of a whole call. */
export const timed =
  (call: () => Promise<unknown>): Way =>
  async () => {
    const startedAt = performance.now();
    await call();
    return performance.now() - startedAt;
  };

/**
 * Goes through the ways in turn, each round beginning with the next, so that none always comes after the same
 * other one. A tenth of the rounds before are not counted.
 */
export async function inTurn<Name extends string>(
  ways: Readonly<Record<Name, Way>>,
  rounds: number,
): Promise<Readonly<Record<Name, readonly number[]>>> {
  const names = Object.keys(ways) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  const warmUp = Math.ceil(rounds / 10);
  for (let round = -warmUp; round < rounds; round += 1) {
    for (let at = 0; at < names.length; at += 1) {
      const name = names[(at + round + warmUp) % names.length]!;
      const ms = await ways[name]();
      if (round >= 0) times[name].push(ms);
    }
  }
  return times;
}

/** The median and the 95th percentile, as tables show them. */
export const shown = (times: readonly number[]): string =>
  `${percentile(times, 0.5).toFixed(2)} / ${percentile(times, 0.95).toFixed(2)}`;

export const median = (times: readonly number[]): number => percentile(times, 0.5);
