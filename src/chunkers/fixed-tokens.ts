/** The chunker `fixed_tokens`: windows of a fixed number of tokens of the document, exactly overlapping. */

import type { TextUnit } from "../domain/text-unit.ts";
import { cutsWord, lineEnds } from "./boundaries.ts";
import {
  makeChunk,
  UNIT_SEPARATOR,
  type Chunk,
  type Chunker,
  type ChunkOptions,
  type Tokenizer,
} from "./chunk.ts";
import type { Stretch } from "./stretches.ts";

/**
 * Every chunk except the first begins exactly `overlapTokens` tokens before the end of the previous one. A
 * window ends early before a table row or code block that it would cut, if that fits into the next window.
 */
export const fixedTokens: Chunker = (units, options, tokenizer) => {
  const document = layOut(units, options, tokenizer);
  const chunks: Chunk[] = [];
  let first = 0;
  while (first < document.tokenStarts.length) {
    const end = windowEnd(document, first, options, tokenizer);
    chunks.push(chunkOf(document, first, end, { options, tokenizer }));
    if (end >= document.tokenStarts.length) break;
    first = end - options.overlapTokens;
  }
  return chunks;
};

/** The document as one text, with the offsets of its units and tokens. */
interface Layout {
  readonly text: string;
  readonly units: readonly TextUnit[];
  readonly unitStarts: readonly number[];
  readonly tokenStarts: readonly number[];
  /** The first tokens of table rows and code blocks to keep whole, in order, and the tokens after them. */
  readonly wholeStarts: readonly number[];
  readonly wholeEnds: readonly number[];
}

function layOut(all: readonly TextUnit[], options: ChunkOptions, tokenizer: Tokenizer): Layout {
  const units: TextUnit[] = [];
  const unitStarts: number[] = [];
  const tokenStarts: number[] = [];
  const wholeStarts: number[] = [];
  const wholeEnds: number[] = [];
  let length = 0;
  for (const unit of all) {
    const offsets = tokenizer.tokenOffsets(unit.text);
    if (offsets.length === 0) continue;
    const firstToken = tokenStarts.length;
    for (const [start] of offsets) tokenStarts.push(length + start);
    for (const [start, end] of wholeRanges(unit, offsets)) {
      if (end - start > options.maxTokens - options.overlapTokens) continue;
      wholeStarts.push(firstToken + start);
      wholeEnds.push(firstToken + end);
    }
    units.push(unit);
    unitStarts.push(length);
    length += unit.text.length + UNIT_SEPARATOR.length;
  }
  return {
    text: units.map((unit) => unit.text).join(UNIT_SEPARATOR),
    units,
    unitStarts,
    tokenStarts,
    wholeStarts,
    wholeEnds,
  };
}

function wholeRanges(
  unit: TextUnit,
  offsets: readonly (readonly [number, number])[],
): (readonly [number, number])[] {
  if (unit.type === "code") return [[0, offsets.length]];
  if (unit.type !== "table") return [];
  const starts = offsets.map(([start]) => start);
  let from = 0;
  return lineEnds(unit.text, 0, unit.text.length).map((end) => {
    const range = [from, countBefore(starts, end)] as const;
    from = range[1];
    return range;
  });
}

/** The token after the window that starts at `first`; so far that the next window starts later. */
function windowEnd(document: Layout, first: number, options: ChunkOptions, tokenizer: Tokenizer): number {
  const total = document.tokenStarts.length;
  const least = first + options.overlapTokens + 1;
  let end = Math.min(first + options.maxTokens, total);
  while (end > least && countIn(document, first, end, tokenizer) > options.maxTokens) end--;
  return end < total ? beforeWhole(document, end, least) : end;
}

function beforeWhole({ wholeStarts, wholeEnds }: Layout, end: number, least: number): number {
  const at = countBefore(wholeStarts, end) - 1;
  const start = wholeStarts[at] ?? end;
  return end < (wholeEnds[at] ?? 0) && start >= least ? start : end;
}

/** Counts again only if an end splits a word, whose halves may have more tokens than the whole. */
function countIn(document: Layout, first: number, end: number, tokenizer: Tokenizer): number {
  const [from, to] = textRange(document, first, end);
  if (!cutsWord(document.text, from) && !cutsWord(document.text, to)) return end - first;
  return tokenizer.countTokens(document.text.slice(from, to));
}

function textRange(document: Layout, first: number, end: number): [number, number] {
  const { tokenStarts, text } = document;
  return [first === 0 ? 0 : (tokenStarts[first] ?? 0), tokenStarts[end] ?? text.length];
}

function chunkOf(
  document: Layout,
  first: number,
  end: number,
  { options, tokenizer }: { options: ChunkOptions; tokenizer: Tokenizer },
): Chunk {
  const [from, to] = textRange(document, first, end);
  const text = document.text.slice(from, to).trimEnd();
  const firstUnit = countBefore(document.unitStarts, from + 1) - 1;
  const units = document.units.slice(
    Math.max(firstUnit, 0),
    Math.max(countBefore(document.unitStarts, from + text.length), firstUnit + 1),
  );
  const tokens = countIn(document, first, end, tokenizer);
  const stretches = stretchesOf(document, Math.max(firstUnit, 0), from, from + text.length);
  return makeChunk({ text, tokens, units, stretches }, options.language);
}

/** What the text in [from, to) has of the units from `firstUnit` on. */
function stretchesOf({ units, unitStarts }: Layout, firstUnit: number, from: number, to: number): Stretch[] {
  const stretches: Stretch[] = [];
  for (let index = firstUnit; index < units.length && (unitStarts[index] ?? to) < to; index++) {
    const unit = units[index]!;
    const start = unitStarts[index] ?? 0;
    const first = Math.max(from, start);
    const last = Math.min(to, start + unit.text.length);
    if (first < last)
      stretches.push({
        unit,
        from: first - start,
        to: last - start,
        at: first - from,
        isRepeated: false,
      });
  }
  return stretches;
}

/** How many of the ascending numbers are less than `limit`. */
function countBefore(ascending: readonly number[], limit: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
