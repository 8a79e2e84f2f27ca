/** The only place that guesses what language a text is in: by its letters, and by function words where letters leave it open. */
import { NOT_ASCII } from "./normalize.ts";
import { STOP_WORDS, TELLING_LETTERS } from "./stop-words.ts";

export type Script =
  | "latin"
  | "greek"
  | "cyrillic"
  | "armenian"
  | "hebrew"
  | "arabic"
  | "devanagari"
  | "tamil"
  | "other";

/** Upper bounds of UTF-16 ranges, in order; what lies beyond the last is "other". */
const RANGES: readonly (readonly [end: number, script: Script])[] = [
  [0x0370, "latin"],
  [0x0400, "greek"],
  [0x0530, "cyrillic"],
  [0x0590, "armenian"],
  [0x0600, "hebrew"],
  [0x0780, "arabic"],
  [0x08a0, "other"],
  [0x0900, "arabic"],
  [0x0980, "devanagari"],
  [0x0b80, "other"],
  [0x0c00, "tamil"],
  [0x1e00, "other"],
  [0x1f00, "latin"],
  [0x2000, "greek"],
];

/** The script of a word, by its first letter. */
export function scriptOf(word: string): Script {
  const code = word.charCodeAt(0);
  for (const [end, script] of RANGES) if (code < end) return script;
  return code >= 0xfb50 && code < 0xff00 ? "arabic" : "other";
}

const CYRILLIC = new Set(["ru", "uk", "bg", "sr"]);
const STOP_SETS = new Map(
  Object.entries(STOP_WORDS).map(([language, words]) => [language, new Set(words.split(" "))]),
);

/** Function word → the languages that have it. A word that many share tells less of each. */
const SPEAKERS = new Map<string, string[]>();
for (const [language, words] of STOP_SETS) {
  for (const word of words) SPEAKERS.set(word, [...(SPEAKERS.get(word) ?? []), language]);
}

export function isStopWord(language: string, lowerWord: string): boolean {
  return STOP_SETS.get(language)?.has(lowerWord) ?? false;
}

/** What a text's words of each script are in. */
export interface Languages {
  latin: string;
  cyrillic: string;
  arabic: string;
}

const PERSIAN_OR_URDU = /[پچژگٹڈںےکی]/u;
const WORDS_LOOKED_AT = 400;
/** One shared function word is chance, and so is one in a long text: names and titles bring it in. */
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
    if (isCandidate(language) && count > most) [best, most] = [language, count];
  }
  return best;
}

/** The evidence of lower-case words alone; null for a script where nothing tells. */
export function languagesOf(words: readonly string[]): { readonly [S in keyof Languages]: string | null } {
  const votes = new Map<string, number>();
  // A name that comes back in every line is one sign, and a single letter none.
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

/** The language of a word in a text whose scripts are in `languages`; null where its script has no stemmer. */
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
