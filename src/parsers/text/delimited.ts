/** The parser of CSV and TSV files: one table, cut into parts that each repeat its head. */

import { parse } from "csv-parse/sync";
import { DomainError } from "../../domain/errors.ts";
import { pipeTables } from "./markdown-format.ts";
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
    for (const part of pipeTables(readRows(text, input.fileType === "TSV" ? "\t" : delimiterOf(text))))
      writer.add("table", part);
    if (writer.units.length === 0) throw new DomainError("no_text", "The file holds no text.");
    return { parser_name: delimited.name, units: writer.units, page_count: null, metadata: {}, warnings: [] };
  },
};

/**
 * If quotes do not match, they are read as text, so that a stray quote does not swallow the rest of the file.
 */
function readRows(text: string, delimiter: string): string[][] {
  const options = {
    delimiter,
    bom: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_RECORD_CHARS,
  };
  try {
    return parse(text, { ...options, relax_quotes: true });
  } catch {
    return parse(text, { ...options, quote: false, max_record_size: 0 });
  }
}

/**
 * The delimiter for which most of the first lines have the same number of cells; a comma if there is none.
 */
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
