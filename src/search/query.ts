/** Reads the operators of a query: "exact phrase", -without, -"without a phrase". */

import { toNfkc } from "./text/normalize.ts";

export interface ParsedQuery {
  /** What is searched for: the query without operators, and without what they exclude. */
  readonly text: string;
  readonly phrases: readonly string[];
  readonly excludedWords: readonly string[];
  readonly excludedPhrases: readonly string[];
}

/** Later operators are ordinary text. */
const OPERATORS_READ = 16;

// A minus is an operator before a word that begins with a letter, so that -5, a-b and "- item" stay ordinary
// text. Straight quotes are operators, typographic ones are not: they are how a text quotes a name, and
// documents may quote it differently.
const OPERATOR = /(?<=^|\s)(?<minus>-?)"(?<phrase>[^"]{1,512})"|(?<=^|\s)-(?<word>\p{L}[^\s"]{0,128})/gu;

/**
 * Reads a query; never throws. Quotes that do not close are ordinary text, and so is a query of nothing but
 * exclusions, and one that ends with a question mark: it is asked of a person, and has no operators.
 *
 * @example `test/search/query.test.ts`
 */
export function parseQuery(query: string): ParsedQuery {
  const ordinary = { text: query, phrases: [], excludedWords: [], excludedPhrases: [] };
  if (IS_QUESTION.test(query)) return ordinary;
  const phrases: string[] = [];
  const excludedWords: string[] = [];
  const excludedPhrases: string[] = [];
  let read = 0;
  const text = query.replace(OPERATOR, (whole: string, ...found: unknown[]) => {
    const { minus, phrase, word } = found.at(-1) as { minus?: string; phrase?: string; word?: string };
    read++;
    if (read > OPERATORS_READ) return whole;
    if (word !== undefined) {
      excludedWords.push(word);
      return " ";
    }
    (minus === "-" ? excludedPhrases : phrases).push(phrase!);
    return minus === "-" ? " " : ` ${phrase} `;
  });
  if (!/[\p{L}\p{N}]/u.test(text)) return ordinary;
  return { text: text.trim(), phrases, excludedWords, excludedPhrases };
}

/**
 * Whether the query ends as a question does, in any script. A question quotes a name that the text may write
 * otherwise, and its answer need not stand beside that name: of thirty such questions in Arabic (XQuAD), the
 * paragraph with the answer holds the quote in thirteen.
 */
const IS_QUESTION = /[?？؟⁇⁈⁉‽՞፧﹖︖\u037e]\s*$/u;

function plain(text: string): string {
  return toNfkc(text).toLowerCase().replace(/\s+/gu, " ").trim();
}

/** Whether the text holds the phrase; case and the kind of white space do not matter. */
export function holdsPhrase(text: string, phrase: string): boolean {
  return plain(text).includes(plain(phrase));
}
