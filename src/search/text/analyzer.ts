/** Turns text into the terms of the sparse index, for chunks and for queries alike. */
import { isStopWord, languageOfScript, languagesOf, type Languages } from "./language.ts";
import { fold, NOT_ASCII, normalize } from "./normalize.ts";
import { type Script, scriptOf } from "./script.ts";
import { hasStemmer, stemOf } from "./stems.ts";
import { cutWords, type Token } from "./tokens.ts";

/** Raised when the same text gets other terms; chunks of another version are indexed again. */
export const ANALYZER_VERSION = 2;

/** Terms of one chunk; later terms are not indexed. Fits a smallint. */
export const MAX_TERMS = 32_000;

/** Distinct words of one query; later words are ignored. */
const MAX_QUERY_WORDS = 256;

/** The language of a text that has no function word of any language. */
const DEFAULT_LANGUAGE = "en";

const ALL_LANGUAGES: readonly string[] = [
  "ar",
  "ca",
  "cs",
  "da",
  "de",
  "en",
  "es",
  "eu",
  "fi",
  "fr",
  "ga",
  "hi",
  "hu",
  "hy",
  "it",
  "nl",
  "no",
  "pt",
  "ro",
  "ru",
  "sl",
  "sv",
  "ta",
  "tr",
];

/**
 * Languages whose terms are stems. Each has terms of its own, such as `de:haus`, so that a query's words can
 * be stemmed in the same way as each chunk's were.
 */
export const STEMMED_LANGUAGES: readonly string[] = ALL_LANGUAGES.filter(hasStemmer);

const LATIN_STEMMED = STEMMED_LANGUAGES.filter(
  (language) => !["ar", "hi", "hy", "ru", "ta"].includes(language),
);
const STEMMED_BY_SCRIPT: Partial<Record<Script, readonly string[]>> = {
  latin: LATIN_STEMMED,
  cyrillic: ["ru"],
  arabic: ["ar"],
  armenian: ["hy"],
  devanagari: ["hi"],
  tamil: ["ta"],
};

function termOf(word: string, language: string | null): string {
  return language !== null && hasStemmer(language) ? `${language}:${stemOf(language, word)}` : word;
}

function lowerWords(tokens: readonly Token[]): string[] {
  const words: string[] = [];
  for (const token of tokens) if (!token.isExact) words.push(token.text.toLowerCase());
  return words;
}

/** The languages of a text's words. @param fallback the language if no function word shows one. */
export function languagesIn(tokens: readonly Token[], fallback: string = DEFAULT_LANGUAGE): Languages {
  const { latin, cyrillic, arabic } = languagesOf(lowerWords(tokens));
  return {
    latin: latin ?? (scriptOfLanguage(fallback) === "latin" ? fallback : DEFAULT_LANGUAGE),
    cyrillic: cyrillic ?? "ru",
    arabic: arabic ?? "ar",
  };
}

function scriptOfLanguage(language: string): Script {
  if (["ru", "uk", "bg", "sr"].includes(language)) return "cyrillic";
  if (["ar", "fa"].includes(language)) return "arabic";
  return ["hi", "hy", "ta", "el", "zh", "ja", "ko", "th"].includes(language) ? "other" : "latin";
}

/** Whether the word is a function word of the language. Capitals make it an abbreviation: WHO, IT, US. */
function isFunctionWord(text: string, language: string | null): boolean {
  if (language === null || !isStopWord(language, text.toLowerCase())) return false;
  return text.length === 1 || text !== text.toUpperCase();
}

/** Adds the term of a token, and the term without diacritics if that differs. */
export function pushTerms(terms: string[], token: Token, languages: Languages): void {
  if (token.isExact) {
    terms.push(token.text.toLowerCase());
    return;
  }
  const script = scriptOf(token.text);
  const language = languageOfScript(script, languages);
  if (isFunctionWord(token.text, language)) return;
  const term = termOf(normalize(token.text, script, language), language);
  terms.push(term);
  if (script !== "latin") return;
  const folded = fold(term);
  if (folded !== term) terms.push(folded);
}

