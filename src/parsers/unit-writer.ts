/** Collects the units of a structured format: takes text, adds page and heading path. */

import type { Place, Spot } from "../domain/locations/location.ts";
import { packPlaces, slicePlaces, unpackPlaces, type PackedPlaces } from "../domain/locations/packed.ts";
import type { TextUnit, UnitType } from "../domain/text-unit.ts";
import { createHeadingPath } from "./heading-path.ts";
import { storableText } from "./parser.ts";
import { pipeTables, type SpotOfRow } from "./text/markdown-format.ts";

export interface UnitWriter {
  readonly units: TextUnit[];
  setPage(page: number | null): void;
  /** Sets where the units that follow stand; undefined if that is unknown. */
  setSpot(spot: Spot | undefined): void;
  /**
   * Adds a heading; levels outside of 1–6 are clamped. Blank text adds nothing.
   *
   * @param packed The places of a heading that another writer has stored. Default: all of it at the spot.
   */
  heading(level: number, text: string, packed?: PackedPlaces): void;
  /** Blank text adds nothing. */
  add(type: Exclude<UnitType, "heading">, text: string, more?: UnitExtras): void;
  /** Adds rows as pipe tables ({@link pipeTables}). Default of `spotOf`: all rows are at the spot. */
  addTable(rows: Iterable<readonly string[]>, spotOf?: SpotOfRow): void;
}

interface UnitExtras {
  /** Default: false. True for a running header or footer. */
  readonly repeats?: boolean | undefined;
  /** Where stretches of the text stand, with offsets in it as it is given. Default: all of it at the spot. */
  readonly places?: readonly Place[] | undefined;
  /** The places of a text that another writer has stored. Default: `places`. */
  readonly packed?: PackedPlaces | undefined;
}

export function createUnitWriter(): UnitWriter {
  const units: TextUnit[] = [];
  const path = createHeadingPath();
  let page: number | null = null;
  let spot: Spot | undefined;

  const add: UnitWriter["add"] = (type, text, { repeats = false, places, packed } = {}) => {
    const stored = trimBlankLines(storableText(text));
    if (stored.trim() === "") return;
    units.push({
      type,
      text: stored,
      page,
      heading_path: path.current(),
      ...(repeats ? { repeats } : {}),
      ...withPlaces(
        placesOf(text, stored, { places, packed }) ??
          (places === undefined ? wholePlace(stored, spot) : undefined),
      ),
    });
  };
  return {
    units,
    add,
    addTable(rows, spotOf) {
      for (const { text, places } of pipeTables(rows, spotOf)) add("table", text, { places });
    },
    setSpot(next) {
      spot = next;
    },
    setPage(next) {
      page = next;
    },
    heading(level, text, packed) {
      const line = storableText(text).replace(/\s+/g, " ").trim();
      const bounded = Math.min(Math.max(level, 1), 6);
      if (line !== "")
        units.push({
          type: "heading",
          text: line,
          page,
          heading_path: path.enter(bounded, line),
          level: bounded,
          ...withPlaces(packed === undefined || line !== text ? wholePlace(line, spot) : packed),
        });
    },
  };
}

/** The places of `given` as those of `stored`, which is a part of it without the characters NUL. */
function placesOf(
  given: string,
  stored: string,
  { places, packed }: Pick<UnitExtras, "places" | "packed">,
): PackedPlaces | undefined {
  if (given === stored) return packed ?? packPlaces(places ?? []);
  const found = packed === undefined ? places : unpackPlaces(packed);
  if (found === undefined) return undefined;
  const storable = storableText(given);
  const kept = storable.length === given.length ? found : withoutNuls(given, found);
  const from = Math.max(storable.indexOf(stored), 0);
  return packPlaces(slicePlaces(kept, storable, { from, to: from + stored.length }));
}

/** The places with their offsets in the text after its characters NUL were removed. */
function withoutNuls(text: string, places: readonly Place[]): Place[] {
  let counted = 0;
  let nuls = 0;
  const shifted = (offset: number): number => {
    nuls += text.slice(counted, offset).split("\0").length - 1;
    counted = offset;
    return offset - nuls;
  };
  return places
    .map(({ from, to, spot }) => ({ from: shifted(from), to: shifted(to), spot }))
    .filter(({ from, to }) => to > from);
}

function wholePlace(text: string, spot: Spot | undefined): PackedPlaces | undefined {
  return spot === undefined ? undefined : packPlaces([{ from: 0, to: text.length, spot }]);
}

function withPlaces(places: PackedPlaces | undefined): { places?: PackedPlaces } {
  return places === undefined ? {} : { places };
}

function trimBlankLines(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, "").trimEnd();
}
