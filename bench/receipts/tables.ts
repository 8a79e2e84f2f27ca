/** Compares the tables of PDFs with those of the same document in its source format, cell by cell. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FileType } from "../../src/domain/file-type.ts";
import { parserFor } from "../../src/parsers/index.ts";
import { readWords } from "./reader.ts";
import { say } from "../report.ts";

const SOURCES: readonly (readonly [string, FileType])[] = [
  [".md", "MARKDOWN"],
  [".docx", "DOCX"],
  [".xlsx", "XLSX"],
  [".pptx", "PPTX"],
  [".html", "HTML"],
];

interface Cell {
  readonly text: string;
  readonly row: number;
  readonly column: number;
}

/** Cells of all tables and the source's cells that are found in the right row and in the right column. */
interface Compared {
  readonly name: string;
  readonly cells: number;
  readonly right: number;
  /** Cells of the PDF's tables that are in none of the source's: prose that was taken for a table. */
  readonly extra: number;
}

/** A source has the PDF's name with another ending, or with its format instead of `pdf_` before it. */
export async function tables(folder: string, { verbose }: { verbose: boolean }): Promise<void> {
  const files = new Set(await readdir(folder, { recursive: true }));
  const compared: Compared[] = [];
  for (const file of [...files].filter((name) => name.endsWith(".pdf")).toSorted()) {
    const source = SOURCES.flatMap(([ending, type]) => {
      const stem = file.slice(0, -".pdf".length);
      const path = [`${stem}${ending}`, `${stem.replace("/pdf_", `/${ending.slice(1)}_`)}${ending}`].find(
        (name) => files.has(name),
      );
      return path === undefined ? [] : [{ path: join(folder, path), type }];
    })[0];
    if (source === undefined) continue;
    const [ours, theirs] = await Promise.all([
      tablesOf(join(folder, file), "PDF"),
      tablesOf(source.path, source.type),
    ]);
    if (theirs.length > 0 && (await isSame(join(folder, file), theirs)))
      compared.push(compare(file, ours, theirs));
  }
  const sum = (field: "cells" | "right" | "extra"): number =>
    compared.reduce((total, entry) => total + entry[field], 0);
  const share = ((sum("right") / Math.max(sum("cells"), 1)) * 100).toFixed(1);
  say(
    `${compared.length} PDFs with tables and their source: ${sum("right")} of ${sum("cells")} cells (${share} %) ` +
      `in the right row and column; ${sum("extra")} cells that the source does not have`,
  );
  if (verbose)
    for (const { name, cells, right, extra } of compared) say(`${name}: ${right} of ${cells}, ${extra} more`);
}

async function tablesOf(path: string, fileType: FileType): Promise<Cell[][]> {
  const bytes = await readFile(path);
  const parsed = await parserFor(fileType)
    .parse({ fileType, bytes, name: path })
    .catch(() => undefined);
  const units = (parsed?.units ?? []).filter((unit) => unit.type === "table");
  return units.flatMap(({ text }) => runsOfRows(text.split("\n"))).map(cellsOf);
}

/**
 * Files of the same name may be of another text: at least half of the source's cells are words of the PDF.
 */
async function isSame(path: string, source: readonly Cell[][]): Promise<boolean> {
  const words = new Set((await readWords(await readFile(path)).catch(() => [])).map(({ text }) => text));
  const cells = source.flat();
  const known = cells.filter(({ text }) => text.split(" ").every((word) => words.has(word)));
  return known.length * 2 >= cells.length;
}

/** In Markdown a table may follow another without a blank line. */
function runsOfRows(lines: readonly string[]): string[][] {
  const runs: string[][] = [[]];
  for (const line of lines)
    if (line.startsWith("|")) runs.at(-1)!.push(line);
    else runs.push([]);
  return runs.filter((rows) => rows.length > 0);
}

const DELIMITERS = /^[|\s:-]*---[|\s:-]*$/;

function cellsOf(lines: readonly string[]): Cell[] {
  return lines.flatMap((line, row) =>
    DELIMITERS.test(line)
      ? []
      : line
          .split(/(?<!\\)\|/)
          .slice(1, -1)
          .map((cell, column) => ({ text: cell.replace(/\s+/g, " ").trim(), row, column }))
          .filter((cell) => cell.text !== ""),
  );
}

/** A cell is right if at least half of the cells of its row, and of its column, share these with it. */
function compare(name: string, ours: readonly Cell[][], theirs: readonly Cell[][]): Compared {
  let right = 0;
  for (const table of theirs)
    for (const cell of table) {
      const row = mates(table, cell, "row");
      const column = mates(table, cell, "column");
      const isRight = ours.some((own) =>
        own
          .filter(({ text }) => text === cell.text)
          .some(
            (same) =>
              holdsHalf(mates(own, same, "row"), row) && holdsHalf(mates(own, same, "column"), column),
          ),
      );
      if (isRight) right++;
    }
  const known = new Set(theirs.flat().map(({ text }) => text));
  const extra = ours.flat().filter(({ text }) => !known.has(text)).length;
  return { name, cells: theirs.flat().length, right, extra };
}

function mates(table: readonly Cell[], cell: Cell, side: "row" | "column"): string[] {
  return table.filter((other) => other !== cell && other[side] === cell[side]).map(({ text }) => text);
}

function holdsHalf(own: readonly string[], source: readonly string[]): boolean {
  return source.filter((text) => own.includes(text)).length * 2 >= source.length;
}