/** The language of most words, "und" if none has one. */
function mainLanguage(tokens: readonly Token[], languages: Languages): string {
  const counts = new Map<string, number>();
  for (const token of tokens.slice(0, 400)) {
    const language = token.isExact
      ? unspacedLanguage(token.text)
      : languageOfScript(scriptOf(token.text), languages);
    if (language !== null) counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  let best = "und";
  for (const [language, count] of counts) if (count > (counts.get(best) ?? 0)) best = language;
  return best;
}

function unspacedLanguage(text: string): string | null {
  if (!NOT_ASCII.test(text)) return null;
  if (/[\p{sc=Hiragana}\p{sc=Katakana}]/u.test(text)) return "ja";
  if (/\p{sc=Han}/u.test(text)) return "zh";
  if (/\p{sc=Hangul}/u.test(text)) return "ko";
  return /\p{sc=Thai}/u.test(text) ? "th" : null;
}

export interface Analysis {
  /** The language of most words, by ISO 639-1; "und" if none has one. */
  readonly language: string;
  /** With repetitions, at most {@link MAX_TERMS}, each at most 68 UTF-16 units. */
  readonly terms: string[];
}

/**
 * The terms of a chunk, without function words.
 *
 * @param fallback the language of its document, used if the chunk itself has no function word that shows one;
 *   English by default.
 * @example `test/search/text/analyzer.test.ts`
 */
export function analyze(text: string, fallback: string = DEFAULT_LANGUAGE): Analysis {
  const tokens = cutWords(text);
  const languages = languagesIn(tokens, fallback);
  const terms: string[] = [];
  for (const token of tokens) {
    pushTerms(terms, token, languages);
    if (terms.length >= MAX_TERMS) break;
  }
  terms.length = Math.min(terms.length, MAX_TERMS);
  return { language: mainLanguage(tokens, languages), terms };
}

/** A word of a query, with its term in each language of chunks, whose frequencies add up. */
export interface QueryWord {
  readonly terms: readonly string[];
  weight: number;
}

/** The share of a word's weight that its spelling with diacritics has; the one without them has the rest. */
const EXACT_WEIGHT = 0.7;

/** The key of the token's first word in {@link wordsOf}. */
function keyOf(token: Token): string {
  return token.isExact ? token.text.toLowerCase() : normalize(token.text, scriptOf(token.text), null);
}

function wordsOf(
  token: Token,
  present: readonly string[],
  spoken: string | null,
): [key: string, terms: string[], share: number][] {
  if (token.isExact) {
    const term = token.text.toLowerCase();
    return [[term, [term], 1]];
  }
  const script = scriptOf(token.text);
  const lower = token.text.toLowerCase();
  const options = (STEMMED_BY_SCRIPT[script] ?? []).filter(
    (language) => present.includes(language) && (spoken !== null || !isStopWord(language, lower)),
  );
  const plain = normalize(token.text, script, null);
  const terms = [
    ...new Set([
      plain,
      ...options.map((language) => termOf(normalize(token.text, script, language), language)),
    ]),
  ];
  const folded = script === "latin" ? [...new Set(terms.map(fold))] : terms;
  if (folded.every((term) => terms.includes(term))) return [[plain, terms, 1]];
  return [
    [plain, terms, EXACT_WEIGHT],
    [`${plain} `, folded, 1 - EXACT_WEIGHT],
  ];
}

/**
 * The words of a query, without function words unless it has no others.
 *
 * @param present the languages of {@link STEMMED_LANGUAGES} that the searched chunks may be in, all by
 *   default. Each word is stemmed in all of them.
 * @example `test/search/text/analyzer.test.ts`
 */
export function analyzeQuery(text: string, present: readonly string[] = STEMMED_LANGUAGES): QueryWord[] {
  const tokens = cutWords(text);
  const { latin, cyrillic } = languagesOf(lowerWords(tokens));
  const spokenIn = (token: Token): string | null =>
    scriptOf(token.text) === "cyrillic" ? (cyrillic ?? "ru") : latin;
  const shouts = text === text.toUpperCase();
  const meaningful = tokens.filter(
    (token) =>
      token.isExact ||
      !isFunctionWord(shouts ? token.text.toLowerCase() : token.text, spokenIn(token) ?? DEFAULT_LANGUAGE),
  );
  const words = new Map<string, QueryWord>();
  for (const token of meaningful.length > 0 ? meaningful : tokens) {
    // Stemming in twenty languages takes most of the time, so what would be ignored is not stemmed.
    if (words.size >= MAX_QUERY_WORDS && !words.has(keyOf(token))) continue;
    for (const [key, terms, share] of wordsOf(
      token,
      present,
      meaningful.length > 0 ? spokenIn(token) : DEFAULT_LANGUAGE,
    )) {
      const known = words.get(key);
      if (known !== undefined) known.weight += share;
      else if (words.size < MAX_QUERY_WORDS) words.set(key, { terms, weight: share });
    }
  }
  return [...words.values()];
}
