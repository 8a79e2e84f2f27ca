/** Writes Markdown blocks (tables, fenced code, lists, quotes) for parsers of other formats. */

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
/**
 * With more empty cells for each filled one, a table is only spread out, and its empty cells are left out.
 */
const MAX_EMPTY_SHARE = 8;
const MIN_EMPTY_CELLS = 1_000;

type Row = readonly string[];

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
  const columns = rows.reduce((most, row) => Math.max(most, row.length), 0);
  const [head, ...body] = rows;
  if (head === undefined || rows.every((row) => row.every((cell) => cell.trim() === ""))) return "";
  const chars = rows.reduce((sum, row) => sum + row.reduce((length, cell) => length + cell.length, 0), 0);
  const missing = body.reduce((sum, row) => sum + columns - row.length, 0);
  const least = missing * EMPTY_CELL_CHARS <= chars + MIN_PADDING_CHARS ? columns : 1;
  return [
    tableRow(head, columns),
    `|${" --- |".repeat(columns)}`,
    ...body.map((row) => tableRow(row, least)),
  ].join("\n");
}

/** A table of any length and width as pipe tables of bounded size, each with its part of the head. */
export function* pipeTables(rows: Iterable<Row>): Generator<string> {
  const all = withoutGaps([...rows]);
  const first = all[0] ?? [];
  const isHead = first.every((cell) => cell.length <= MAX_HEAD_CELL_CHARS);
  const head = isHead ? first : [];
  let body = isHead ? all.slice(1) : all;
  const width = all.reduce((most, row) => Math.max(most, row.length), 0);
  let from = 0;
  while (from < width) {
    const end = columnsEnd(head, from, width);
    const columns = (row: Row): Row => (from === 0 && end >= row.length ? row : row.slice(from, end));
    // A single row of thousands of cells needs no line of dashes, which would double its length.
    if (body.length > 0 || end === width) yield* longTable(columns(head), body.map(columns));
    else yield tableRow(columns(head), 1);
    body = body.filter((row) => row.length > end);
    from = end;
  }
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
function withoutGaps(rows: readonly Row[]): readonly Row[] {
  let filled = 0;
  let empty = 0;
  for (const row of rows) {
    const words = row.reduce((count, cell) => (cell === "" ? count : count + 1), 0);
    filled += words;
    empty += row.length - words;
  }
  if (empty <= MIN_EMPTY_CELLS + filled * MAX_EMPTY_SHARE) return rows;
  return rows.map((row) => row.filter((cell) => cell !== "")).filter((row) => row.length > 0);
}

function* longTable(head: Row, body: readonly Row[]): Generator<string> {
  const headChars = head.reduce((sum, cell) => sum + cell.length + HEAD_CELL_MARKS, 0);
  let part: Row[] = [head];
  let chars = 0;
  for (const row of body) {
    const size = row.reduce((sum, cell) => sum + cell.length + EMPTY_CELL_CHARS, 2);
    const isLong = part.length > MAX_TABLE_ROWS && chars > headChars * 2;
    if (part.length > 1 && (isLong || chars + size > MAX_TABLE_CHARS)) {
      yield pipeTable(part);
      part = [head];
      chars = 0;
    }
    part.push(row);
    chars += size;
  }
  yield pipeTable(part);
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
