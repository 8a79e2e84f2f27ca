/**
 * Reduces a word to its stem, by language.
 *
 * @see https://snowballstem.org/algorithms/
 */
import snowball from "snowball-stemmers";
import { stemHindi } from "./stem-hindi.ts";

/** Snowball's names of languages, by ISO 639-1 code. */
export const SNOWBALL: Readonly<Record<string, string>> = {
  ar: "arabic",
  ca: "catalan",
  cs: "czech",
  da: "danish",
  de: "german",
  en: "english",
  es: "spanish",
  eu: "basque",
  fi: "finnish",
  fr: "french",
  ga: "irish",
  hu: "hungarian",
  hy: "armenian",
  it: "italian",
  nl: "dutch",
  no: "norwegian",
  pt: "portuguese",
  ro: "romanian",
  ru: "russian",
  sl: "slovene",
  sv: "swedish",
  ta: "tamil",
  tr: "turkish",
};

type Stem = (word: string) => string;

/** Stems that are kept for each language: text repeats its words, and some stemmers take 0.1 ms for one. */
const CACHED_WORDS = 40_000;
const stemmers = new Map<string, Stem>();

/** Drops all stems when the Map is full: in this hot loop, evicting one by one costs more than stemming. */
function cached(stem: Stem): Stem {
  let known = new Map<string, string>();
  return (word) => {
    const hit = known.get(word);
    if (hit !== undefined) return hit;
    if (known.size >= CACHED_WORDS) known = new Map();
    const result = stem(word) || word;
    known.set(word, result);
    return result;
  };
}

/** Whether words of the language are reduced to stems; words of other languages are taken as they are. */
export function hasStemmer(language: string): boolean {
  return language in SNOWBALL || language === "hi";
}

/** The stem of a lower-case word, never empty; the word itself for a language without a stemmer. */
export function stemOf(language: string, word: string): string {
  let stem = stemmers.get(language);
  if (stem === undefined) {
    const algorithm = SNOWBALL[language];
    if (algorithm !== undefined) {
      const stemmer = snowball.newStemmer(algorithm);
      stem = cached((text) => stemmer.stem(text));
    } else stem = language === "hi" ? stemHindi : (text) => text;
    stemmers.set(language, stem);
  }
  return stem(word);
}

/**
 * The letters that a stemmer may put in the place of an ending, at most {@link MOST_PUT} of them, if it
 * leaves the rest of the word as it is. The stemmers of languages that are not listed change more than that.
 */
const PUT_AT_THE_END: Readonly<Record<string, string>> = {
  ca: "c",
  cs: "ehk",
  da: "",
  de: "",
  en: "eily",
  es: "t",
  fr: "ilnqtux",
  hu: "syz",
  it: "t",
  no: "",
  pt: "",
  ro: "t",
  sl: "",
  sv: "",
};
const MOST_PUT = 2;

/** What every lower-case word of ASCII letters with this stem begins with; empty if that is not known. */
export function beginningOf(language: string, stem: string): string {
  const put = PUT_AT_THE_END[language];
  if (put === undefined) return "";
  let end = stem.length;
  while (end > 0 && stem.length - end < MOST_PUT && put.includes(stem[end - 1]!)) end--;
  return stem.slice(0, end);
}
