/** The only place that finds running headers and footers: what stands at the same edge of many pages and says the same. */

import type { TextUnit } from "../../domain/text-unit.ts";
import type { HeadingPath } from "../heading-path.ts";

/** A unit, and the edge of its page that it stands at. */
export interface PlacedUnit {
  readonly unit: TextUnit;
  readonly edge: "top" | "bottom" | undefined;
}

/** Fewer pages say nothing about what repeats. */
const MIN_PAGES = 3;
/** Headers of left and right pages may differ, and chapters begin without one. */
const MIN_SHARE = 0.3;
const MAX_CHARS = 200;

/**
 * Units in order, with those marked that recur, and under the headings that are left. Numbers may differ from page to page, except in
 * headings: `Chapter 1` and `Chapter 2` at the top of pages are no header.
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
      };
    if (unit.type === "heading") return { ...unit, heading_path: path.enter(unit.level ?? 1, unit.text) };
    return { ...unit, heading_path: path.current() };
  });
}

function repeatKey({ unit, edge }: PlacedUnit): string | undefined {
  if (edge === undefined || unit.text.length > MAX_CHARS || unit.type === "table") return undefined;
  return `${edge} ${unit.type === "heading" ? unit.text : unit.text.replace(/\d+|\b[ivxlc]+\b/gi, "#")}`;
}
