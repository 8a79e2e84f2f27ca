/** The only place that writes Markdown blocks: tables, fences and lists, for parsers of other formats. */

/** Rows of one table unit: a longer table is several, each with its head. */
const MAX_TABLE_ROWS = 200;
const MAX_TABLE_CHARS = 32_768;

/** Rows as a pipe table whose first row is its head, since Markdown has no table without one. Empty where no cell has text. */
export function pipeTable(rows: readonly (readonly string[])[]): string {
  const columns = rows.reduce((most, row) => Math.max(most, row.length), 0);
  const [head, ...body] = rows.map((row) => tableRow(row, columns));
  if (head === undefined || rows.every((row) => row.every((cell) => cell.trim() === ""))) return "";
  return [head, `|${" --- |".repeat(columns)}`, ...body].join("\n");
}

/** A table of any length as pipe tables of bounded size, each with the head repeated. */
export function* pipeTables(rows: Iterable<readonly string[]>): Generator<string> {
  let head: readonly string[] | undefined;
  let part: (readonly string[])[] = [];
  let chars = 0;
  for (const row of rows) {
    head ??= row;
    const size = row.reduce((sum, cell) => sum + cell.length + 3, 2);
    if (part.length > 1 && (part.length > MAX_TABLE_ROWS || chars + size > MAX_TABLE_CHARS)) {
      yield pipeTable(part);
      part = [head];
      chars = 0;
    }
    part.push(row);
    chars += size;
  }
  if (part.length > 0) yield pipeTable(part);
}

function tableRow(row: readonly string[], columns: number): string {
  const cells = Array.from({ length: columns }, (_, column) => tableCell(row[column] ?? ""));
  return `| ${cells.join(" | ")} |`;
}

function tableCell(text: string): string {
  return text.replace(/\s+/g, " ").trim().replaceAll("|", "\\|");
}

/** Lines within a fence that none of them closes; empty where all are blank. */
export function fenced(lines: readonly string[], language = ""): string {
  if (lines.every((line) => line.trim() === "")) return "";
  let fence = "```";
  while (lines.some((line) => line.trimStart().startsWith(fence))) fence += "`";
  return [`${fence}${language}`, ...lines, fence].join("\n");
}

/** One item of a list; `level` from 0. Lines after the first are indented under it. */
export function listItem(level: number, marker: string, text: string): string {
  const indent = "  ".repeat(Math.min(Math.max(level, 0), 8));
  const [first = "", ...rest] = text.trim().split("\n");
  return [`${indent}${marker} ${first}`, ...rest.map((line) => `${indent}${" ".repeat(marker.length + 1)}${line}`)].join("\n");
}

/** Every line behind the mark of a quote. */
export function quoted(text: string): string {
  return text
    .trim()
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");
}
