/**
 * Reads tables that liteparse finds. It also takes justified prose for tables, puts rows together, and leaves
 * out rows that differ from the others; the runs of characters on the page tell what is there.
 */

import type { LayoutBlock, LayoutCell } from "@llamaindex/liteparse";
import { pipeTable } from "../../text/markdown-format.ts";
import { unionOf, type Rectangle } from "./frame.ts";
import { runsWithin, type Run } from "./page-runs.ts";
import { storableText } from "../../parser.ts";
import type { Piece } from "./places.ts";
import { median, proseParts, textLines, type Part } from "./prose.ts";

type Row = readonly LayoutCell[];

/** A prose paragraph, or a table and the lines of prose before it. */
export function tableParts(block: LayoutBlock, runs: readonly Run[]): Part[] {
  const rows = squared([...(block.header === undefined ? [] : [block.header]), ...(block.rows ?? [])]);
  const region = block.bbox ?? unionOf(rows.flatMap(rectangles));
  const inside = region === undefined ? [] : runsWithin(runs, region);
  if (rows.length < 2 || isSideways(inside)) return rowsAsText(rows);
  if (!hasGutters(rows)) return inside.length === 0 ? rowsAsText(rows) : proseParts(inside);
  const split = splitRows(rows, inside);
  const body = split.findIndex((row) => !isOneLine(row, inside));
  const [before, table] = body < 1 ? [[], split] : [split.slice(0, body), split.slice(body)];
  if (body < 0 || table.length < 2) return rowsAsText(rows);
  return [...rowsAsText(before), { type: "table", pieces: tablePieces(table) }];
}

function tablePieces(rows: readonly Row[]): Piece[] {
  const lines = pipeTable(rows.map((row) => row.map((cell) => storableText(cell.text)))).split("\n");
  return lines.map((text, index) => {
    const row = rows[index === 0 ? 0 : index - 1] ?? [];
    return index === 1
      ? { text, region: undefined }
      : { text, region: unionOf(rectangles(row)), kind: "row" };
  });
}

function rowsAsText(rows: readonly Row[]): Part[] {
  const pieces = rows
    .map((row): Piece => ({
      kind: "row",
      text: storableText(
        row
          .map((cell) => cell.text.trim())
          .filter((text) => text !== "")
          .join(" "),
      ),
      region: unionOf(rectangles(row)),
    }))
    .filter(({ text }) => text !== "");
  return pieces.length === 0 ? [] : [{ type: "paragraph", pieces }];
}

function squared(rows: readonly Row[]): Row[] {
  const columns = rows.reduce((most, row) => Math.max(most, row.length), 0);
  return rows.map((row) => Array.from({ length: columns }, (_, column) => row[column] ?? { text: "" }));
}

function rectangles(row: Row): Rectangle[] {
  return row.flatMap(({ bbox, text }) => (bbox === undefined || text.trim() === "" ? [] : [bbox]));
}

/** Words beside a diagram's axis are no table. */
function isSideways(runs: readonly Run[]): boolean {
  return runs.filter((run) => !run.isUpright).length > runs.length / 2;
}

/** Of the rows that have both columns, the share between whose cells one vertical line runs. */
const MIN_GUTTER_SHARE = 0.75;

/** In points. */
const MIN_GUTTER = 2;
/** Places of a gutter that are tried: enough for a page, and no page takes minutes. */
const MAX_GUTTERS = 200;

/**
 * True if blank stripes part most columns: the words of justified prose begin and end in each line at another
 * place. A cell without a rectangle is a part of a run that goes on in the next cell.
 */
