/** The WordPiece tokenizer of uncased BERT models, with exact offsets into the original text. */
import { readFileSync } from "node:fs";

export interface WordPiece {
  readonly count: (text: string) => number;
  /** Ids of the first `maxTokens` tokens, between [CLS] and [SEP], which BERT wants; these do not count. */
  readonly ids: (text: string, maxTokens: number) => number[];
  /** Offsets [start, end) of each token in UTF-16 units: ascending, without overlaps, between characters. */
  readonly offsets: (text: string) => Array<[number, number]>;
  /** See {@link EmbeddingModel.fitOf}. */
  readonly fitOf: (text: string) => number;
}

interface Vocabulary {
  /** Pieces that may begin a word. */
  readonly initial: Map<string, number>;
  /** Pieces that may continue a word, without their `##`. */
  readonly continuing: Map<string, number>;
  readonly longestPiece: number;
  readonly unknown: number;
}

/** A word after normalisation; unit `i` of `text` came from [starts[i], ends[i]) of the original. */
interface Word {
  text: string;
  readonly starts: number[];
  readonly ends: number[];
}

/** Called for each token; returns false to stop. */
type Visit = (id: number, start: number, end: number) => boolean;

/** A word of more code points is one unknown token, as it was when the model was trained. */
const MAX_WORD_LENGTH = 100;

