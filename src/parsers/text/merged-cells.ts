/** Repeats the text of merged cells, so that a row read alone has its label, and each column its name. */

/** Longer texts are no labels. */
const MAX_LABEL_CHARS = 200;
/** Characters that may always be repeated. */
const MIN_REPEATED_CHARS = 1_000;

export interface CellRepeats {
  /** Counts the text of a cell: what is repeated is together no longer than what was counted. */
  count(text: string): void;
  /** The text once more; empty if it is too long. */
  again(text: string): string;
}

export function createCellRepeats(): CellRepeats {
  let left = MIN_REPEATED_CHARS;
  return {
    count(text) {
      left += text.length;
    },
    again(text) {
      if (text.length > MAX_LABEL_CHARS || text.length > left) return "";
      left -= text.length;
      return text;
    },
  };
}

/** A cell over more columns, or over all of them, is a title and names none. */
const MAX_NAMED_COLUMNS = 20;

/** Whether a cell of the head that spans `span` columns names each of them. */
export function namesColumns(span: number, cellsOfRow: number): boolean {
  return cellsOfRow > 1 && span <= MAX_NAMED_COLUMNS;
}

/** A head of more rows is a table of its own. */
const MAX_HEAD_ROWS = 4;

/** The number of rows at the start of a table that are its head, at least 1. */
export function headRowsOf<T>(rows: readonly T[], isHead: (row: T) => boolean): number {
  const end = rows.findIndex((row) => !isHead(row));
  return end < 1 || end > MAX_HEAD_ROWS ? 1 : end;
}

/** The rows of a head as one: for each column its texts from top to bottom, equal ones once. */
export function joinedHead(rows: readonly (readonly string[])[]): string[] {
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
  return Array.from({ length: width }, (_, column) =>
    [...new Set(rows.map((row) => row[column] ?? ""))].filter((text) => text !== "").join(" "),
  );
}
