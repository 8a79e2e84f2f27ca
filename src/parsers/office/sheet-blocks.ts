/** Divides the rows of a sheet into captions and tables, each with its head. */

import { createCellRepeats, joinedHead, namesColumns } from "../text/merged-cells.ts";
import type { SheetMerges } from "./sheet-merges.ts";

export interface SheetRow {
  /** From 0, as SheetJS has it. */
  readonly index: number;
  /** From 1, as the file has it. */
  readonly number: number;
  readonly cells: readonly string[];
}

/** Rows that follow one another, without the `left` empty columns before them. */
export interface Block {
  readonly left: number;
  readonly rows: readonly SheetRow[];
}

/** A table, whose head has the first `headRows` of its rows. */
export interface SheetTable extends Block {
  readonly head: readonly string[];
  readonly headRows: number;
}

/** The blocks of rows between empty rows, without empty columns at their left. */
export function* blocks(rows: Iterable<SheetRow | undefined>): Generator<Block> {
  let block: SheetRow[] = [];
  for (const row of rows) {
    if (row !== undefined) block.push(row);
    else if (block.length > 0) {
      yield cropped(0, block);
      block = [];
    }
  }
  if (block.length > 0) yield cropped(0, block);
}

function cropped(before: number, rows: readonly SheetRow[]): Block {
  const empty = rows.reduce((least, { cells }) => Math.min(least, Math.max(firstFilled(cells), 0)), Infinity);
  const left = before + empty;
  return empty === 0
    ? { left, rows }
    : { left, rows: rows.map((row) => ({ ...row, cells: row.cells.slice(empty) })) };
}

function firstFilled(cells: readonly string[]): number {
  return cells.findIndex((cell) => cell !== "");
}

function filled(cells: readonly string[]): number {
  return cells.reduce((count, cell) => (cell === "" ? count : count + 1), 0);
}

/** The rows of one cell above wider rows, and the tables below. A block of a single cell is a caption. */
export function captionsAndTables(block: Block): { captions: readonly SheetRow[]; tables: readonly Block[] } {
  const { left, rows } = block;
  const wide = rows.findIndex(({ cells }) => filled(cells) > 1);
  const isCaption = wide < 0 && rows.length === 1;
  const captions = isCaption ? rows : rows.slice(0, Math.max(wide, 0));
  const rest = rows.slice(captions.length);
  return { captions, tables: rest.length === 0 ? [] : sideBySide({ left, rows: rest }) };
}

/** Columns [from, to) of a block that are next to one another, and the first of its rows that has one. */
interface Columns {
  readonly from: number;
  readonly to: number;
  readonly first: number;
}

/** A table begins beside another one if it is so many rows further down. */
const MIN_ROWS_LOWER = 2;

/**
 * The tables of a block, of which one may begin beside and below the head of another. What begins in the same
 * row has a common head, and single columns are notes on the rows before them.
 */
function sideBySide(block: Block): readonly Block[] {
  const areas = filledColumns(block.rows);
  const [leftmost] = areas;
  const starts = areas.filter(
    (area) => leftmost !== undefined && isOwnTable(block.rows, area, leftmost.first),
  );
  const [next] = starts;
  if (next === undefined) return [block];
  const bounds = [0, ...starts.map(({ from }) => from), Infinity];
  return bounds.slice(0, -1).flatMap((from, at) => [...partOf(block, from, bounds[at + 1] ?? Infinity)]);
}

function filledColumns(rows: readonly SheetRow[]): Columns[] {
  const firstRows: number[] = [];
  rows.forEach(({ cells }, row) =>
    cells.forEach((cell, column) => {
      if (cell !== "") firstRows[column] ??= row;
    }),
  );
  const areas: Columns[] = [];
  for (let column = 0; column < firstRows.length; column++) {
    const first = firstRows[column];
    const before = areas.at(-1);
    if (first === undefined) continue;
    if (before?.to === column)
      areas[areas.length - 1] = { ...before, to: column + 1, first: Math.min(before.first, first) };
    else areas.push({ from: column, to: column + 1, first });
  }
  return areas;
}

function isOwnTable(rows: readonly SheetRow[], { from, to, first }: Columns, leftmost: number): boolean {
  const head = rows[first]?.cells.slice(from, to) ?? [];
  const isFull = filled(head) === to - from;
  return to - from > 1 && first >= leftmost + MIN_ROWS_LOWER && first < rows.length - 1 && isFull;
}

/** The columns [from, to) of a block, without rows that are empty there. */
function* partOf({ left, rows }: Block, from: number, to: number): Generator<Block> {
  const inColumns = rows.map((row) => {
    const part = row.cells.slice(from, to);
    const cells = part.slice(0, part.findLastIndex((cell) => cell !== "") + 1);
    return cells.length === 0 ? undefined : { ...row, cells };
  });
  for (const block of blocks(inColumns)) yield { ...block, left: left + from + block.left };
}

/** A block with its head, in which the text of merged cells names each of their columns. */
export function withHead({ left, rows }: Block, merges: SheetMerges): SheetTable {
  const [first, second] = rows;
  if (first === undefined) return { left, rows, head: [], headRows: 0 };
  const spans = merges
    .across(first.index)
    .filter(({ column, columns }) => column >= left && namesColumns(columns, filled(first.cells)));
  const head = [...first.cells];
  const repeats = createCellRepeats();
  for (const { column, columns } of spans) {
    const text = head[column - left] ?? "";
    for (let at = column - left + 1; at < column - left + columns; at++) head[at] ||= repeats.again(text);
  }
  const named = Array.from(head, (text) => text ?? "");
  const isDouble =
    spans.length > 0 &&
    second?.number === first.number + 1 &&
    spans.every(({ column, columns }) =>
      second.cells.slice(column - left, column - left + columns).every(isName),
    );
  return isDouble
    ? { left, rows, head: joinedHead([named, second.cells]), headRows: 2 }
    : { left, rows, head: named, headRows: 1 };
}

/** Whether a cell may name a column: it has a word, or is a year. */
function isName(cell: string): boolean {
  return /\p{L}/u.test(cell) || /^(?:19|20)\d\d$/.test(cell);
}
