/** Cuts text into words by script; identifiers, numbers, addresses and compounds come whole and in parts. */
import { NOT_ASCII, toNfkc } from "./normalize.ts";

export interface Token {
  /** UTF-16 offsets in the text that was cut. */
  readonly start: number;
  readonly end: number;
  /** In NFKC, its case kept; at most 64 UTF-16 units. */
  readonly text: string;
  /**
   * True for what is not stemmed: identifiers, numbers, addresses, and the words and character pairs of
   * scripts without spaces.
   */
  readonly isExact: boolean;
}

const MAX_TERM_LENGTH = 64;
/** UTF-16 units of a run that are made NFKC; a term of {@link MAX_TERM_LENGTH} needs no more. */
const MAX_RAW_LENGTH = 1_024;

const CHINESE_JAPANESE = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}々〆ー`;
const UNSPACED = String.raw`\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}`;
const HANGUL = String.raw`\p{sc=Hangul}`;
// Joiners (U+200C, U+200D), the soft hyphen and direction marks belong to the word around them.
const UNSEEN = String.raw`\u200c-\u200f\u00ad\u061c\u202a-\u202e\u2066-\u2069`;
const LETTER = String.raw`[[\p{L}\p{N}\p{M}_${UNSEEN}]--[${CHINESE_JAPANESE}${UNSPACED}${HANGUL}]]`;
const ADDRESS = String.raw`(?:[hH][tT][tT][pP][sS]?:\/\/|[wW]{3}\.)[^\s<>"]+`;
const JOINED_LETTERS = String.raw`${LETTER}+(?:['’.,\-\/:@+]${LETTER}+)*`;
const RUN = new RegExp(
  `${ADDRESS}|[${CHINESE_JAPANESE}]+|[${UNSPACED}]+|[${HANGUL}]+|${JOINED_LETTERS}`,
  "gv",
);

// The dictionaries for scripts without spaces do not depend on the locale.
const segmenter = new Intl.Segmenter("und", { granularity: "word" });

const PART = new RegExp(`[[${LETTER}]--[_]]+`, "gv");
const HUMP = /(?<=\p{Ll}\p{Ll})(?=\p{Lu}\p{L})/u;
const NOT_IN_ADDRESS = /[,:/]/;
const ENDS_SENTENCE = new Set(".,;:!?)]}'’");
// Accents without a letter, or Arabic lengthening alone, are no word: normalizing leaves nothing.
const ONLY_MARKS = /^[\p{M}\u0640]+$/u;
const HAS_DIGIT = /\p{N}/u;
/** A number and its unit, such as 5mg. One letter is more often of a name (4E); an ending (5th) is none. */
const WITH_UNIT = /^\p{Nd}{1,9}((?!(?:st|nd|rd|th)$)\p{L}{2,3})$/iu;
const THOUSANDS = /^\d{1,3}(?:,\d{3})+$/;
const INVISIBLE = new RegExp(`[${UNSEEN}]`, "gv");
// Matches what is no word of ASCII letters without a hump.
const NOT_PLAIN = /[^a-zA-Z]|[a-z]{2}[A-Z][a-zA-Z]/;
const URL_START = /^(?:https?:\/\/|www\.)/i;
const IS_CHINESE_JAPANESE = new RegExp(`^[${CHINESE_JAPANESE}]`, "v");
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "v");
const IS_HANGUL = new RegExp(`^[${HANGUL}]`, "v");

/** The digits of all scripts that NFKC leaves, as ASCII digits; Unicode has them in blocks of ten. */
const DIGIT = /[[\p{Nd}]--[0-9]]/gv;
const DIGITS = new Map<string, string>();
for (let code = 0x80, run = 0; code <= 0x1ffff; code++) {
  const character = String.fromCodePoint(code);
  if (/\p{Nd}/u.test(character)) DIGITS.set(character, String(run++ % 10));
  else run = 0;
}

function clean(text: string): string {
  const plain = NOT_ASCII.test(text)
    ? toNfkc(text.slice(0, MAX_RAW_LENGTH))
        .replace(INVISIBLE, "")
        .replace(DIGIT, (digit) => DIGITS.get(digit) ?? digit)
    : text;
  return plain.length <= MAX_TERM_LENGTH
    ? plain
    : plain.slice(0, MAX_TERM_LENGTH).replace(/[\ud800-\udbff]$/, "");
}

function push(tokens: Token[], start: number, raw: string, isExact: boolean): void {
  const text = clean(raw);
  if (text.length > 0 && !ONLY_MARKS.test(text))
    tokens.push({ start, end: start + raw.length, text, isExact });
}

/** Adds pairs of neighbouring characters, since the dictionary may cut a query differently from a text. */
function pushPairs(tokens: Token[], start: number, run: string): void {
  let before = "";
  let offset = start;
  for (const character of run) {
    if (before !== "") push(tokens, offset - before.length, before + character, true);
    before = character;
    offset += character.length;
  }
}

function pushSegments(tokens: Token[], start: number, run: string, skipPairs: boolean): void {
  for (const { segment, index } of segmenter.segment(run)) {
    // A word of two characters comes as one of the pairs.
    if (!skipPairs || segment.length !== 2) push(tokens, start + index, segment, true);
  }
}

