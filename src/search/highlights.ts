/** Finds the words of a query in the text of a hit. */
import { languagesIn, pushTerms } from "./text/analyzer.ts";
import type { Languages } from "./text/language.ts";
import { NOT_ASCII } from "./text/normalize.ts";
import { beginningOf, hasStemmer } from "./text/stems.ts";
import { type Token, cutWords } from "./text/tokens.ts";

/** UTF-16 offsets [start, end) of words in a text; they ascend and do not touch. */
type FindSpans = (text: string) => [start: number, end: number][];

/**
 * Finds the words that have one of the terms, as the analyzer gives terms to a text without its document. Few
 * words are stemmed for that: most begin differently from any word with a wanted stem.
 *
 * @example `test/search/highlights.test.ts`
 */
export function createTermFinder(terms: ReadonlySet<string>): FindSpans {
  const byLanguage = new Map<string, Beginnings>();
  const beginningsIn = (language: string): Beginnings => {
    const known = byLanguage.get(language);
    if (known !== undefined) return known;
    const beginnings = beginningsOf(terms, language);
    byLanguage.set(language, beginnings);
    return beginnings;
  };
  const isWanted = (token: Token, languages: Languages): boolean => {
    const own: string[] = [];
    pushTerms(own, token, languages);
    return own.some((term) => terms.has(term));
  };
  return (text) => {
    const tokens = cutWords(text);
    const languages = languagesIn(tokens);
    const beginnings = beginningsIn(languages.latin);
    const spans: [number, number][] = [];
    for (const token of tokens) {
      if ((token.isExact || mayBegin(token.text, beginnings)) && isWanted(token, languages))
        spans.push([token.start, token.end]);
    }
    return joinSpans(spans.toSorted((one, other) => one[0] - other[0]));
  };
}

/** The beginnings, by letter, of a language's ASCII words with a wanted term; null: any beginning. */
type Beginnings = ReadonlyMap<number, readonly string[]> | null;

function beginningsOf(terms: ReadonlySet<string>, language: string): Beginnings {
  const beginnings = new Map<number, string[]>();
  const mark = `${language}:`;
  for (const term of terms) {
    const isStem = hasStemmer(language);
    if (isStem && !term.startsWith(mark)) continue;
    const beginning = isStem ? beginningOf(language, term.slice(mark.length)) : term;
    if (beginning === "") return null;
    const letter = beginning.charCodeAt(0);
    beginnings.set(letter, [...(beginnings.get(letter) ?? []), beginning]);
  }
  return beginnings;
}

function mayBegin(word: string, beginnings: Beginnings): boolean {
  if (beginnings === null || NOT_ASCII.test(word)) return true;
  const lower = word.toLowerCase();
  return beginnings.get(lower.charCodeAt(0))?.some((beginning) => lower.startsWith(beginning)) ?? false;
}

function joinSpans(sorted: readonly [number, number][]): [number, number][] {
  const joined: [number, number][] = [];
  for (const [start, end] of sorted) {
    const last = joined.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}