function hasGutters(rows: readonly Row[]): boolean {
  const columns = rows[0]?.length ?? 0;
  let gutters = 0;
  for (let column = 1; column < columns; column++) {
    const pairs = rows
      .map((row) => row.slice(column - 1, column + 1))
      .filter((pair) => pair.every((cell) => cell.text.trim() !== ""));
    const gaps = pairs.flatMap(([left, right]) =>
      left?.bbox === undefined || right?.bbox === undefined
        ? []
        : [[left.bbox.x + left.bbox.width, right.bbox.x] as const],
    );
    const most = gaps
      .slice(0, MAX_GUTTERS)
      .reduce(
        (best, [at]) =>
          Math.max(best, gaps.filter(([from, to]) => from <= at && at + MIN_GUTTER <= to).length),
        0,
      );
    if (most >= pairs.length * MIN_GUTTER_SHARE) gutters++;
  }
  return columns > 1 && gutters >= (columns - 1) / 2;
}

/** Cells that are nearer to each other than this many times their height are words of one line. */
const WORD_SPACE = 0.6;

/** True for a line of prose that was cut at the columns of the table below it. */
function isOneLine(row: Row, runs: readonly Run[]): boolean {
  const cells = rectangles(row).toSorted((one, other) => one.x - other.x);
  const around = unionOf(cells);
  const isDense = cells.slice(1).every((cell, index) => {
    const before = cells[index]!;
    return cell.x - before.x - before.width < before.height * WORD_SPACE;
  });
  if (around === undefined || cells.length < 2 || !isDense) return false;
  return runsWithin(runs, around).some(
    (run) =>
      cells.filter(({ x, width }) => run.x < x + width / 2 && run.x + run.width > x + width / 2).length > 1,
  );
}

/** The share of rows of one line from which on lines that are as far apart are rows of their own. */
const MIN_SINGLE_SHARE = 0.5;
/** Lines of one cell are nearer to each other than rows. */
const MIN_ROW_DISTANCE = 0.85;

/**
 * Splits rows that are really several: most rows have one line, and each line of these has several cells and
 * is as far from the line before as rows are from each other.
 */
function splitRows(rows: readonly Row[], runs: readonly Run[]): Row[] {
  const lined = rows.map((row) => linesOfRow(row, runs));
  const single = lined.filter((lines) => lines.length === 1);
  if (single.length < rows.length * MIN_SINGLE_SHARE) return [...rows];
  const bottoms = lined.map((lines) => bottomOf(lines.at(-1)));
  const pitch = median(
    lined
      .slice(1)
      .map((lines, index) => bottomOf(lines[0]) - (bottoms[index] ?? 0))
      .filter((gap) => gap > 0),
  );
  return rows.flatMap((row, index) => {
    const lines = lined[index]!;
    const areRows = lines.every(
      (line, at) =>
        rectangles(line).length > 1 &&
        (at === 0 || bottomOf(line) - bottomOf(lines[at - 1]) >= pitch * MIN_ROW_DISTANCE),
    );
    return lines.length > 1 && areRows ? lines : [row];
  });
}

function bottomOf(row: Row | undefined): number {
  const around = unionOf(rectangles(row ?? []));
  return around === undefined ? 0 : around.y + around.height;
}

/** The lines of a row, each with its part of every cell. The row itself if its runs are not its cells'. */
function linesOfRow(row: Row, runs: readonly Run[]): Row[] {
  const around = unionOf(rectangles(row));
  const near = around === undefined ? [] : runsWithin(runs, around);
  const columns = row.map((cell) => (cell.bbox === undefined ? [] : runsWithin(near, cell.bbox)));
  const isWhole = row.every(({ text }, column) => {
    const drawn = columns[column]!.map((run) => run.text).join("");
    return sortedLetters(drawn) === sortedLetters(text.replace(/\s+/g, ""));
  });
  if (!isWhole) return [row];
  return textLines(columns.flat()).map((line) =>
    columns.map((column) => {
      const drawn = line.runs.filter((run) => column.includes(run));
      const bbox = unionOf(drawn);
      return { text: drawn.map((run) => run.words).join(" "), ...(bbox === undefined ? {} : { bbox }) };
    }),
  );
}

function sortedLetters(text: string): string {
  return Array.from(text).toSorted().join("");
}
