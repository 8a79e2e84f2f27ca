/** Gives tables back the lines that liteparse takes for a heading or paragraph: they fit the columns. */

import type { LayoutBlock, LayoutCell } from "@llamaindex/liteparse";
import { unionOf, type Rectangle } from "./frame.ts";
import { runsWithin, type Run } from "./page-runs.ts";
import { median, textLines, type Line } from "./prose.ts";

type Cell = LayoutCell & { readonly bbox: Rectangle };
type Row = readonly LayoutCell[];

/** Points by which edges that are meant to be the same may differ. */
const SAME_EDGE = 3;
/** Heights of a line between two cells; words of a line are nearer. */
const CELL_SPACE = 1;
/** In distances between rows: a table's next line is nearer than this. */
const MAX_DISTANCE = 2.2;
/** A head is nearer than another table's last line may be. */
const MAX_HEAD_DISTANCE = 1.7;
/** Columns that have one cell as their head. */
const MAX_SPAN = 2;
/** Rows from which on there are columns that a line can be compared with. */
const MIN_ROWS = 3;

/** The blocks without rules, with lines above and below a table as rows of it. */
export function withNeighbours(all: readonly LayoutBlock[], runs: readonly Run[]): LayoutBlock[] {
  const joined: LayoutBlock[] = [];
  const blocks = all.filter((block) => block.kind !== "rule");
  for (let index = 0; index < blocks.length; index++) {
    const block = blocks[index]!;
    const grid = block.kind === "table" ? gridOf(block) : undefined;
    if (grid === undefined) {
      joined.push(block);
      continue;
    }
    const head = headOf(joined.at(-1), grid, runs);
    if (head !== undefined) joined.pop();
    let rows: readonly Row[] = head === undefined ? grid.rows : [head, ...grid.rows];
    let { columns, bottom } = grid;
    for (; index + 1 < blocks.length; index++) {
      const next = rowsBelow(blocks[index + 1]!, { ...grid, columns, bottom }, runs);
      if (next === undefined) break;
      rows = [...rows, ...next.rows];
      columns = withColumns(columns, next.rows);
      bottom = next.bottom;
    }
    const { header: _, ...rest } = block;
    joined.push(rows === grid.rows ? block : { ...rest, rows: inColumns(rows, columns) });
  }
  return joined;
}

interface Grid {
  readonly rows: readonly Row[];
  readonly columns: readonly Rectangle[];
  /** Points from one row to the next. */
  readonly pitch: number;
  readonly top: number;
  readonly bottom: number;
}

/** Undefined for a table whose columns are not certain. */
function gridOf(block: LayoutBlock): Grid | undefined {
  const rows = [...(block.header === undefined ? [] : [block.header]), ...(block.rows ?? [])];
  const width = rows[0]?.length ?? 0;
  if (rows.length < MIN_ROWS || rows.some((row) => row.length !== width)) return undefined;
  const columns = Array.from({ length: width }, (_, column) =>
    unionOf(rows.slice(1).flatMap((row) => (isCell(row[column]) ? [row[column].bbox] : []))),
  );
  if (!columns.every((column) => column !== undefined)) return undefined;
  if (columns.slice(1).some(({ x }, index) => x < columns[index]!.x + columns[index]!.width))
    return undefined;
  const bottoms = rows.map((row) => unionOf(row.filter(isCell).map(({ bbox }) => bbox))).map(bottomOf);
  const around = unionOf(
    rows
      .flat()
      .filter(isCell)
      .map(({ bbox }) => bbox),
  )!;
  return {
    rows,
    columns,
    pitch: median(bottoms.slice(1).map((bottom, index) => bottom - bottoms[index]!)),
    top: around.y,
    bottom: bottomOf(around),
  };
}

function isCell(cell: LayoutCell | undefined): cell is Cell {
  return cell?.bbox !== undefined && cell.text.trim() !== "";
}

function bottomOf(rectangle: Rectangle | undefined): number {
  return rectangle === undefined ? 0 : rectangle.y + rectangle.height;
}

