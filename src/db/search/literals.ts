/** Numbers as SQL text, where a parameter would hide them from the planner. */

/**
 * Returns a validated number of a space, a model or its dimensions as SQL text. Statements on `embeddings`
 * have them as literals instead of parameters, so that the planner sees one partition and one index.
 * @throws RangeError if it is not a positive `integer`.
 */
export function positiveLiteral(number: number): string {
  if (!Number.isInteger(number) || number <= 0 || number > 2_147_483_647)
    throw new RangeError("not a space number");
  return String(number);
}

/** Returns a list of integers as SQL text. @throws RangeError if one is not an integer. */
export function integersLiteral(numbers: readonly number[]): string {
  if (!numbers.every(Number.isInteger)) throw new RangeError("not integers");
  return `'{${numbers.join(",")}}'`;
}
