/** Draws random numbers for made-up vectors. */

/**
 * A number of the standard normal distribution, by the Box–Muller transform.
 * @param next draws from [0, 1).
 */
export function normal(next: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
}