/** The letters and digits of `run`, cut at everything else and, in names like `fooBar`, at the hump. */
function pushParts(tokens: Token[], start: number, run: string): void {
  for (const part of run.matchAll(PART)) {
    const raw = part[0];
    // English endings such as 's and 't say nothing.
    if (raw.length <= 2 && part.index > 0 && /['’]/.test(run[part.index - 1]!)) continue;
    push(tokens, start + part.index, raw, HAS_DIGIT.test(raw));
    const unit = WITH_UNIT.exec(raw)?.[1];
    if (unit !== undefined) {
      push(tokens, start + part.index, raw.slice(0, -unit.length), true);
      push(tokens, start + part.index + raw.length - unit.length, unit, false);
    }
    const humps = HUMP.test(raw) ? raw.split(HUMP) : [];
    let offset = start + part.index;
    for (const hump of humps) {
      push(tokens, offset, hump, false);
      offset += hump.length;
    }
  }
}

/** One @ with something before it, and a dot with something on both of its sides after it. */
function isEmail(run: string): boolean {
  const at = run.indexOf("@");
  const dot = run.indexOf(".", at + 2);
  return at > 0 && dot > 0 && dot < run.length - 1 && !run.includes("@", at + 1) && !NOT_IN_ADDRESS.test(run);
}

function isIdentifier(run: string): boolean {
  return HAS_DIGIT.test(run) || run.includes("_") || isEmail(run) || /\p{L}\.\p{L}/u.test(run);
}

function pushJoined(tokens: Token[], start: number, run: string): void {
  if (isIdentifier(run)) {
    push(tokens, start, run, true);
    if (THOUSANDS.test(run)) push(tokens, start, run.replaceAll(",", ""), true);
  }
  pushParts(tokens, start, run);
}

function pushUrl(tokens: Token[], start: number, run: string): void {
  let end = run.length;
  while (ENDS_SENTENCE.has(run.charAt(end - 1))) end -= 1;
  const address = run.slice(0, end);
  const scheme = /^https?:\/\//i.exec(address)?.[0].length ?? 0;
  const whole = address.slice(scheme).replace(/\/$/, "");
  push(tokens, start + scheme, whole, true);
  const host = /^[^/?#]+/.exec(whole)?.[0] ?? "";
  if (host.length < whole.length) push(tokens, start + scheme, host, true);
  pushParts(tokens, start + scheme, whole);
}

function pushRun(tokens: Token[], start: number, run: string): void {
  if (!NOT_ASCII.test(run)) {
    if (URL_START.test(run)) pushUrl(tokens, start, run);
    else pushJoined(tokens, start, run);
  } else if (IS_CHINESE_JAPANESE.test(run)) {
    pushSegments(tokens, start, run, true);
    pushPairs(tokens, start, run);
  } else if (IS_UNSPACED.test(run)) pushSegments(tokens, start, run, false);
  else if (IS_HANGUL.test(run)) {
    if (run.length !== 2) push(tokens, start, run, true);
    pushPairs(tokens, start, run);
  } else if (URL_START.test(run)) pushUrl(tokens, start, run);
  else pushJoined(tokens, start, run);
}

const SEPARATES = 0;
const JOINS = 1;
const IS_LETTER = 2;
const IS_CAPITAL = 3;
const IS_OTHER = 4;
/** What each ASCII character does in a run. */
const ROLES = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[a-z]/.test(character)) return IS_LETTER;
  if (/[A-Z]/.test(character)) return IS_CAPITAL;
  if (/[0-9_]/.test(character)) return IS_OTHER;
  return /['.,\-/:@+]/.test(character) ? JOINS : SEPARATES;
});
const roleAt = (text: string, at: number): number =>
  at < text.length ? (ROLES[text.charCodeAt(at)] ?? IS_OTHER) : SEPARATES;
const IS_SPACE = /^\s?$/;

/** The end of the word at `start` if it is plain ASCII without a hump; else `start`, to look closer. */
function endOfPlainWord(text: string, start: number): number {
  let end = start;
  let mayHaveHump = false;
  let role = roleAt(text, end);
  while (role === IS_LETTER || role === IS_CAPITAL) {
    mayHaveHump ||= role === IS_CAPITAL && end > start + 1;
    end++;
    role = roleAt(text, end);
  }
  const isWhole = role === SEPARATES || (role === JOINS && IS_SPACE.test(text.charAt(end + 1)));
  return isWhole && end - start <= MAX_TERM_LENGTH && !(mayHaveHump && NOT_PLAIN.test(text.slice(start, end)))
    ? end
    : start;
}

/**
 * The words of a text, in order. Everything but letters, digits and marks separates words. Never throws,
 * whatever the text holds, and takes time linear in its length.
 *
 * @example `test/search/text/analyzer.test.ts`
 */
export function cutWords(text: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length;) {
    const role = roleAt(text, at);
    // No word begins with such a character.
    if (role === SEPARATES || role === JOINS) {
      at++;
      continue;
    }
    // A shortcut for plain words, which are most of a text in English.
    const end = endOfPlainWord(text, at);
    if (end > at) {
      tokens.push({ start: at, end, text: text.slice(at, end), isExact: false });
      at = end;
      continue;
    }
    RUN.lastIndex = at;
    const match = RUN.exec(text);
    if (match === null) break;
    pushRun(tokens, match.index, match[0]);
    at = match.index + match[0].length;
  }
  return tokens;
}
