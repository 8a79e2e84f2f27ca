/** Follows the text of units into chunks, so that a chunk knows where its words stand. */

import { packPlaces, type PackedPlaces, placeSlicer, unpackPlaces } from "../domain/locations/packed.ts";
import type { TextUnit } from "../domain/text-unit.ts";

export interface Stretch {
  readonly unit: TextUnit;
  /** Offsets in the unit's text [from, to). */
  readonly from: number;
  readonly to: number;
  /** The offset of its first character in the chunk's text. */
  readonly at: number;
  /** True for what a chunk repeats of a table: its head, and the first cell of a row that is cut. */
  readonly isRepeated: boolean;
}

/** Adds a stretch at the end, or makes the last one longer if it goes on there. */
export function addStretch(stretches: Stretch[], added: Stretch): void {
  const last = stretches.at(-1);
  const goesOn =
    last?.unit === added.unit &&
    last.to === added.from &&
    last.at + last.to - last.from === added.at &&
    last.isRepeated === added.isRepeated;
  if (last !== undefined && goesOn) stretches[stretches.length - 1] = { ...last, to: added.to };
  else stretches.push(added);
}

/** The stretches of the text in [start, end), as offsets in that part plus `shift`. */
export function sliceStretches(
  stretches: readonly Stretch[],
  { start, end, shift = 0 }: { start: number; end: number; shift?: number },
): Stretch[] {
  return stretches.flatMap((stretch) => {
    const { from, to, at } = stretch;
    const first = Math.max(at, start);
    const last = Math.min(at + to - from, end);
    if (first >= last) return [];
    return [{ ...stretch, from: from + first - at, to: from + last - at, at: first - start + shift }];
  });
}

/** UTF-16 offsets of the chunk in the document as Markdown, without repeats; undefined if unknown. */
export function extentOf(stretches: readonly Stretch[]): { start: number; end: number } | undefined {
  const own = stretches.filter((stretch) => !stretch.isRepeated);
  const first = own[0];
  const last = own.at(-1);
  if (first?.unit.start === undefined || last?.unit.start === undefined) return undefined;
  return { start: first.unit.start + first.from, end: last.unit.start + last.to };
}

/**
 * Where the stretches stand in the file. The path that most words of a chunk share is in its metadata
 * already, and therefore left out.
 *
 * @param path the heading path in the chunk's metadata.
 */
export function placesIn(stretches: readonly Stretch[], path: readonly string[]): PackedPlaces | undefined {
  return packPlaces(
    stretches.flatMap(({ unit, from, to, at }) => {
      if (unit.places === undefined) return [];
      const places = slicerOf(unit)({ from, to, shift: at });
      return isEqual(unit.heading_path, path)
        ? places
        : places.map((place) => ({ ...place, spot: { heading_path: unit.heading_path, ...place.spot } }));
    }),
  );
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return one === other || (one.length === other.length && one.every((text, at) => text === other[at]));
}

type Slicer = ReturnType<typeof placeSlicer>;

/** The units of a few chunks, since long units and overlaps are asked for several times in a row. */
const recent = new Map<TextUnit, Slicer>();
const MOST_RECENT = 32;

function slicerOf(unit: TextUnit): Slicer {
  const known = recent.get(unit);
  if (known !== undefined) return known;
  const slicer = placeSlicer(unpackPlaces(unit.places), unit.text);
  if (recent.size >= MOST_RECENT) recent.clear();
  recent.set(unit, slicer);
  return slicer;
}
