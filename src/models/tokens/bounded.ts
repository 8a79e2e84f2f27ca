/** The only place that counts the tokens of a conversation within a bound of time: what is beyond it, or is one long run, is estimated. */

/** Counted exactly, together; some 100 ms of the slowest text, Chinese without a space. */
const COUNTED_CHARACTERS = 100_000;
/** What is not counted is as dense as what is, but no less so than this. */
const LEAST_TOKENS_A_CHARACTER = 0.25;
/** Byte-pair merging takes time square in the length of an unbroken run: longer ones are cut, which adds a token a cut at most. */
const LONG_RUN = /\S{65}/u;
const CUTS = /\S{16}(?=\S)/gu;

/** Counts the texts of one request: the first {@link COUNTED_CHARACTERS} of all of them together, in the order in which they are given. */
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
