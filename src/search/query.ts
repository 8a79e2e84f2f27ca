/** The only place that reads the operators of a query: "exact phrase", -without, -"without a phrase". */

import { toNfkc } from "./text/normalize.ts";

export interface ParsedQuery {
  /** What is looked for: the query without its operators and what they exclude. */
  readonly text: string;
  readonly phrases: readonly string[];
  readonly excludedWords: readonly string[];
  readonly excludedPhrases: readonly string[];
}

const OPERATORS_READ = 16;

// A minus counts at the start of a word that begins with a letter, so that -5, a-b and "- item" stay what they are; and of quotes
// the straight ones alone: the others are how a text writes a name, and it may be written otherwise where it is found.
const OPERATOR = /(?<=^|\s)(?<minus>-?)"(?<phrase>[^"]{1,512})"|(?<=^|\s)-(?<word>\p{L}[^\s"]{0,128})/gu;

/** Never throws; quotes that do not close are ordinary text. A query of nothing but exclusions is taken as ordinary text. */
export function parseQuery(query: string): ParsedQuery {
  const phrases: string[] = [];
  const excludedWords: string[] = [];
  const excludedPhrases: string[] = [];
  let read = 0;
  const text = query.replace(OPERATOR, (whole: string, ...found: unknown[]) => {
    const { minus, phrase, word } = found.at(-1) as { minus?: string; phrase?: string; word?: string };
    if (++read > OPERATORS_READ) return whole;
    if (word !== undefined) {
      excludedWords.push(word);
      return " ";
    }
    (minus === "-" ? excludedPhrases : phrases).push(phrase!);
    return minus === "-" ? " " : ` ${phrase} `;
  });
  if (!/[\p{L}\p{N}]/u.test(text))
    return { text: query, phrases: [], excludedWords: [], excludedPhrases: [] };
  return { text: text.trim(), phrases, excludedWords, excludedPhrases };
}

function plain(text: string): string {
  return toNfkc(text).toLowerCase().replace(/\s+/gu, " ").trim();
}

/** True where the text holds the phrase, whatever the case and the white space of either. */
export function holdsPhrase(text: string, phrase: string): boolean {
  return plain(text).includes(plain(phrase));
}
