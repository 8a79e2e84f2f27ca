/** Reads where the text of units stands, for tests. */

import type { Spot } from "../../../src/domain/locations/location.ts";
import { unpackPlaces } from "../../../src/domain/locations/packed.ts";
import type { TextUnit } from "../../../src/domain/text-unit.ts";

/** Each stretch of the units that has a place, with its spot. */
export function placedTexts(units: readonly TextUnit[]): [text: string, spot: Spot][] {
  return units.flatMap((unit) =>
    unpackPlaces(unit.places).map(({ from, to, spot }): [string, Spot] => [unit.text.slice(from, to), spot]),
  );
}

/** The spot of the first stretch that contains the words; undefined if none does. */
export function spotOf(units: readonly TextUnit[], words: string): Spot | undefined {
  return placedTexts(units).find(([text]) => text.includes(words))?.[1];
}
