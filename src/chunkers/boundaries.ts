/** The only place that knows where text may be cut: between lines, sentences, words, and where none of these helps, tokens. */

/**
 * Neighbours that make a cut harmless: white space, or characters that tokenizers take alone (punctuation, ideographs).
 * Anywhere else a cut goes through a word, and its halves have other tokens than the whole.
 */
const SEPARATE =
  /(?<=[\t\n\r\p{Z}\p{P}$+<=>^`|~\u4E00-\u9FFF\u3400-\u4DBF\uF900-\uFAFF])|(?=[\t\n\r\p{Z}\p{P}$+<=>^`|~\u4E00-\u9FFF\u3400-\u4DBF\uF900-\uFAFF])/uy;

export function cutsWord(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  SEPARATE.lastIndex = at;
  return !SEPARATE.test(text);
}

/** Ends of the lines in [start, end), each with its line break; the last is `end`. */
export function lineEnds(text: string, start: number, end: number): number[] {
  const ends: number[] = [];
  for (let at = start; at < end;) {
    const lineBreak = text.indexOf("\n", at);
    at = lineBreak < 0 || lineBreak >= end ? end : lineBreak + 1;
    ends.push(at);
  }
  return ends;
}

const segmenters = new Map<string, Intl.Segmenter>();

/** Ends of the sentences in [start, end), each with the space behind it; the last is `end`. */
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
  // Documents name their language as they like: only the tags of one process's life are kept, and few.
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

/** Ends of the words in [start, end), each with the white space behind it; the last is `end`. */
export function wordEnds(text: string, start: number, end: number): number[] {
  const ends: number[] = [];
  for (let at = start, inSpace = false; at < end; at++) {
    const space = isWordSpace(text.charCodeAt(at));
    if (inSpace && !space) ends.push(at);
    inSpace = space;
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
