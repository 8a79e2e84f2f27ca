/** The parser of CSV and TSV files: one table, cut into parts that each repeat its head. */

import { parse, type Options } from "csv-parse/sync";
import { DomainError } from "../../domain/errors.ts";
import type { Parser } from "../parser.ts";
import { readTextInput } from "./plain.ts";
import { createUnitWriter } from "../unit-writer.ts";

const DELIMITERS = [",", ";", "\t", "|"];
/** The number of lines from which the delimiter is guessed. */
const SAMPLE_LINES = 50;
/** A longer record is the result of a quote that is never closed. */
const MAX_RECORD_CHARS = 1024 * 1024;

export const delimited: Parser = {
  name: "delimited",
  runsIn: "child",
  async parse(input) {
    const text = await readTextInput(input);
    const writer = createUnitWriter();
    const { rows, numbers } = readRows(text, input.fileType === "TSV" ? "\t" : delimiterOf(text));
    writer.addTable(rows, (index, first, last) => {
      const row = numbers?.[index] ?? index + 1;
      return { cells: [first + 1, row, last + 1, row] };
    });
    if (writer.units.length === 0) throw new DomainError("no_text", "The file contains no text.");
    return { parser_name: delimited.name, units: writer.units, page_count: null, metadata: {}, warnings: [] };
  },
};

interface DelimitedRows {
  readonly rows: string[][];
  /** The number of each row, from 1, as a spreadsheet shows the file; absent if it is its index plus 1. */
  readonly numbers?: readonly number[] | undefined;
}

/** Unmatched quotes are read as text, so that a stray one does not swallow the rest of the file. */
function readRows(text: string, delimiter: string): DelimitedRows {
  const options = {
    delimiter,
    bom: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_RECORD_CHARS,
  };
  try {
    return numbered(text, { ...options, relax_quotes: true });
  } catch {
    return numbered(text, { ...options, quote: false, max_record_size: 0 });
  }
}

/** Empty lines are rows of a spreadsheet. They are counted only if there may be some: it takes time. */
function numbered(text: string, options: Options): DelimitedRows {
  if (!EMPTY_LINE.test(text)) return { rows: parse(text, options) };
  const numbers: number[] = [];
  const rows: string[][] = parse(text, {
    ...options,
    on_record(record: string[], { records, empty_lines: empty }) {
      numbers.push(records + empty);
      return record;
    },
  });
  return { rows, numbers };
}

const EMPTY_LINE = /^[\r\n]|\n\r?\n|\r\r/;

/** The delimiter that gives most of the first lines the same number of cells; a comma if none does. */
function delimiterOf(text: string): string {
  const lines = text
    .slice(0, 64 * 1024)
    .split(/\r\n|\n|\r/)
    .filter((line) => line.trim() !== "")
    .slice(0, SAMPLE_LINES);
  const scored = DELIMITERS.map((delimiter) => {
    const counts = lines.map((line) => line.replace(/"[^"]*"/g, "").split(delimiter).length);
    const most = counts.toSorted((a, b) => a - b)[Math.floor(counts.length / 2)] ?? 1;
    return { delimiter, score: most < 2 ? 0 : counts.filter((count) => count === most).length };
  });
  return scored.toSorted((a, b) => b.score - a.score)[0]?.delimiter ?? ",";
}
