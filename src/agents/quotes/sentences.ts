/** Cuts text into sentences for quotes: in answers, and in the passages that they cite. */

const segmenter = new Intl.Segmenter("und", { granularity: "sentence" });

/** What ends in a full stop without ending a sentence, where a capital or a number follows. */
const ABBREVIATION =
  /(?:^|[\s(])(?:\p{L}|Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|No|Nr|Nos|vs|ca|approx|Fig|Figs|Eq|Sec|Vol|pp|al|Abb|Art|Abs|Bd|Tab|Kap|bzw|usw|Inc|Ltd|Co|Corp|Mt|Ave|Gen|Col|Sgt|Rev|Hon|Jan|Feb|Apr|Aug|Sept|Sep|Oct|Nov|Dec|т|г|см|стр)\.\s*$/u;
const ABBREVIATION_TAIL = 12;
const HAS_WORD = /[\p{L}\p{N}]/u;

/**
 * The sentences of text[from, to) without the white space around them, in order. A line break in them is a
 * space: whoever wants lines apart calls this for each. What has neither letters nor digits is no sentence.
 */
export function sentencesIn(text: string, from: number, to: number): [start: number, end: number][] {
  const plain = text.slice(from, to).replace(/[\r\n\u2028\u2029\u0085]/g, " ");
  const found: [number, number][] = [];
  let start = 0;
  for (const { index, segment } of segmenter.segment(plain)) {
    const end = index + segment.length;
    // The end of the text ends a sentence, whatever it looks like.
    if (end < plain.length && ABBREVIATION.test(plain.slice(Math.max(start, end - ABBREVIATION_TAIL), end)))
      continue;
    const trimmed = trim(plain, start, end);
    if (HAS_WORD.test(plain.slice(...trimmed))) found.push([from + trimmed[0], from + trimmed[1]]);
    start = end;
  }
  return found;
}

const SPACE = /\s/u;

/** [start, end) without the white space at both ends. */
export function trim(text: string, start: number, end: number): [start: number, end: number] {
  let first = start;
  let last = end;
  while (first < last && SPACE.test(text.charAt(first))) first++;
  while (last > first && SPACE.test(text.charAt(last - 1))) last--;
  return [first, last];
}
