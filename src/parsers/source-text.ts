/** The only place that knows how much text a file held, unpacked: what is made of it is measured against that. */

import { AsyncLocalStorage } from "node:async_hooks";

const counters = new AsyncLocalStorage<{ characters: number }>();

/**
 * Says that the document being parsed held so much more text. Whatever reads text that is packed in the file (an archive's parts, a page)
 * calls it once for each; a file that is text itself is counted by its size. Nothing outside of {@link withSourceText}.
 */
export function countSourceText(characters: number): void {
  const counter = counters.getStore();
  if (counter !== undefined) counter.characters += characters;
}

/** Characters counted so far in the document being parsed; without bound where nobody counts. */
export function sourceTextSoFar(): number {
  return counters.getStore()?.characters ?? Infinity;
}

/**
 * Runs the parsing of one document, and tells what it held. What a document inside another unpacks counts for the outer one too, beyond its own
 * `initial` characters, which the outer one has held.
 */
export async function withSourceText<T>(
  initial: number,
  parse: () => Promise<T>,
): Promise<{ readonly result: T; readonly characters: number }> {
  const counter = { characters: initial };
  const result = await counters.run(counter, parse);
  countSourceText(counter.characters - initial);
  return { result, characters: counter.characters };
}
