/** What the chunks of a table repeat, so that each value has the names of its column and its row. */

import type { TextUnit } from "../domain/text-unit.ts";
import type { Tokenizer } from "./chunk.ts";
import type { Stretch } from "./stretches.ts";

/** Text that is put before a piece of a table if a chunk starts with it. */
export interface Head {
  readonly text: string;
  readonly tokens: number;
  readonly stretches: readonly Stretch[];
}

/** The first `end` characters of the table, which have so many tokens. */
export function columnHead(unit: TextUnit, end: number, tokens: number): Head {
  const stretches = [{ unit, from: 0, to: end, at: 0, isRepeated: true }];
  return { text: unit.text.slice(0, end), tokens, stretches };
}

/** The offset after the row of dashes; 0 if the second line is no such row. */
export function tableHeadEnd(table: string): number {
  const firstEnd = table.indexOf("\n") + 1;
  const secondEnd = table.indexOf("\n", firstEnd) + 1;
  if (firstEnd === 0 || secondEnd === 0) return 0;
  return /^[|:\- \t]+$/.test(table.slice(firstEnd, secondEnd - 1)) ? secondEnd : 0;
}

/** A row that is cut inside: the parts after the first begin with its first cell, in their own column. */
export interface CutRow {
  /** The most tokens that the row adds to the head of its table. */
  readonly tokens: number;
  /** @returns the head of a part; `columns` itself for the first one, which begins where the row does. */
  headAt(start: number): Head;
}

/**
 * @param columns the head of the table.
 * @param room tokens that the row may add to it.
 * @returns undefined if that is too little for its first cell, or the line is no row of cells.
 */
export function cutRow(
  unit: TextUnit,
  { start, end }: { start: number; end: number },
  { columns, room, tokenizer }: { columns: Head; room: number; tokenizer: Tokenizer },
): CutRow | undefined {
  const bars = barsIn(unit.text, start, end);
  const [first, second] = bars;
  if (first === undefined || second === undefined || unit.text.slice(start, first).trim() !== "")
    return undefined;
  const cell = unit.text.slice(first, second + 1);
  const prefix = (barsBefore: number): string =>
    barsBefore < 2 ? "| " : `${cell}${" |".repeat(barsBefore - 2)} `;
  const tokens = tokenizer.countTokens(prefix(bars.length));
  if (tokens > room) return undefined;
  return {
    tokens,
    headAt(at) {
      if (at <= first) return columns;
      const before = bars.filter((bar) => bar < at).length;
      const text = prefix(before);
      const repeated = {
        unit,
        from: first,
        to: second + 1,
        at: columns.text.length,
        isRepeated: true,
      };
      return {
        text: columns.text + text,
        tokens: columns.tokens + tokenizer.countTokens(text),
        stretches: before < 2 ? columns.stretches : [...columns.stretches, repeated],
      };
    },
  };
}

/** The offsets of the bars between cells; those with a backslash before them are text. */
function barsIn(text: string, start: number, end: number): number[] {
  const bars: number[] = [];
  for (let at = start; at < end; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "|") bars.push(at);
  }
  return bars;
}
