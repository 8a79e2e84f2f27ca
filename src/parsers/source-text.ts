/** Counts how much text a file contains once it is unpacked: the parsed result is measured against it. */

import { AsyncLocalStorage } from "node:async_hooks";

const counters = new AsyncLocalStorage<{ characters: number }>();

/**
 * Adds to the text that the document being parsed contains. Code that reads packed text (a part of an
 * archive, a page) calls it once for each; a file that is text itself is counted by its size. Does nothing
 * outside of {@link withSourceText}.
 */
export function countSourceText(characters: number): void {
  const counter = counters.getStore();
  if (counter !== undefined) counter.characters += characters;
}

/** Characters counted so far in the document being parsed; Infinity outside of {@link withSourceText}. */
export function sourceTextSoFar(): number {
  return counters.getStore()?.characters ?? Infinity;
}

/**
 * Runs the parsing of one document and returns how much text it contains. What a nested document unpacks is
 * counted for the outer one too, except its `initial` characters, which the outer one has already counted.
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
