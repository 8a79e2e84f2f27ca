/** Where text stands in the file that it was read from, as callers see it and as parsers know it. */

/** Left, top, right and bottom in fractions of the page as shown, from its upper left corner: 0 to 1. */
export type Box = readonly [x0: number, y0: number, x1: number, y1: number];

/** What all words of a stretch of text share. Every field is absent if it is unknown: nothing is guessed. */
export interface Context {
  /** Of a PDF or a picture, from 1. */
  readonly page?: number;
  /** Of a presentation, from 1. */
  readonly slide?: number;
  readonly shape?: string;
  readonly sheet?: string;
  /** The headings above it, outermost first. */
  readonly heading_path?: readonly string[];
  /** The element of the file, by its name and its place among those of its name, from 1: `p[12]`. */
  readonly element?: string;
  /** Which part of a mail, an archive or a book: `attachment 2: report.docx`, `chapter-3.xhtml`. */
  readonly part?: string;
}

/** Where one stretch of text stands; at most one of `box`, `cells` and `lines`. */
export interface Spot extends Context {
  readonly box?: Box;
  /** First column, first row, last column and last row, from 1. */
  readonly cells?: readonly [number, number, number, number];
  /** The first and the last line of the file, from 1. */
  readonly lines?: readonly [number, number];
}

/** A stretch of a text and where it is in the file. Places are in the order of `from` without overlaps. */
export interface Place {
  /** UTF-16 offsets [from, to) in the text of a unit or a chunk. */
  readonly from: number;
  readonly to: number;
  readonly spot: Spot;
}

/** What the API answers: words that share their context are one location. */
export interface Location extends Context {
  /** A box for each line of text. */
  readonly boxes?: readonly Box[];
  /** Of cells, as spreadsheets write it: `B2:D5`. */
  readonly range?: string;
  readonly lines?: readonly [number, number];
}

const CONTEXT_FIELDS = ["page", "slide", "shape", "sheet", "heading_path", "element", "part"] as const;

export function contextOf(spot: Spot): Context {
  const context: Record<string, unknown> = {};
  for (const field of CONTEXT_FIELDS) if (spot[field] !== undefined) context[field] = spot[field];
  return context;
}

/**
 * The locations of the words in [from, to), in the text's order. Boxes of one page follow one another, lines
 * become one stretch, and so do cells of rows that touch: a head that is repeated before far rows has a range
 * of its own. Places that only differ by their element keep a location each.
 */
export function locationsOf(places: readonly Place[], from = 0, to = Infinity): Location[] {
  const locations: Location[] = [];
  let group: Spot[] = [];
  for (const { from: start, to: end, spot } of places) {
    if (end <= from || start >= to) continue;
    const before = group.at(-1);
    if (before !== undefined && haveEqualContext(before, spot) && touches(before.cells, spot.cells))
      group.push(spot);
    else {
      if (before !== undefined) locations.push(locationOf(before, group));
      group = [spot];
    }
  }
  const last = group.at(-1);
  if (last !== undefined) locations.push(locationOf(last, group));
  return locations;
}

function haveEqualContext(one: Spot, other: Spot): boolean {
  return (
    one.page === other.page &&
    one.element === other.element &&
    one.slide === other.slide &&
    one.shape === other.shape &&
    one.sheet === other.sheet &&
    one.part === other.part &&
    (one.heading_path === other.heading_path ||
      JSON.stringify(one.heading_path) === JSON.stringify(other.heading_path))
  );
}

/** True also if one of them has no cells. */
function touches(before: Spot["cells"], next: Spot["cells"]): boolean {
  if (before === undefined || next === undefined) return true;
  return next[1] <= before[3] + 1 && next[3] >= before[1] - 1;
}

/** @param spots have the context of `one`. */
function locationOf(one: Spot, spots: readonly Spot[]): Location {
  const boxes: Box[] = [];
  let cells: Spot["cells"];
  let lines: Spot["lines"];
  for (const spot of spots) {
    if (spot.box !== undefined) boxes.push(spot.box);
    if (spot.cells !== undefined) cells = cells === undefined ? spot.cells : around(cells, spot.cells);
    if (spot.lines !== undefined)
      lines =
        lines === undefined
          ? spot.lines
          : [Math.min(lines[0], spot.lines[0]), Math.max(lines[1], spot.lines[1])];
  }
  return {
    ...contextOf(one),
    ...(boxes.length === 0 ? {} : { boxes }),
    ...(cells === undefined ? {} : { range: rangeName(cells) }),
    ...(lines === undefined ? {} : { lines }),
  };
}

type Cells = NonNullable<Spot["cells"]>;

function around(one: Cells, other: Cells): Cells {
  return [
    Math.min(one[0], other[0]),
    Math.min(one[1], other[1]),
    Math.max(one[2], other[2]),
    Math.max(one[3], other[3]),
  ];
}

/** A range of cells as spreadsheets write it: `B2:D5`, and `B2` for one cell. */
export function rangeName([left, top, right, bottom]: Cells): string {
  const first = `${columnName(left)}${top}`;
  return left === right && top === bottom ? first : `${first}:${columnName(right)}${bottom}`;
}

/** The letters of a column, from 1: `A`, `Z`, `AA`. */
export function columnName(column: number): string {
  let name = "";
  for (let rest = column; rest > 0; rest = Math.floor((rest - 1) / 26))
    name = String.fromCharCode(65 + ((rest - 1) % 26)) + name;
  return name;
}
