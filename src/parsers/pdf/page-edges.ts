/** Finds running headers and footers: the same text at the same edge of many pages. */

import type { TextUnit } from "../../domain/text-unit.ts";
import type { HeadingPath } from "../heading-path.ts";

/** A unit and the edge of its page at which it is, if any. */
export interface PlacedUnit {
  readonly unit: TextUnit;
  readonly edge: "top" | "bottom" | undefined;
}

/** Text on fewer pages is not taken for a header or footer. */
const MIN_PAGES = 3;
/** The least share of pages: headers of left and right pages may differ, and chapters may lack one. */
const MIN_SHARE = 0.3;
const MAX_CHARS = 200;

/**
 * The units in order, with running headers and footers marked as `repeats`, and the heading paths without
 * them. Numbers may differ from page to page, except in headings: `Chapter 1` and `Chapter 2` at the top of
 * pages are no header.
 */
export function markRepeats(placed: readonly PlacedUnit[], path: HeadingPath): TextUnit[] {
  const pages = new Set(placed.map(({ unit }) => unit.page)).size;
  const pagesByKey = new Map<string, Set<number | null>>();
  for (const entry of placed) {
    const key = repeatKey(entry);
    if (key !== undefined) pagesByKey.set(key, (pagesByKey.get(key) ?? new Set()).add(entry.unit.page));
  }
  const isRepeated = (entry: PlacedUnit): boolean => {
    const on = pagesByKey.get(repeatKey(entry) ?? "")?.size ?? 0;
    return on >= MIN_PAGES && on >= pages * MIN_SHARE;
  };
  return placed.map((entry) => {
    const { unit } = entry;
    if (isRepeated(entry))
      return {
        type: "paragraph",
        text: unit.text,
        page: unit.page,
        heading_path: path.current(),
        repeats: true,
        ...(unit.places === undefined ? {} : { places: unit.places }),
      };
    if (unit.type === "heading") return { ...unit, heading_path: path.enter(unit.level ?? 1, unit.text) };
    return { ...unit, heading_path: path.current() };
  });
}

function repeatKey({ unit, edge }: PlacedUnit): string | undefined {
  if (edge === undefined || unit.text.length > MAX_CHARS || unit.type === "table") return undefined;
  return `${edge} ${unit.type === "heading" ? unit.text : unit.text.replace(/\d+|\b[ivxlc]+\b/gi, "#")}`;
}
