/** Counts the lines of a file's text, of which a line ends with LF, CRLF or CR. */

export interface LineCounter {
  /** The lines of the first and the last character of [from, to), from 1; `from` never decreases. */
  linesOf(from: number, to: number): readonly [first: number, last: number];
}

export function createLineCounter(text: string): LineCounter {
  const breaks = /\r(?!\n)/.test(text) ? anyBreaks : lineFeeds;
  let counted = 0;
  let line = 1;
  return {
    linesOf(from, to) {
      // A line break belongs to the line that it ends.
      line += breaks(text.slice(counted, from));
      counted = from;
      return [line, line + breaks(text.slice(from, Math.max(from, to - 1)))];
    },
  };
}

function lineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

function anyBreaks(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}
