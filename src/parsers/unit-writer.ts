/** Collects the units of a structured format: takes text, adds page and heading path. */

import type { Place, Spot } from "../domain/locations/location.ts";
import { packPlaces, slicePlaces, type PackedPlaces } from "../domain/locations/packed.ts";
import type { TextUnit, UnitType } from "../domain/text-unit.ts";
import { createHeadingPath } from "./heading-path.ts";
import { storableText } from "./parser.ts";

export interface UnitWriter {
  readonly units: TextUnit[];
  /** Sets the page of the units that follow; null if they have none. */
  setPage(page: number | null): void;
  /** Sets where the units that follow stand; undefined if that is unknown. */
  setSpot(spot: Spot | undefined): void;
  /** Adds a heading; levels outside of 1–6 are clamped. Blank text adds nothing. */
  heading(level: number, text: string): void;
  /** Blank text adds nothing. */
  add(type: Exclude<UnitType, "heading">, text: string, more?: UnitExtras): void;
}

export interface UnitExtras {
  /** Default: false. True for a running header or footer. */
  readonly repeats?: boolean | undefined;
  /** Where stretches of the text stand, with offsets in it as it is given. Default: all of it at the spot. */
  readonly places?: readonly Place[] | undefined;
}

export function createUnitWriter(): UnitWriter {
  const units: TextUnit[] = [];
  const path = createHeadingPath();
  let page: number | null = null;
  let spot: Spot | undefined;

  const add: UnitWriter["add"] = (type, text, { repeats = false, places } = {}) => {
    const stored = trimBlankLines(storableText(text));
    if (stored.trim() === "") return;
    units.push({
      type,
      text: stored,
      page,
      heading_path: path.current(),
      ...(repeats ? { repeats } : {}),
      ...withPlaces(placesOf(text, stored, places) ?? wholePlace(stored, spot)),
    });
  };
  return {
    units,
    add,
    setSpot(next) {
      spot = next;
    },
    setPage(next) {
      page = next;
    },
    heading(level, text) {
      const line = storableText(text).replace(/\s+/g, " ").trim();
      const bounded = Math.min(Math.max(level, 1), 6);
      if (line !== "")
        units.push({
          type: "heading",
          text: line,
          page,
          heading_path: path.enter(bounded, line),
          level: bounded,
          ...withPlaces(wholePlace(line, spot)),
        });
    },
  };
}

/** Undefined if the places of `given` are not those of `stored`, since characters inside were removed. */
function placesOf(
  given: string,
  stored: string,
  places: readonly Place[] | undefined,
): PackedPlaces | undefined {
  if (places === undefined) return undefined;
  const from = given.indexOf(stored);
  if (from < 0) return undefined;
  return packPlaces(slicePlaces(places, given, { from, to: from + stored.length }));
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
