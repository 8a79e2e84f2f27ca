/** Removes from the parts of a spreadsheet what SheetJS would expand without bounds. */

/** A number format beyond Excel's own limit of 255 characters, which is copied to each cell that has it. */
const LONG_FORMAT = /(formatCode=)("[^"]{256,}"|'[^']{256,}')/g;
/** SheetJS visits each cell of a range that is a link; the addresses of links are not text. */
const LINK = /<(?:\w+:)?hyperlink\b[^<>]*>/g;

/** How the cells that SheetJS reads differ from those of the file, since repeat counts were bounded. */
export interface SheetGaps {
  /** The number of `rows` that were left out before the row of this index, in ascending order. */
  readonly gaps: { readonly before: number; readonly rows: number }[];
  /** False if cells were left out between others. */
  hasTrueColumns: boolean;
}

/**
 * The part as SheetJS may read it; the same buffer if nothing in it is dangerous.
 * @param sheets Gets the gaps of each sheet of an OpenDocument file.
 */
export function harmlessPart(name: string, part: Buffer, sheets: SheetGaps[]): Buffer {
  if (/styles\.xml$/i.test(name)) return replaced(part, (text) => text.replace(LONG_FORMAT, '$1"General"'));
  if (/^content\.xml$/i.test(name)) return replaced(part, (text) => withBoundedRepeats(text, sheets));
  return /worksheets\/[^/]*\.xml$/i.test(name) && part.includes("hyperlink")
    ? replaced(part, (text) => text.replace(LINK, ""))
    : part;
}

/** Replaces text as Latin-1, which keeps all other bytes as they are. */
function replaced(part: Buffer, replace: (text: string) => string): Buffer {
  const text = part.toString("latin1");
  const other = replace(text);
  return other === text ? part : Buffer.from(other, "latin1");
}

const TABLE_ROW_OR_CELL = /<(?:\w+:)?table(-row|-cell)?(?=[\s/>])[^<>]*>/g;
const REPEATED = /(number-(?:rows|columns)-repeated\s*=\s*["'])(\d+)/;
/** Cells of all sheets that come from repeat counts. */
const MAX_REPEATED_CELLS = 500_000;
const MAX_REPEATED_ROWS = 500;

/**
 * Bounds the repeat counts with which OpenDocument stores equal rows and cells. Empty cells, which fill a
 * sheet up to its edge, cost nothing and keep their count, since it decides the column of the next cell.
 */
function withBoundedRepeats(xml: string, sheets: SheetGaps[]): string {
  const reading: Repeats = { left: MAX_REPEATED_CELLS, rows: 1, row: 0, sheet: undefined };
  return xml.replace(TABLE_ROW_OR_CELL, (tag: string, kind: string | undefined) => {
    const isEmpty = tag.endsWith("/>");
    if (kind === undefined) {
      reading.row = 0;
      reading.sheet = { gaps: [], hasTrueColumns: true };
      if (!isEmpty) sheets.push(reading.sheet);
      return tag;
    }
    const count = Number(REPEATED.exec(tag)?.[2] ?? 1);
    if (kind === "-cell" && isEmpty && !tag.includes("value")) return tag;
    const allowed = kind === "-row" ? allowedRows(reading, count, isEmpty) : allowedCells(reading, count);
    return allowed === count ? tag : tag.replace(REPEATED, (_, name: string) => `${name}${allowed}`);
  });
}

interface Repeats {
  /** The number of cells that repeat counts may still add. */
  left: number;
  /** How often the current row is repeated. */
  rows: number;
  /** The index of the next row as SheetJS counts them. */
  row: number;
  sheet: SheetGaps | undefined;
}

function allowedRows(reading: Repeats, count: number, isEmpty: boolean): number {
  reading.rows = Math.min(count, reading.left > 0 ? MAX_REPEATED_ROWS : 1);
  // SheetJS does not count a row without cells.
  const counted = isEmpty ? 0 : reading.rows;
  reading.row += counted;
  if (counted < count) reading.sheet?.gaps.push({ before: reading.row, rows: count - counted });
  return reading.rows;
}

function allowedCells(reading: Repeats, count: number): number {
  const allowed = Math.max(1, Math.min(count, Math.floor(reading.left / reading.rows)));
  reading.left -= allowed * reading.rows;
  if (allowed < count && reading.sheet !== undefined) reading.sheet.hasTrueColumns = false;
  return allowed;
}

/** Gives the number of a row, from 1, by its index in what SheetJS has read; indexes ascend. */
export function rowNumbers(sheet: SheetGaps | undefined): (index: number) => number {
  const gaps = sheet?.gaps ?? [];
  let next = 0;
  let skipped = 0;
  return (index) => {
    for (let gap = gaps[next]; gap !== undefined && gap.before <= index; gap = gaps[++next])
      skipped += gap.rows;
    return index + skipped + 1;
  };
}
