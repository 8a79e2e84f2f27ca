/** Cuts units that are too long for a chunk: at lines, else sentences, else words, else tokens. */

import type { TextUnit } from "../domain/text-unit.ts";
import type { ChunkOptions, Tokenizer } from "./chunk.ts";
import { cutsWord, lineEnds, sentenceEnds, wordEnds } from "./boundaries.ts";
import { columnHead, type CutRow, cutRow, type Head, tableHeadEnd } from "./table-heads.ts";

/** A whole unit or a part of one; the parts of a unit joined are its text. */
export interface Piece {
  readonly unit: TextUnit;
  readonly text: string;
  /** The offset of `text` in the unit's text. */
  readonly start: number;
  readonly tokens: number;
  /** True if it directly continues the piece before, in the same unit. */
  readonly continues: boolean;
  /** True if it begins inside a word: joined with the piece before it, the tokens of both would change. */
  readonly startsChunk: boolean;
  /** What is repeated of a table if a chunk starts with this piece of it. */
  readonly head?: Head | undefined;
}

type Level = "line" | "sentence" | "word" | "token";

/** A unit as pieces of at most `maxTokens`, as few as lines and sentences allow; none if it has no tokens. */
export function piecesOf(unit: TextUnit, options: ChunkOptions, tokenizer: Tokenizer): Piece[] {
  const tokens = tokenizer.countTokens(unit.text);
  if (tokens === 0) return [];
  if (tokens <= options.maxTokens)
    return [{ unit, text: unit.text, start: 0, tokens, continues: false, startsChunk: false }];
  return cutUnit(unit, options, tokenizer);
}

/** Like {@link piecesOf}, except that each sentence of running text is a piece. */
export function sentencesOf(unit: TextUnit, options: ChunkOptions, tokenizer: Tokenizer): Piece[] {
  const running = unit.type === "paragraph" || unit.type === "quote";
  return running ? cutUnit(unit, options, tokenizer) : piecesOf(unit, options, tokenizer);
}

interface Cutting {
  readonly unit: TextUnit;
  readonly tokenizer: Tokenizer;
  readonly maxTokens: number;
  readonly language: string | undefined;
  readonly offsets: readonly (readonly [number, number])[];
  readonly head: Head | undefined;
  /** Of a table, inside of which it is cut now. */
  readonly row?: CutRow;
  readonly pieces: Piece[];
}

function cutUnit(unit: TextUnit, options: ChunkOptions, tokenizer: Tokenizer): Piece[] {
  const offsets = tokenizer.tokenOffsets(unit.text);
  if (offsets.length === 0) return [];
  const headEnd = unit.type === "table" ? tableHeadEnd(unit.text) : 0;
  const headTokens = tokensBefore(offsets, headEnd);
  // A head of more than half of a chunk leaves too little for rows.
  const repeats = headEnd > 0 && headTokens <= options.maxTokens / 2;
  const cutting: Cutting = {
    unit,
    tokenizer,
    offsets,
    language: options.language,
    maxTokens: options.maxTokens - (repeats ? headTokens : 0),
    head: repeats ? columnHead(unit, headEnd, headTokens) : undefined,
    pieces: [],
  };
  if (repeats) addPiece(cutting, 0, headEnd);
  cut(
    cutting,
    repeats ? headEnd : 0,
    unit.text.length,
    unit.type === "paragraph" || unit.type === "heading" ? "sentence" : "line",
  );
  return cutting.pieces;
}

function cut(cutting: Cutting, start: number, end: number, level: Level): void {
  if (level === "token") return cutAtTokens(cutting, start, end);
  if (level === "word") return cutAtWords(cutting, start, end);
  const { unit, language } = cutting;
  const ends =
    level === "line" ? lineEnds(unit.text, start, end) : sentenceEnds(unit.text, start, end, language);
  let from = start;
  for (const to of ends) {
    if (tokensIn(cutting, from, to) <= cutting.maxTokens) addPiece(cutting, from, to);
    else if (level === "line") cut(inLine(cutting, from, to), from, to, "sentence");
    else cut(cutting, from, to, "word");
    from = to;
  }
}

/** Leaves room for what the parts of a row repeat: at most half, as the rest has to hold new text. */
function inLine(cutting: Cutting, start: number, end: number): Cutting {
  const { unit, head, maxTokens, tokenizer } = cutting;
  if (head === undefined) return cutting;
  const row = cutRow(unit, { start, end }, { columns: head, room: maxTokens / 2, tokenizer });
  return row === undefined ? cutting : { ...cutting, row, maxTokens: maxTokens - row.tokens };
}

/** Words are not pieces by themselves: as many as fit are joined. */
function cutAtWords(cutting: Cutting, start: number, end: number): void {
  let from = start;
  let to = start;
  for (const wordEnd of wordEnds(cutting.unit.text, start, end)) {
    if (to > from && tokensIn(cutting, from, wordEnd) > cutting.maxTokens) {
      addPiece(cutting, from, to);
      from = to;
    }
    if (tokensIn(cutting, from, wordEnd) > cutting.maxTokens) {
      cut(cutting, from, wordEnd, "token");
      from = wordEnd;
    }
    to = wordEnd;
  }
  if (to > from) addPiece(cutting, from, to);
}

/** Parts of a word may have more tokens than the whole had: each is shortened until its own fit. */
function cutAtTokens(cutting: Cutting, start: number, end: number): void {
  const { offsets, unit, tokenizer, maxTokens } = cutting;
  const last = tokensBefore(offsets, end);
  let from = start;
  while (from < end) {
    const first = tokensBefore(offsets, from);
    let next = Math.min(first + maxTokens, last);
    const endOf = (token: number): number => (token >= last ? end : (offsets[token]?.[0] ?? end));
    while (next > first + 1 && tokenizer.countTokens(unit.text.slice(from, endOf(next))) > maxTokens) next--;
    const to = endOf(next);
    // A character that has several tokens cannot be cut.
    const reached = to > from ? to : end;
    addPiece(cutting, from, reached);
    from = reached;
  }
}

function addPiece(cutting: Cutting, start: number, end: number): void {
  const { unit, pieces, head, row } = cutting;
  const startsChunk = cutsWord(unit.text, start);
  const text = unit.text.slice(start, end);
  const inexact = startsChunk || cutsWord(unit.text, end);
  const tokens = inexact ? cutting.tokenizer.countTokens(text) : tokensIn(cutting, start, end);
  pieces.push({
    unit,
    text,
    start,
    tokens,
    continues: pieces.length > 0,
    startsChunk,
    head: start > 0 ? (row?.headAt(start) ?? head) : undefined,
  });
}

function tokensIn(cutting: Cutting, start: number, end: number): number {
  return tokensBefore(cutting.offsets, end) - tokensBefore(cutting.offsets, start);
}

/** The number of tokens that begin before `position`. */
function tokensBefore(offsets: readonly (readonly [number, number])[], position: number): number {
  let low = 0;
  let high = offsets.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((offsets[middle]?.[0] ?? 0) < position) low = middle + 1;
    else high = middle;
  }
  return low;
}
