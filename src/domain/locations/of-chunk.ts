/** The locations of stored chunks and units, as callers see them. */

import { type Location, locationsOf } from "./location.ts";
import { type PackedPlaces, unpackPlaces } from "./packed.ts";

export interface ChunkPlaces {
  /** Null or undefined in what versions before 0.9.0 stored. */
  readonly places?: PackedPlaces | null | undefined;
  /** Its heading path is that of the places which have none of their own. */
  readonly metadata: { readonly heading_path?: readonly string[] | undefined };
}

/** Of the words in [from, to) of the chunk's text; undefined if unknown. */
export function chunkLocations(chunk: ChunkPlaces, from?: number, to?: number): Location[] | undefined {
  return locationsIn(chunk.places, chunk.metadata.heading_path ?? [], from, to);
}

/** Of the words in [from, to) of the unit's text; undefined if unknown. */
export function unitLocations(
  unit: { readonly places?: PackedPlaces | undefined; readonly heading_path: readonly string[] },
  from?: number,
  to?: number,
): Location[] | undefined {
  return locationsIn(unit.places, unit.heading_path, from, to);
}

function locationsIn(
  packed: PackedPlaces | null | undefined,
  path: readonly string[],
  from?: number,
  to?: number,
): Location[] | undefined {
  if (packed === null || packed === undefined) return undefined;
  const contexts = packed.contexts.map(({ heading_path: own = path, ...context }) =>
    own.length === 0 ? context : { ...context, heading_path: own },
  );
  const locations = locationsOf(unpackPlaces({ ...packed, contexts }), from, to).filter(
    (location) => Object.keys(location).length > 0,
  );
  return locations.length === 0 ? undefined : locations;
}
