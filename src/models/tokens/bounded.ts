/** Counts the tokens of a conversation in bounded time: what is beyond the bound is estimated. */

/** Characters that are counted; about 100 ms for the slowest text, Chinese without a space. */
const COUNTED_CHARACTERS = 100_000;
/** What is not counted is taken to be as dense as what is, but at least this dense. */
const LEAST_TOKENS_A_CHARACTER = 0.25;
/** Byte-pair merging takes quadratic time in an unbroken run; longer runs are cut, a token more per cut. */
const LONG_RUN = /\S{65}/u;
const CUTS = /\S{16}(?=\S)/gu;

/**
 * A counter for the texts of one request, called for each text in turn. It counts the first {@link
 * COUNTED_CHARACTERS} of all of them together and estimates the rest.
 *
 * @example `test/models/tokens/bounded.test.ts`
 */
export function boundedCount(count: (text: string) => number): (text: string) => number {
  let characters = 0;
  let tokens = 0;
  return (text) => {
    const counted = text.slice(0, COUNTED_CHARACTERS - characters);
    const found = counted === "" ? 0 : count(LONG_RUN.test(counted) ? counted.replace(CUTS, "$& ") : counted);
    characters += counted.length;
    tokens += found;
    const density = Math.max(LEAST_TOKENS_A_CHARACTER, tokens / Math.max(1, characters));
    return found + Math.ceil((text.length - counted.length) * density);
  };
}
