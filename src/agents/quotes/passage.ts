/** Reads a passage as what may be quoted from it: sentences, rows of tables, lines of code, and words. */
import { languagesIn, pushTerms } from "../../search/text/analyzer.ts";
import type { Languages } from "../../search/text/language.ts";
import { cutWords } from "../../search/text/tokens.ts";
import { numbersIn } from "./numbers.ts";
import { sentencesIn, trim } from "./sentences.ts";

/** A part of a passage that may be quoted. */
export interface Part {
  /** UTF-16 offsets in the passage. */
  readonly start: number;
  readonly end: number;
  readonly kind: "sentence" | "row" | "heading" | "line";
  /** Parts of one paragraph have the same. */
  readonly block: number;
  /** The number of the part that names its columns. */
  readonly header?: number | undefined;
}

/** The parts that have a word or a number, by their numbers and ascending. */
export type Postings = ReadonlyMap<string, readonly number[]>;

export interface ReadPassage {
  readonly text: string;
  readonly parts: readonly Part[];
  readonly words: Postings;
  readonly numbers: Postings;
  /** How words of the passage, and of statements about it, are made to terms. */
  readonly languages: Languages;
  /** Words and numbers of the document's name, which may carry what the passage leaves unsaid. */
  readonly name: { readonly words: ReadonlySet<string>; readonly numbers: ReadonlySet<string> };
}

/** More than a chunk of the most tokens has; what is beyond is not quoted. */
const MAX_LENGTH = 131_072;
/** The beginning of a passage tells its languages. */
const TELLING_LENGTH = 8_192;

/** Reads a passage in time linear in its length; yields between paragraphs, where the caller may pause. */
export function* readPassage(text: string, name: string): Generator<undefined, ReadPassage> {
  const languages = languagesIn(cutWords(text.slice(0, TELLING_LENGTH)));
  const words = new Map<string, number[]>();
  const numbers = new Map<string, number[]>();
  const parts: Part[] = [];
  for (const part of partsIn(text.slice(0, MAX_LENGTH))) {
    const number = parts.push(part) - 1;
    const shown = text.slice(part.start, part.end);
    for (const term of termsOf(shown, languages)) note(words, term, number);
    for (const { readings } of numbersIn(shown))
      for (const reading of readings) note(numbers, reading, number);
    yield undefined;
  }
  return {
    text,
    parts,
    words,
    numbers,
    languages,
    name: {
      words: new Set(termsOf(name, languages)),
      numbers: new Set(numbersIn(name).flatMap(({ readings }) => readings)),
    },
  };
}

/** Reads a passage at once. */
export function readWhole(text: string, name: string): ReadPassage {
  const steps = readPassage(text, name);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

function note(postings: Map<string, number[]>, key: string, part: number): void {
  const known = postings.get(key);
  if (known === undefined) postings.set(key, [part]);
  else if (known.at(-1) !== part) known.push(part);
}

function termsOf(text: string, languages: Languages): string[] {
  const terms: string[] = [];
  for (const token of cutWords(text)) pushTerms(terms, token, languages);
  return terms;
}

const BLANK = /^\s*$/;
const FENCE = /^\s{0,3}(?:```|~~~)/;
const ROW = /^\s*\|/;
/** The row that divides a table's header from its body. */
const DIVIDER = /^[\s|:-]+$/;
/** What begins a line and is not quoted with it. */
const MARKER = /^\s{0,12}(?:(?:[-*+•>]|#{1,6}|\d{1,3}[.)])\s{1,8}){0,4}/u;
const HEADING = /^\s{0,3}#{1,6}\s/;

interface Line {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function* linesIn(text: string): Generator<Line> {
  for (let start = 0; start <= text.length;) {
    const lineBreak = text.indexOf("\n", start);
    const end = lineBreak < 0 ? text.length : lineBreak;
    yield { start, end, text: text.slice(start, end) };
    start = end + 1;
  }
}

interface Block {
  readonly kind: Part["kind"] | "divider" | "gap";
  readonly start: number;
  readonly end: number;
}

/** Paragraphs of prose, whose lines only wrap; and on their own rows, headings, list items, lines of code. */
function blocksIn(text: string): Block[] {
  const blocks: Block[] = [];
  let isCode = false;
  let prose: { kind: "sentence"; start: number; end: number } | undefined;
  for (const line of linesIn(text)) {
    const isFence = FENCE.test(line.text);
    if (isFence) isCode = !isCode;
    const kind = isFence || BLANK.test(line.text) ? "gap" : kindOf(line.text, isCode);
    const marker = kind === "sentence" || kind === "heading" ? MARKER.exec(line.text)![0] : "";
    const start = line.start + marker.length;
    if (kind === "sentence" && marker.trim() === "" && prose !== undefined) {
      prose.end = line.end;
      continue;
    }
    const block = { kind, start, end: line.end };
    prose = kind === "sentence" ? { ...block, kind } : undefined;
    blocks.push(prose ?? block);
  }
  return blocks;
}

function kindOf(line: string, isCode: boolean): Block["kind"] {
  if (isCode) return "line";
  if (ROW.test(line)) return DIVIDER.test(line) && line.includes("-") ? "divider" : "row";
  return HEADING.test(line) ? "heading" : "sentence";
}

function* partsIn(text: string): Generator<Part> {
  let count = 0;
  let rowBefore: number | undefined;
  let header: number | undefined;
  for (const [block, { kind, start, end }] of blocksIn(text).entries()) {
    if (kind === "divider") header = rowBefore;
    else if (kind !== "row") header = rowBefore = undefined;
    if (kind === "divider" || kind === "gap") continue;
    const ranges = kind === "sentence" ? sentencesIn(text, start, end) : [shownOf(text, kind, start, end)];
    for (const range of ranges) {
      if (range[0] >= range[1]) continue;
      if (kind === "row") rowBefore = count;
      yield { start: range[0], end: range[1], kind, block, header };
      count += 1;
    }
  }
}

/** A line without the space around it; a row without its outer bars too. */
function shownOf(text: string, kind: Part["kind"], from: number, to: number): [start: number, end: number] {
  const [start, end] = trim(text, from, to);
  if (kind !== "row") return [start, end];
  return trim(text, start + 1, text.charAt(end - 1) === "|" ? Math.max(start + 1, end - 1) : end);
}
