/** Writes Markdown blocks (tables, fenced code, lists, quotes) for parsers of other formats. */

import type { Place, Spot } from "../../domain/locations/location.ts";

/** Rows of one table: a longer one is cut into several, each with the head. */
const MAX_TABLE_ROWS = 200;
const MAX_TABLE_CHARS = 32_768;
/** Columns of one table: a wider one is cut into several, since its head alone would fill a unit. */
const MAX_TABLE_COLUMNS = 500;
/** Characters of the columns of a head that are repeated together. */
const MAX_HEAD_CHARS = 8_192;
/** A first row with a longer cell is no head, and is not repeated. */
const MAX_HEAD_CELL_CHARS = 4_096;
/** Characters of Markdown for one cell of a head and the dashes under it. */
const HEAD_CELL_MARKS = 9;
/** With more empty cells for each filled one, a table is only spread out: empty cells are left out. */
const MAX_EMPTY_SHARE = 8;
const MIN_EMPTY_CELLS = 1_000;

type Row = readonly string[];

/** Where a row stands in the file, by its index and those of its first and last cells with text. */
export type SpotOfRow = (index: number, first: number, last: number) => Spot | undefined;

/** A block with the places of its lines, for {@link UnitWriter.add}; without places if they are not known. */
export interface PlacedText {
  readonly text: string;
  readonly places: readonly Place[] | undefined;
}

/** A line of a block, or several, and where it stands. */
export interface PlacedLine {
  readonly text: string;
  readonly spot: Spot | undefined;
}

export function placedLines(lines: readonly PlacedLine[]): PlacedText {
  const places: Place[] = [];
  let at = 0;
  for (const { text, spot } of lines) {
    if (spot !== undefined && text !== "") places.push({ from: at, to: at + text.length, spot });
    at += text.length + 1;
  }
  return { text: lines.map(({ text }) => text).join("\n"), places };
}

/** Characters of empty cells that a table may always add. */
const MIN_PADDING_CHARS = 64;
const EMPTY_CELL_CHARS = 3;

/**
 * Rows as a pipe table. The first row becomes the head, since Markdown has no table without one. Shorter rows
 * are filled up unless that adds more than the table's own text; then they stay short, as Markdown allows.
 * Empty if no cell has text.
 *
 * @example pipeTable([["a", "b"], ["1", "2"]]) // "| a | b |\n| --- | --- |\n| 1 | 2 |"
 */
export function pipeTable(rows: readonly Row[]): string {
  return placedTable(rows.map((cells) => ({ cells, spot: undefined }))).text;
}

interface PlacedRow {
  readonly cells: Row;
  readonly spot: Spot | undefined;
}

function placedTable(rows: readonly PlacedRow[]): PlacedText {
  const columns = rows.reduce((most, { cells }) => Math.max(most, cells.length), 0);
  const [head, ...body] = rows;
  if (head === undefined || rows.every(({ cells }) => cells.every((cell) => cell.trim() === "")))
    return { text: "", places: undefined };
  const chars = rows.reduce(
    (sum, { cells }) => sum + cells.reduce((length, cell) => length + cell.length, 0),
    0,
  );
  const missing = body.reduce((sum, { cells }) => sum + columns - cells.length, 0);
  const least = missing * EMPTY_CELL_CHARS <= chars + MIN_PADDING_CHARS ? columns : 1;
  return placedLines([
    { text: tableRow(head.cells, columns), spot: head.spot },
    { text: `|${" --- |".repeat(columns)}`, spot: undefined },
    ...body.map(({ cells, spot }) => ({ text: tableRow(cells, least), spot })),
  ]);
}

/** A row with its index among the rows that were given; without its gaps it keeps the columns it had. */
interface NumberedRow {
  readonly cells: Row;
  readonly index: number;
  readonly columns?: readonly [first: number, last: number];
}

/** A table as pipe tables of bounded size, each with its head. @param spotOf Default: rows have no place. */
export function* pipeTables(rows: Iterable<Row>, spotOf?: SpotOfRow): Generator<PlacedText> {
  for (const table of boundedTables(rows, spotOf))
    yield spotOf === undefined ? { text: table.text, places: undefined } : table;
}

function* boundedTables(rows: Iterable<Row>, spotOf: SpotOfRow | undefined): Generator<PlacedText> {
  const all = withoutGaps(Array.from(rows, (cells, index) => ({ cells, index })));
  const first: NumberedRow = all[0] ?? NO_ROW;
  const isHead = first.cells.every((cell) => cell.length <= MAX_HEAD_CELL_CHARS);
  const head = isHead ? first : NO_ROW;
  let body = isHead ? all.slice(1) : all;
  const width = all.reduce((most, { cells }) => Math.max(most, cells.length), 0);
  let from = 0;
  while (from < width) {
    const end = columnsEnd(head.cells, from, width);
    const columns = (row: NumberedRow): PlacedRow => {
      const cells = from === 0 && end >= row.cells.length ? row.cells : row.cells.slice(from, end);
      return { cells, spot: spotOf === undefined ? undefined : spotOfCells(spotOf, row, cells, from) };
    };
    // A single row of thousands of cells needs no line of dashes, which would double its length.
    if (body.length > 0 || end === width) yield* longTable(columns(head), body.map(columns));
    else {
      const { cells, spot } = columns(head);
      yield placedLines([{ text: tableRow(cells, 1), spot }]);
    }
    body = body.filter(({ cells }) => cells.length > end);
    from = end;
  }
}

