/** Tells which cells of a sheet are merged with others. */

import type { Range } from "@e965/xlsx";

export interface SheetMerges {
  /** The cells of a row that are merged with the first one of an area, which is in the row `top`. */
  below(row: number): readonly { readonly column: number; readonly top: number }[];
  /** The areas that begin in the row and have several columns. */
  across(row: number): readonly { readonly column: number; readonly columns: number }[];
}

/** Cells of all areas together that are looked at. A sheet with more was made so that this takes long. */
const MAX_MERGED_CELLS = 100_000;

/** Rows and columns are counted from 0. */
export function sheetMerges(ranges: readonly Range[] | undefined): SheetMerges {
  const below = new Map<number, { column: number; top: number }[]>();
  const across = new Map<number, { column: number; columns: number }[]>();
  let left = MAX_MERGED_CELLS;
  for (const { s: start, e: end } of ranges ?? []) {
    left -= end.r - start.r + 1;
    if (left < 0) break;
    for (let row = start.r + 1; row <= end.r; row++) addTo(below, row, { column: start.c, top: start.r });
    if (end.c > start.c) addTo(across, start.r, { column: start.c, columns: end.c - start.c + 1 });
  }
  return { below: (row) => below.get(row) ?? [], across: (row) => across.get(row) ?? [] };
}

function addTo<T>(lists: Map<number, T[]>, key: number, entry: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [entry]);
  else list.push(entry);
}
