/** Guesses the language of a text, from its letters and its function words. */
import { NOT_ASCII } from "./normalize.ts";
import { type Script, scriptOf } from "./script.ts";
import { STOP_WORDS, TELLING_LETTERS } from "./stop-words.ts";

const CYRILLIC = new Set(["ru", "uk", "bg", "sr"]);
const STOP_SETS = new Map(
  Object.entries(STOP_WORDS).map(([language, words]) => [language, new Set(words.trim().split(/\s+/))]),
);

/** The languages that have a function word. The more languages share it, the less it says about each. */
const SPEAKERS = new Map<string, string[]>();
for (const [language, words] of STOP_SETS) {
  for (const word of words) SPEAKERS.set(word, [...(SPEAKERS.get(word) ?? []), language]);
}

export function isStopWord(language: string, lowerWord: string): boolean {
  return STOP_SETS.get(language)?.has(lowerWord) ?? false;
}

/** The language of a text's words in each of the scripts that several languages use. */
export interface Languages {
  latin: string;
  cyrillic: string;
  arabic: string;
}

const PERSIAN_OR_URDU = /[پچژگٹڈںےکی]/u;
const WORDS_LOOKED_AT = 400;
/**
 * The votes that a language needs: in all, and as a share of the words. A single shared function word may be
 * chance, and so may be a few in a long text, since names and titles bring them in.
 */
const ENOUGH_EVIDENCE = 0.5;
const ENOUGH_SHARE = 0.04;

function addVotes(votes: Map<string, number>, word: string): void {
  const speakers = SPEAKERS.get(word);
  for (const language of speakers ?? [])
    votes.set(language, (votes.get(language) ?? 0) + 1 / Math.sqrt(speakers!.length));
  if (!NOT_ASCII.test(word)) return;
  for (const [language, letters] of TELLING_LETTERS) {
    if (letters.test(word)) votes.set(language, (votes.get(language) ?? 0) + 0.7);
  }
}

function winner(
  votes: Map<string, number>,
  wordCount: number,
  isCandidate: (language: string) => boolean,
): string | null {
  let best: string | null = null;
  let most = Math.max(ENOUGH_EVIDENCE, ENOUGH_SHARE * wordCount) - Number.EPSILON;
  for (const [language, count] of votes) {
    if (!isCandidate(language) || count <= most) continue;
    best = language;
    most = count;
  }
  return best;
}

/** The languages that lower-case words show; null for a script whose words show none. */
export function languagesOf(words: readonly string[]): { readonly [S in keyof Languages]: string | null } {
  const votes = new Map<string, number>();
  // A word counts once, however often a name repeats it, and a single letter says nothing.
  const seen = new Set<string>();
  let arabicWords = 0;
  let easternWords = 0;
  for (const word of words.slice(0, WORDS_LOOKED_AT)) {
    if (word.length === 1 || seen.has(word)) continue;
    seen.add(word);
    if (scriptOf(word) === "arabic") {
      arabicWords++;
      if (PERSIAN_OR_URDU.test(word)) easternWords++;
    } else addVotes(votes, word);
  }
  return {
    latin: winner(votes, seen.size, (language) => !CYRILLIC.has(language)),
    cyrillic: winner(votes, seen.size, (language) => CYRILLIC.has(language)),
    arabic: arabicWords === 0 ? null : easternWords * 4 > arabicWords ? "fa" : "ar",
  };
}

/** The language of a word by its script, in a text of these `languages`; null if none has a stemmer. */
export function languageOfScript(script: Script, languages: Languages): string | null {
  switch (script) {
    case "latin":
    case "cyrillic":
    case "arabic":
      return languages[script];
    case "armenian":
      return "hy";
    case "tamil":
      return "ta";
    case "devanagari":
      return "hi";
    case "greek":
      return "el";
    case "hebrew":
    case "other":
      return null;
  }
}