/** The line right above a table, if it has several cells, each above a column. */
function headOf(block: LayoutBlock | undefined, grid: Grid, runs: readonly Run[]): Row | undefined {
  const [line, ...others] = linesOf(block, runs);
  if (line === undefined || others.length > 0) return undefined;
  const distance = grid.top - line.rectangle.y;
  if (distance < 0 || distance > grid.pitch * MAX_HEAD_DISTANCE) return undefined;
  const cells = cellsOf(line);
  const isAbove = ({ bbox }: Cell): boolean => {
    const below = grid.columns.filter(
      (column) => bbox.x < column.x + column.width && bbox.x + bbox.width > column.x,
    );
    return below.length > 0 && below.length <= MAX_SPAN;
  };
  return cells.length > 1 && cells.every(isAbove) ? cells : undefined;
}

/** All lines of a block that goes on with the table; undefined if one of them does not. */
function rowsBelow(
  block: LayoutBlock,
  grid: Grid,
  runs: readonly Run[],
): { rows: Row[]; bottom: number } | undefined {
  const lines = linesOf(block, runs);
  let { bottom } = grid;
  const rows: Row[] = [];
  for (const line of lines) {
    const cells = cellsOf(line);
    const distance = bottomOf(line.rectangle) - bottom;
    if (cells.length < 2 || distance <= 0 || distance > grid.pitch * MAX_DISTANCE) return undefined;
    if (!cells.every((cell) => fits(cell, grid.columns))) return undefined;
    rows.push(cells);
    bottom = bottomOf(line.rectangle);
  }
  return rows.length === 0 ? undefined : { rows, bottom };
}

function fits({ bbox }: Cell, columns: readonly Rectangle[]): boolean {
  const right = bbox.x + bbox.width;
  const isAligned = columns.some((column) => {
    const left = bbox.x - column.x;
    const end = right - column.x - column.width;
    return [left, end, (left + end) / 2].some((difference) => Math.abs(difference) <= SAME_EDGE);
  });
  return isAligned || columns.every((column) => bbox.x >= column.x + column.width || right <= column.x);
}

function linesOf(block: LayoutBlock | undefined, runs: readonly Run[]): Line[] {
  if (block?.bbox === undefined) return [];
  if (block.kind !== "paragraph" && block.kind !== "heading" && block.kind !== "grid_fallback") return [];
  return textLines(runsWithin(runs, block.bbox).filter((run) => run.isUpright));
}

function cellsOf({ runs }: Line): Cell[] {
  const cells: Cell[] = [];
  for (const run of runs.toSorted((one, other) => one.x - other.x)) {
    const last = cells.at(-1);
    if (last !== undefined && run.x - last.bbox.x - last.bbox.width < run.height * CELL_SPACE)
      cells[cells.length - 1] = { text: `${last.text} ${run.words}`, bbox: unionOf([last.bbox, run])! };
    else cells.push({ text: run.words, bbox: run });
  }
  return cells;
}

/** The columns, and new ones for cells that stand between two of them. */
function withColumns(columns: readonly Rectangle[], rows: readonly Row[]): Rectangle[] {
  const all = [...columns];
  for (const { bbox } of rows.flat().filter(isCell))
    if (all.every(({ x, width }) => bbox.x >= x + width || bbox.x + bbox.width <= x)) all.push(bbox);
  return all.toSorted((one, other) => one.x - other.x);
}

function inColumns(rows: readonly Row[], columns: readonly Rectangle[]): LayoutCell[][] {
  return rows.map((row) => {
    const cells = columns.map((): LayoutCell => ({ text: "" }));
    for (const cell of row) {
      const column = isCell(cell) ? columnOf(cell, columns) : -1;
      const before = cells[column];
      if (!isCell(cell) || before === undefined) continue;
      const bbox = unionOf(before.bbox === undefined ? [cell.bbox] : [before.bbox, cell.bbox])!;
      cells[column] = { text: `${before.text} ${cell.text}`.trim(), bbox };
    }
    return cells;
  });
}

/** The column with the same left edge, or else the first one of which a part is above or below the cell. */
function columnOf({ bbox }: Cell, columns: readonly Rectangle[]): number {
  const same = columns.findIndex((column) => Math.abs(column.x - bbox.x) <= SAME_EDGE);
  if (same >= 0) return same;
  return columns.findIndex((column) => bbox.x < column.x + column.width && bbox.x + bbox.width > column.x);
}
