/** Gives units the offsets and places that the pipeline and parsers give them. */

import type { Place } from "../../../src/domain/locations/location.ts";
import { packPlaces } from "../../../src/domain/locations/packed.ts";
import { type TextUnit, unitsAsMarkdown } from "../../../src/domain/text-unit.ts";

export interface PlacedWord {
  readonly text: string;
  /** Its offset in the document as Markdown. */
  readonly start: number;
  readonly isInTableHead: boolean;
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
    const bodyStart = unit.type === "table" ? unit.text.split("\n", 2).join("\n").length : 0;
    const places = [...unit.text.matchAll(/\S+/g)].map(({ 0: word, index }): Place => {
      words.push({ text: word, start: start + index, isInTableHead: index < bodyStart });
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
