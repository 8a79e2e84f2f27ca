/** Joins pieces to chunks: as many as fit, in order, and each heading with what follows it. */

import type { TextUnit } from "../domain/text-unit.ts";
import { cutsWord } from "./boundaries.ts";
import {
  makeChunk,
  UNIT_SEPARATOR,
  type Chunk,
  type ChunkOptions,
  type ChunkText,
  type Tokenizer,
} from "./chunk.ts";
import type { Piece } from "./pieces.ts";
import { addStretch, sliceStretches, type Stretch } from "./stretches.ts";

interface PackInput {
  readonly options: ChunkOptions;
  readonly tokenizer: Tokenizer;
  readonly cut: (unit: TextUnit, options: ChunkOptions, tokenizer: Tokenizer) => Piece[];
}

/** The chunks of each group. No chunk or overlap goes from one group into another. */
export function packGroups(groups: Iterable<readonly TextUnit[]>, input: PackInput): Chunk[] {
  const { options, tokenizer, cut } = input;
  const joinTokens = tokenizer.countTokens(UNIT_SEPARATOR);
  const overlapRoom = options.overlapTokens === 0 ? 0 : options.overlapTokens + joinTokens;
  const bounded: ChunkOptions = { ...options, maxTokens: options.maxTokens - overlapRoom };
  const chunks: Chunk[] = [];
  for (const units of groups) {
    const pieces = units.flatMap((unit) => cut(unit, bounded, tokenizer));
    const packed = pack(pieces, bounded.maxTokens, joinTokens).map((group) => draw(group, joinTokens));
    packed.forEach((drawn, index) => {
      const before = options.overlapTokens > 0 ? packed[index - 1] : undefined;
      chunks.push(
        finish(
          before === undefined ? drawn : withOverlap(before, drawn, { options, tokenizer, joinTokens }),
          options.language,
        ),
      );
    });
  }
  return chunks;
}

function pack(pieces: readonly Piece[], maxTokens: number, joinTokens: number): Piece[][] {
  const packed: Piece[][] = [];
  let current: Piece[] = [];
  let tokens = 0;
  for (const piece of pieces) {
    const added = piece.tokens + (current.length > 0 && !piece.continues ? joinTokens : 0);
    if (current.length > 0 && (piece.startsChunk || tokens + added > maxTokens)) {
      const headings = trailingHeadings(current, maxTokens - piece.tokens, joinTokens);
      packed.push(headings.length > 0 ? current.slice(0, -headings.length) : current);
      current = headings;
      tokens = groupTokens(current, joinTokens);
    }
    current.push(piece);
    tokens =
      current.length === 1
        ? groupTokens(current, joinTokens)
        : tokens + piece.tokens + (piece.continues ? 0 : joinTokens);
  }
  if (current.length > 0) packed.push(current);
  return packed;
}

/** The headings at the end that fit before the next piece; none if nothing would be left before them. */
function trailingHeadings(pieces: readonly Piece[], room: number, joinTokens: number): Piece[] {
  let from = pieces.length;
  let tokens = 0;
  while (from > 0) {
    const piece = pieces[from - 1];
    if (
      piece === undefined ||
      piece.unit.type !== "heading" ||
      piece.continues ||
      tokens + piece.tokens + joinTokens > room
    )
      break;
    tokens += piece.tokens + joinTokens;
    from--;
  }
  return from > 0 ? pieces.slice(from) : [];
}

/** The tokens of joined pieces, including a table's head if they start with one of its rows. */
function groupTokens(pieces: readonly Piece[], joinTokens: number): number {
  return pieces.reduce(
    (sum, piece, index) =>
      sum + piece.tokens + (index === 0 ? (piece.head?.tokens ?? 0) : piece.continues ? 0 : joinTokens),
    0,
  );
}

interface Drawn extends ChunkText {
  /** The offset of each of the `units` in `text`. */
  readonly starts: readonly number[];
}

function draw(pieces: readonly Piece[], joinTokens: number): Drawn {
  const head = pieces[0]?.head;
  let text = head?.text ?? "";
  const units: TextUnit[] = [];
  const starts: number[] = [];
  let stretches: Stretch[] = [...(head?.stretches ?? [])];
  pieces.forEach((piece, index) => {
    if (index > 0 && !piece.continues) {
      const trimmed = text.trimEnd();
      if (trimmed !== text) stretches = sliceStretches(stretches, { start: 0, end: trimmed.length });
      text = trimmed + UNIT_SEPARATOR;
    }
    if (units.at(-1) !== piece.unit) {
      units.push(piece.unit);
      starts.push(text.length);
    }
    const { unit, start, text: added } = piece;
    addStretch(stretches, {
      unit,
      from: start,
      to: start + added.length,
      at: text.length,
      isRepeated: false,
    });
    text += added;
  });
  return {
    text: text.trimEnd(),
    tokens: groupTokens(pieces, joinTokens),
    units,
    starts,
    stretches,
  };
}

interface OverlapInput {
  readonly options: ChunkOptions;
  readonly tokenizer: Tokenizer;
  readonly joinTokens: number;
}

/** The chunk after the last tokens of the one before, which begin with a whole word. */
function withOverlap(before: Drawn, drawn: Drawn, input: OverlapInput): Drawn {
  const offsets = input.tokenizer.tokenOffsets(before.text);
  let token = Math.max(0, offsets.length - input.options.overlapTokens);
  while (token < offsets.length && cutsWord(before.text, offsets[token]?.[0] ?? 0)) token++;
  const start = offsets[token]?.[0];
  if (start === undefined) return drawn;
  const prefix = `${before.text.slice(start)}${UNIT_SEPARATOR}`;
  const repeated = before.units.filter((_, index) => (before.starts[index + 1] ?? Infinity) > start);
  const { text, stretches } = drawn;
  return {
    text: prefix + text,
    tokens: offsets.length - token + input.joinTokens + drawn.tokens,
    units: [...repeated, ...drawn.units],
    starts: [],
    stretches: [
      ...sliceStretches(before.stretches, { start, end: before.text.length }),
      ...sliceStretches(stretches, { start: 0, end: text.length, shift: prefix.length }),
    ],
  };
}

function finish(drawn: Drawn, language: string | undefined): Chunk {
  const text = drawn.text.replace(/^\s*\n/, "");
  const start = drawn.text.length - text.length;
  const stretches = sliceStretches(drawn.stretches, { start, end: drawn.text.length });
  return makeChunk({ ...drawn, text, stretches }, language);
}
