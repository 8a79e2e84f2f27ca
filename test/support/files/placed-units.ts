/** Gives units the offsets and places that the pipeline and parsers give them. */

import type { Place } from "../../../src/domain/locations/location.ts";
import { packPlaces } from "../../../src/domain/locations/packed.ts";
import { type TextUnit, unitsAsMarkdown } from "../../../src/domain/text-unit.ts";

export interface PlacedWord {
  readonly text: string;
  /** Its offset in the document as Markdown. */
  readonly start: number;
  /** In the head of a table, or the first cell of a row. */
  readonly mayBeRepeated: boolean;
}

/**
 * Each word of the document has a place of its own: the row `n` of the sheet `words` for the n-th word, so
 * that the words of a place can be found again.
 */
export function withPlaces(units: readonly TextUnit[]): { units: TextUnit[]; words: PlacedWord[] } {
  const words: PlacedWord[] = [];
  let length = 0;
  const placed = units.map((unit) => {
    const start = length + unitsAsMarkdown([unit]).length - unit.text.length;
    const end = start + unit.text.length;
    const repeatable = unit.type === "table" ? repeatableIn(unit.text) : [];
    const places = [...unit.text.matchAll(/\S+/g)].map(({ 0: word, index }): Place => {
      words.push({
        text: word,
        start: start + index,
        mayBeRepeated: repeatable.some(([from, to]) => index >= from && index < to),
      });
      const row = words.length;
      return {
        from: index,
        to: index + word.length,
        spot: { sheet: "words", cells: [1, row, 1, row] },
      };
    });
    length = end + 2;
    const packed = packPlaces(places);
    return { ...unit, start, end, ...(packed === undefined ? {} : { places: packed }) };
  });
  return { units: placed, words };
}

function repeatableIn(table: string): (readonly [from: number, to: number])[] {
  const bodyStart = table.split("\n", 2).join("\n").length;
  const firstCells = table.matchAll(/^\|(?:[^\\|]|\\.)*\|/gmu);
  return [
    [0, bodyStart] as const,
    ...[...firstCells].map(({ 0: cell, index }) => [index, index + cell.length] as const),
  ];
}
