/** Finds where text may be cut: after lines, sentences and words, and where a cut would split a word. */

/**
 * Characters before or after which a cut is harmless: white space, and those that are tokens of their own
 * (punctuation, ideographs). Any other cut splits a word, whose halves have other tokens than the whole. It
 * is one literal, so that test/project/regular-expressions.test.ts checks it.
 */
const SEPARATE =
  /(?<=[\t\n\r\p{Z}\p{P}$+<=>^`|~\u4E00-\u9FFF\u3400-\u4DBF\uF900-\uFAFF])|(?=[\t\n\r\p{Z}\p{P}$+<=>^`|~\u4E00-\u9FFF\u3400-\u4DBF\uF900-\uFAFF])/uy;

/** Whether a cut at this position splits a word. */
export function cutsWord(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  SEPARATE.lastIndex = at;
  return !SEPARATE.test(text);
}

/** The ends of the lines in [start, end), after each line break; the last one is `end`. */
export function lineEnds(text: string, start: number, end: number): number[] {
  const ends: number[] = [];
  let at = start;
  while (at < end) {
    const lineBreak = text.indexOf("\n", at);
    at = lineBreak < 0 || lineBreak >= end ? end : lineBreak + 1;
    ends.push(at);
  }
  return ends;
}

const segmenters = new Map<string, Intl.Segmenter>();

/**
 * The ends of the sentences in [start, end), after the space that follows each; the last one is `end`.
 * @param language BCP 47. Default: `und`, for rules that fit most languages.
 */
export function sentenceEnds(text: string, start: number, end: number, language = "und"): number[] {
  const ends: number[] = [];
  for (const sentence of segmenterOf(language).segment(text.slice(start, end)))
    ends.push(start + sentence.index + sentence.segment.length);
  return ends;
}

function segmenterOf(language: string): Intl.Segmenter {
  const known = segmenters.get(language);
  if (known !== undefined) return known;
  const made = new Intl.Segmenter(isLanguageTag(language) ? language : "und", { granularity: "sentence" });
  // Documents may name any language, so that the number of segmenters that are kept is bounded.
  if (segmenters.size < 64) segmenters.set(language, made);
  return made;
}

function isLanguageTag(language: string): boolean {
  try {
    return Intl.getCanonicalLocales(language).length > 0;
  } catch {
    return false;
  }
}

/** The ends of the words in [start, end), after the white space that follows each; the last one is `end`. */
export function wordEnds(text: string, start: number, end: number): number[] {
  const ends: number[] = [];
  let isInSpace = false;
  for (let at = start; at < end; at++) {
    const isSpace = isWordSpace(text.charCodeAt(at));
    if (isInSpace && !isSpace) ends.push(at);
    isInSpace = isSpace;
  }
  ends.push(end);
  return ends;
}

function isWordSpace(code: number): boolean {
  return (
    code === 0x20 ||
    code === 0x0a ||
    code === 0x09 ||
    code === 0x0d ||
    code === 0xa0 ||
    code === 0x3000 ||
    (code >= 0x2000 && code <= 0x200a)
  );
}
