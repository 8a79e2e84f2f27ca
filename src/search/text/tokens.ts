/** The only place that cuts text into words: by script, with identifiers, numbers, addresses and compounds whole and in parts. */
import { NOT_ASCII, toNfkc } from "./normalize.ts";

export interface Token {
  /** UTF-16 offsets in the text that was cut. */
  readonly start: number;
  readonly end: number;
  /** In NFKC, its case kept; at most 64 UTF-16 units. */
  readonly text: string;
  /** Taken as it is in lower case: identifiers, numbers, addresses, words and character pairs of scripts without spaces. */
  readonly isExact: boolean;
}

const MAX_TERM_LENGTH = 64;
/** Of a run of letters before it is made NFKC: no more of it than a term of {@link MAX_TERM_LENGTH} is made of. */
const MAX_RAW_LENGTH = 1_024;

const CHINESE_JAPANESE = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}々〆ー`;
const UNSPACED = String.raw`\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}`;
const HANGUL = String.raw`\p{sc=Hangul}`;
// Joiners (U+200C, U+200D) and the soft hyphen stand inside words.
const LETTER = String.raw`[[\p{L}\p{N}\p{M}_\u200c\u200d\u00ad]--[${CHINESE_JAPANESE}${UNSPACED}${HANGUL}]]`;
const RUN = new RegExp(
  String.raw`(?:[hH][tT][tT][pP][sS]?:\/\/|[wW]{3}\.)[^\s<>"]+|[${CHINESE_JAPANESE}]+|[${UNSPACED}]+|[${HANGUL}]+|${LETTER}+(?:['’.,\-\/:@+]${LETTER}+)*`,
  "gv",
);

// The dictionaries for scripts without spaces do not depend on the locale.
const segmenter = new Intl.Segmenter("und", { granularity: "word" });

const PART = new RegExp(`[[${LETTER}]--[_]]+`, "gv");
const HUMP = /(?<=\p{Ll}\p{Ll})(?=\p{Lu}\p{L})/u;
const NOT_IN_ADDRESS = /[,:/]/;
const ENDS_SENTENCE = new Set(".,;:!?)]}'’");
// Accents with no letter to stand on are no word, nor is what only lengthens an Arabic one: both are taken off, and nothing would be left.
const ONLY_MARKS = /^[\p{M}\u0640]+$/u;
const HAS_DIGIT = /\p{N}/u;
const THOUSANDS = /^\d{1,3}(?:,\d{3})+$/;
const INVISIBLE = /\u200c|\u200d|\u00ad/g;
// A word of ASCII letters without a hump.
const NOT_PLAIN = /[^a-zA-Z]|[a-z]{2}[A-Z][a-zA-Z]/;
const URL_START = /^(?:https?:\/\/|www\.)/i;
const IS_CHINESE_JAPANESE = new RegExp(`^[${CHINESE_JAPANESE}]`, "v");
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "v");
const IS_HANGUL = new RegExp(`^[${HANGUL}]`, "v");

function clean(text: string): string {
  const plain = NOT_ASCII.test(text) ? toNfkc(text.slice(0, MAX_RAW_LENGTH)).replace(INVISIBLE, "") : text;
  return plain.length <= MAX_TERM_LENGTH
    ? plain
    : plain.slice(0, MAX_TERM_LENGTH).replace(/[\ud800-\udbff]$/, "");
}

function push(tokens: Token[], start: number, raw: string, isExact: boolean): void {
  const text = clean(raw);
  if (text.length > 0 && !ONLY_MARKS.test(text))
    tokens.push({ start, end: start + raw.length, text, isExact });
}

/** Pairs of neighbouring characters, beside the words: they find what the dictionary cut otherwise. */
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
    // A word of two characters is one of the pairs.
    if (!skipPairs || segment.length !== 2) push(tokens, start + index, segment, true);
  }
}

/** The letters and digits of `run`, cut at everything else and, in names like `fooBar`, at the hump. */
function pushParts(tokens: Token[], start: number, run: string): void {
  for (const part of run.matchAll(PART)) {
    const raw = part[0];
    // English 's, 't and the like say nothing.
    if (raw.length <= 2 && part.index > 0 && /['’]/.test(run[part.index - 1]!)) continue;
    push(tokens, start + part.index, raw, HAS_DIGIT.test(raw));
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

const [SEPARATES, JOINS, IS_LETTER, IS_CAPITAL, IS_OTHER] = [0, 1, 2, 3, 4] as const;
/** What an ASCII character may be to a run. */
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

/** The end of the ASCII letters at `start` where they are a run by themselves and have no hump; else `start`: the run is to be looked at more closely. */
function endOfPlainWord(text: string, start: number): number {
  let end = start;
  let mayHaveHump = false;
  for (let role = roleAt(text, end); role === IS_LETTER || role === IS_CAPITAL; role = roleAt(text, ++end))
    mayHaveHump ||= role === IS_CAPITAL && end > start + 1;
  const role = roleAt(text, end);
  const isWhole = role === SEPARATES || (role === JOINS && IS_SPACE.test(text.charAt(end + 1)));
  return isWhole && end - start <= MAX_TERM_LENGTH && !(mayHaveHump && NOT_PLAIN.test(text.slice(start, end)))
    ? end
    : start;
}

/** The words of any text, in order; what is no letter, digit or mark separates. Never throws, whatever the text holds. */
export function cutWords(text: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length;) {
    const role = roleAt(text, at);
    // No run begins so.
    if (role === SEPARATES || role === JOINS) {
      at++;
      continue;
    }
    // Most of what is written.
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
