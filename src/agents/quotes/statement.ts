/** Finds the statement of an answer that stands before a citation mark. */
import { sentencesIn, trim } from "./sentences.ts";

export interface Statement {
  /** UTF-16 offsets [start, end) of its sentence, row or list item in the answer. */
  readonly start: number;
  readonly end: number;
  /** The answer's text there. */
  readonly sentence: string;
  /** What of it the source must carry: of a row of a table only its first cell and the cell with the mark. */
  readonly words: string;
}

/** What is further away from its mark belongs to no statement. */
const REACH = 1_000;
/** A sentence this short says nothing without the one before it. */
const SHORT = 12;
/** Where a few characters are several words. */
const DENSE = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]{4}/u;

const HAS_WORD = /[\p{L}\p{N}]/u;
/** What begins a line of Markdown and is no part of its text. */
const MARKER = /^\s{0,12}(?:(?:[-*+•>]|#{1,6}|\d{1,3}[.)])\s{1,8}){0,4}/u;

export interface StatementFinder {
  /** The next piece of the answer as it is shown. */
  write(shown: string): void;
  /** The statement before the next mark; marks with only punctuation between share one. Undefined: none. */
  before(): Statement | undefined;
  /** The mark is part of the answer: the next statement begins behind it. */
  mark(text: string): void;
}

/** Keeps no more of the answer than a statement may have. Takes time linear in what is written. */
export function createStatementFinder(): StatementFinder {
  /** The end of what was written. */
  let tail = "";
  let written = 0;
  let markedTo = 0;
  let last: Statement | undefined;
  const add = (text: string): void => {
    written += text.length;
    tail = text.length >= REACH ? text.slice(-REACH) : (tail + text).slice(-REACH);
  };
  return {
    write: add,
    mark(text) {
      add(text);
      markedTo = written;
    },
    before() {
      const tailStart = written - tail.length;
      const from = Math.max(0, markedTo - tailStart);
      // Only punctuation since the mark before: both stand behind the same statement.
      if (markedTo > 0 && !HAS_WORD.test(tail.slice(from))) return last;
      const found = statementIn(tail, from);
      last = found && { ...found, start: tailStart + found.start, end: tailStart + found.end };
      return last;
    },
  };
}

/** @param from the end of the mark before. */
function statementIn(text: string, from: number): Statement | undefined {
  const [, end] = trim(text, from, text.length);
  const lineStart = text.lastIndexOf("\n", end - 1) + 1;
  const line = text.slice(lineStart, end);
  if (/^\s*\|/.test(line)) return statementInRow(text, lineStart, end);
  const marker = MARKER.exec(line)![0].length;
  const begin = Math.max(from, lineStart + marker, wholeFrom(text));
  const sentences = sentencesIn(text, begin, end);
  const sentence = sentences.at(-1);
  if (sentence === undefined) return undefined;
  const before = sentences.at(-2);
  const isShort = sentence[1] - sentence[0] <= SHORT && !DENSE.test(text.slice(...sentence));
  return statement(text, isShort && before !== undefined ? before[0] : sentence[0], sentence[1]);
}

function statementInRow(text: string, lineStart: number, end: number): Statement | undefined {
  const [start, last] = trim(text, text.indexOf("|", lineStart) + 1, end);
  const row = text.slice(start, last);
  if (!HAS_WORD.test(row)) return undefined;
  const cells = row.split("|");
  // Marks of other cells would pass for numbers.
  const words = (cells.length === 1 ? row : `${cells[0]} ${cells.at(-1)}`).replace(
    /\[[\d,\s]{1,110}\]/g,
    " ",
  );
  return { start, end: last, sentence: row, words };
}

/** Where the first whole word of a text begins that may have been cut at its start. */
function wholeFrom(text: string): number {
  if (text.length < REACH) return 0;
  const space = text.slice(0, REACH / 4).search(/\s/u);
  if (space >= 0) return space;
  return /^[\udc00-\udfff]/.test(text) ? 1 : 0;
}

/** What ended the sentence or clause before. */
const LEADING = /^[\s.,;:!?…)\]。，、；：！？،؛؟]*/u;

function statement(text: string, from: number, end: number): Statement {
  const start = from + LEADING.exec(text.slice(from, end))![0].length;
  const sentence = text.slice(start, end);
  return { start, end, sentence, words: sentence };
}