const NO_ROW: NumberedRow = { cells: [], index: -1 };

/** Undefined for cells without text. */
function spotOfCells(spotOf: SpotOfRow, row: NumberedRow, cells: Row, from: number): Spot | undefined {
  const first = cells.findIndex((cell) => cell !== "");
  if (first < 0) return undefined;
  if (row.columns !== undefined) return spotOf(row.index, ...row.columns);
  return spotOf(row.index, from + first, from + cells.findLastIndex((cell) => cell !== ""));
}

/** The end of the columns from `from` on whose head may be repeated; at least one column. */
function columnsEnd(head: Row, from: number, width: number): number {
  let end = from;
  let chars = 0;
  while (end < width && end - from < MAX_TABLE_COLUMNS) {
    chars += (head[end]?.length ?? 0) + HEAD_CELL_MARKS;
    if (chars > MAX_HEAD_CHARS && end > from) break;
    end++;
  }
  return end;
}

/** Leaves out the empty cells of a table in which hardly a cell is filled: they would be most of its text. */
function withoutGaps(rows: readonly NumberedRow[]): readonly NumberedRow[] {
  let filled = 0;
  let empty = 0;
  for (const { cells } of rows) {
    const words = cells.reduce((count, cell) => (cell === "" ? count : count + 1), 0);
    filled += words;
    empty += cells.length - words;
  }
  if (empty <= MIN_EMPTY_CELLS + filled * MAX_EMPTY_SHARE) return rows;
  return rows
    .map(({ cells, index }): NumberedRow => ({
      cells: cells.filter((cell) => cell !== ""),
      index,
      columns: [cells.findIndex((cell) => cell !== ""), cells.findLastIndex((cell) => cell !== "")],
    }))
    .filter(({ cells }) => cells.length > 0);
}

function* longTable(head: PlacedRow, body: readonly PlacedRow[]): Generator<PlacedText> {
  const headChars = head.cells.reduce((sum, cell) => sum + cell.length + HEAD_CELL_MARKS, 0);
  let part: PlacedRow[] = [head];
  let chars = 0;
  for (const row of body) {
    const size = row.cells.reduce((sum, cell) => sum + cell.length + EMPTY_CELL_CHARS, 2);
    const isLong = part.length > MAX_TABLE_ROWS && chars > headChars * 2;
    if (part.length > 1 && (isLong || chars + size > MAX_TABLE_CHARS)) {
      yield placedTable(part);
      part = [head];
      chars = 0;
    }
    part.push(row);
    chars += size;
  }
  yield placedTable(part);
}

/** @param columns The least number of cells. */
function tableRow(row: Row, columns: number): string {
  const cells = Array.from({ length: Math.max(columns, row.length) }, (_, column) =>
    tableCell(row[column] ?? ""),
  );
  return `| ${cells.join(" | ")} |`;
}

function tableCell(text: string): string {
  return text.replace(/\s+/g, " ").trim().replaceAll("|", "\\|");
}

/** Lines within a fence that none of them closes; empty if all are blank. */
export function fenced(lines: readonly string[], language = ""): string {
  if (lines.every((line) => line.trim() === "")) return "";
  const longest = lines.reduce((most, line) => Math.max(most, /^\s*(`*)/.exec(line)?.[1]?.length ?? 0), 0);
  const fence = "`".repeat(Math.max(longest + 1, 3));
  return [`${fence}${language}`, ...lines, fence].join("\n");
}

/** The place of the lines inside a fence, which is no part of the file. */
export function placedInFence(block: string, spot: Spot): Place[] {
  const from = block.indexOf("\n") + 1;
  const to = block.lastIndexOf("\n");
  return to > from ? [{ from, to, spot }] : [];
}

/** One item of a list; `level` starts at 0. Lines after the first are indented below it. */
export function listItem(level: number, marker: string, text: string): string {
  const indent = "  ".repeat(Math.min(Math.max(level, 0), 8));
  const [first = "", ...rest] = text.trim().split("\n");
  return [
    `${indent}${marker} ${first}`,
    ...rest.map((line) => `${indent}${" ".repeat(marker.length + 1)}${line}`),
  ].join("\n");
}

/** Every line after the mark of a quote. */
export function quoted(text: string): string {
  return text
    .trim()
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");
}