/** Control, format, private and surrogate characters are dropped, except tab and line breaks. */
const DROPPED = /^[\p{Cc}\p{Cf}\p{Co}\p{Cs}\uFFFD]$/u;
const SPACE = /^\s$/u;
const PUNCTUATION = /^[\p{P}$+<=>^`|~]$/u;
const MARKS = /\p{Mn}/gu;
/** The ideographs that BERT makes words of their own; kana and hangul are not among them. */
const IDEOGRAPH = /^[\u4E00-\u9FFF\u3400-\u4DBF\uF900-\uFAFF]$/u;
const RARE_IDEOGRAPH =
  /^[\u{20000}-\u{2A6DF}\u{2A700}-\u{2B73F}\u{2B740}-\u{2B81F}\u{2B920}-\u{2CEAF}\u{2F800}-\u{2FA1F}]$/u;

type Kind = "drop" | "space" | "word" | "letter";
interface Normalised {
  readonly kind: Kind;
  readonly text: string;
}

const normalisedCharacters = new Map<string, Normalised>();
/** Characters whose normal form is kept; about as many as living scripts use. */
const MAX_MEMO = 60_000;

function normalise(character: string): Normalised {
  const known = normalisedCharacters.get(character);
  if (known !== undefined) return known;
  const text = character.normalize("NFD").replace(MARKS, "").toLowerCase();
  let kind: Kind = "letter";
  if (character === "\t" || character === "\n" || character === "\r") kind = "space";
  else if (DROPPED.test(character)) kind = "drop";
  else if (SPACE.test(character)) kind = "space";
  else if (IDEOGRAPH.test(character) || RARE_IDEOGRAPH.test(character)) kind = "word";
  else if (PUNCTUATION.test(text)) kind = "word";
  const made = { kind, text };
  if (normalisedCharacters.size < MAX_MEMO) normalisedCharacters.set(character, made);
  return made;
}

function append(word: Word, text: string, start: number, end: number): void {
  // A combining mark without a letter of its own belongs to the letter before it.
  if (text === "" && word.ends.length > 0) word.ends[word.ends.length - 1] = end;
  word.text += text;
  for (let unit = 0; unit < text.length; unit++) {
    word.starts.push(start);
    word.ends.push(end);
  }
}

/** Calls `visit` for each word until it returns false. */
function eachWord(text: string, visit: (word: Word) => boolean): void {
  let word: Word = { text: "", starts: [], ends: [] };
  const flush = (): boolean => {
    if (word.text === "") return true;
    const done = word;
    word = { text: "", starts: [], ends: [] };
    return visit(done);
  };
  for (let at = 0; at < text.length;) {
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    const end = at + character.length;
    const { kind, text: normalised } = normalise(character);
    if ((kind === "space" || kind === "word") && !flush()) return;
    if (kind === "letter" || kind === "word") append(word, normalised, at, end);
    if (kind === "word" && !flush()) return;
    at = end;
  }
  flush();
}

/**
 * Letters from which on a piece says something. A vocabulary holds the letters of all scripts, and pairs of
 * them, but longer pieces only of languages that it was made from: of English they hold nine letters of ten,
 * of German seven, of Vietnamese four, of Arabic, Russian, Hindi, Thai and Chinese none. With 4 instead of 3
 * these shares keep their order.
 */
const TELLING_LETTERS = 3;
/** The share of letters in such pieces that names and loan words reach by chance, and what English has. */
const CHANCE = 0.3;
const NATIVE = 0.8;
/**
 * What a shorter text in Latin letters lacks counts as of a language that the model knows: a few words say
 * little of theirs, and abbreviations and names have no piece of three letters in any (SSO, JWT, kubectl).
 */
const ENOUGH_LETTERS = 24;
const LETTERS = /\p{L}/gu;
const OTHER_SCRIPT = /[\p{L}--\p{sc=Latin}]/v;

/** See {@link EmbeddingModel.fitOf}; 1 if the text has no letters. */
function fitOf(vocabulary: Vocabulary, text: string): number {
  let all = 0;
  let known = 0;
  eachWord(text, (word) => {
    const letters = lettersIn(word.text);
    if (letters === 0) return true;
    all += letters;
    const found = isTooLong(word.text) ? undefined : pieces(vocabulary, word.text);
    for (const { from, to } of found ?? []) {
      const inPiece = lettersIn(word.text.slice(from, to));
      if (inPiece >= TELLING_LETTERS) known += inPiece;
    }
    return true;
  });
  if (all === 0) return 1;
  const assumed = OTHER_SCRIPT.test(text) ? 0 : Math.max(0, ENOUGH_LETTERS - all);
  const share = (known + NATIVE * assumed) / (all + assumed);
  return Math.min(1, Math.max(0, (share - CHANCE) / (NATIVE - CHANCE)));
}

/** Hangul counts by syllables, as it is written, not by the parts that the tokenizer makes of them. */
const lettersIn = (text: string): number => text.normalize("NFC").match(LETTERS)?.length ?? 0;

function isTooLong(word: string): boolean {
  return word.length > MAX_WORD_LENGTH && Array.from(word).length > MAX_WORD_LENGTH;
}

/** Greedy longest match from the left; undefined if some part of the word is in no piece. */
function pieces(
  vocabulary: Vocabulary,
  word: string,
): Array<{ id: number; from: number; to: number }> | undefined {
  const found: Array<{ id: number; from: number; to: number }> = [];
  for (let from = 0; from < word.length;) {
    const table = from === 0 ? vocabulary.initial : vocabulary.continuing;
    let to = Math.min(word.length, from + vocabulary.longestPiece);
    let id = table.get(word.slice(from, to));
    while (id === undefined && to - 1 > from) {
      to--;
      id = table.get(word.slice(from, to));
    }
    if (id === undefined) return undefined;
    found.push({ id, from, to });
    from = to;
  }
  return found;
}

function eachToken(vocabulary: Vocabulary, text: string, visit: Visit): void {
  let reached = 0;
  // One character may become several units. A token inside it gets an empty range: none overlap.
  const report = (id: number, start: number, end: number): boolean => {
    const from = Math.max(start, reached);
    reached = Math.max(end, from);
    return visit(id, from, reached);
  };
  eachWord(text, (word) => {
    const found = isTooLong(word.text) ? undefined : pieces(vocabulary, word.text);
    if (found === undefined) return report(vocabulary.unknown, word.starts[0] ?? 0, word.ends.at(-1) ?? 0);
    return found.every(({ id, from, to }) => report(id, word.starts[from] ?? 0, word.ends[to - 1] ?? 0));
  });
}

function readVocabulary(path: string): { vocabulary: Vocabulary; first: number; last: number } {
  const initial = new Map<string, number>();
  const continuing = new Map<string, number>();
  let longestPiece = 0;
  for (const [id, piece] of readFileSync(path, "utf8").split("\n").entries()) {
    if (piece === "") continue;
    longestPiece = Math.max(longestPiece, piece.length);
    if (piece.startsWith("##") && piece.length > 2) continuing.set(piece.slice(2), id);
    else initial.set(piece, id);
  }
  const mark = (name: string): number => {
    const id = initial.get(name);
    if (id === undefined) throw new Error(`The vocabulary lacks ${name}.`);
    return id;
  };
  return {
    vocabulary: { initial, continuing, longestPiece, unknown: mark("[UNK]") },
    first: mark("[CLS]"),
    last: mark("[SEP]"),
  };
}

/**
 * The tokenizer of a `vocab.txt`, which has one piece on each line; the line's number from 0 is the piece's
 * id. The texts `[CLS]`, `[SEP]` and so on are plain text if a document holds them.
 *
 * @example `test/models/embedding/wordpiece.test.ts`
 */
export function loadWordPiece(vocabularyPath: string): WordPiece {
  const { vocabulary, first, last } = readVocabulary(vocabularyPath);
  return {
    count(text) {
      let total = 0;
      eachToken(vocabulary, text, () => ++total > 0);
      return total;
    },
    ids(text, maxTokens) {
      const ids = [first];
      eachToken(vocabulary, text, (id) => {
        if (ids.length <= maxTokens) ids.push(id);
        return ids.length <= maxTokens;
      });
      ids.push(last);
      return ids;
    },
    offsets(text) {
      const offsets: Array<[number, number]> = [];
      eachToken(vocabulary, text, (_id, start, end) => offsets.push([start, end]) > 0);
      return offsets;
    },
    fitOf: (text) => fitOf(vocabulary, text),
  };
}
