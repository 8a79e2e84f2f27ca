/** The only place that reduces a word to its stem, by language. */
import snowball from "snowball-stemmers";
import { stemHindi } from "./stem-hindi.ts";

const SNOWBALL: Readonly<Record<string, string>> = {
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

/** Words seen lately keep their stem: text repeats itself, and some stemmers take 0.1 ms a word. */
const CACHED_WORDS = 40_000;
const stemmers = new Map<string, Stem>();

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

/** True where words of the language have stems of their own; words of any other are taken as they are. */
export function hasStemmer(language: string): boolean {
  return language in SNOWBALL || language === "hi";
}

/** The stem of a lower-case word; never empty. A language without a stemmer gives the word back. */
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
 * The letters that stemmers put in the place of an ending, at most {@link MOST_PUT} of them, where they leave all before it as it is. The
 * languages that are not here change or take off more than that.
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

/** What every lower-case word of ASCII letters that has the stem begins with; empty where that is not known. */
export function beginningOf(language: string, stem: string): string {
  const put = PUT_AT_THE_END[language];
  if (put === undefined) return "";
  let end = stem.length;
  while (end > 0 && stem.length - end < MOST_PUT && put.includes(stem[end - 1]!)) end--;
  return stem.slice(0, end);
}
