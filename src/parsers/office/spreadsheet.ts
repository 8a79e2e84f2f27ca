/**
 * The parser of spreadsheets (XLSX, XLS, ODS): a sheet is a page, its name a heading, each block of rows a
 * table.
 */

import { read, type CellObject, type WorkBook, type WorkSheet } from "@e965/xlsx";
import { DomainError } from "../../domain/errors.ts";
import { MAX_GROWTH } from "../bounded-parser.ts";
import { pipeTables, quoted } from "../text/markdown-format.ts";
import { described, isoDate } from "../metadata.ts";
import { readInput, type Parser } from "../parser.ts";
import { countSourceText, sourceTextSoFar } from "../source-text.ts";
import { harmlessPart } from "./spreadsheet-parts.ts";
import { createUnitWriter, type UnitWriter } from "../unit-writer.ts";
import { openZip } from "../archives/zip-archive.ts";
import { storedZip } from "../archives/zip-stored.ts";

const MAX_CELLS = 2_000_000;
const MAX_COLUMNS = 1_000;

export const spreadsheet: Parser = {
  name: "spreadsheet",
  runsIn: "child",
  async parse(input) {
    const bytes = await readInput(input);
    const isPacked = isArchive(bytes) && input.fileType !== "XLS";
    if (!isPacked) countSourceText(bytes.length);
    const book = openBook(isPacked ? await unpacked(bytes) : bytes);
    const writer = createUnitWriter();
    // Many cells may share a string that is in the file once, so the total is bounded while the text is made.
    const budget = { cells: MAX_CELLS, characters: sourceTextSoFar() * MAX_GROWTH };
    const filled = book.SheetNames.map((name, index) => {
      writer.setPage(index + 1);
      return writeSheet(writer, name, book.Sheets[name], budget);
    });
    if (!filled.includes(true)) throw new DomainError("no_text", "The spreadsheet holds no text.");
    return {
      parser_name: spreadsheet.name,
      units: writer.units,
      page_count: book.SheetNames.length,
      metadata: bookMetadata(book),
      warnings: [],
    };
  },
};

/** Whether the bytes are a zip archive, or the compound file of an Office document with a password. */
function isArchive(bytes: Buffer): boolean {
  return bytes.subarray(0, 2).toString("latin1") === "PK" || bytes[0] === 0xd0;
}

/**
 * Unpacks the parts, without pictures, into an archive without compression: SheetJS itself unpacks without
 * bounds, and some damage sends it into a loop.
 */
async function unpacked(bytes: Buffer): Promise<Buffer> {
  const zip = await openZip(bytes);
  const files: { name: string; bytes: Buffer }[] = [];
  for (const name of zip.names) {
    if (!/(?:\.xml|\.rels|\.bin|\.vml|^mimetype)$/i.test(name)) continue;
    const part = await zip.read(name);
    if (part !== undefined) files.push({ name, bytes: harmlessPart(name, part) });
  }
  return storedZip(files);
}

function openBook(bytes: Buffer): WorkBook {
  try {
    return read(bytes, {
      type: "buffer",
      dense: true,
      cellDates: true,
      UTC: true,
      cellFormula: false,
      cellHTML: false,
      cellStyles: false,
    });
  } catch (error) {
    if (error instanceof Error && /password|encrypt/i.test(error.message))
      throw new DomainError("encrypted", "The spreadsheet is protected by a password.");
    if (error instanceof RangeError) throw error;
    throw new DomainError("corrupt", "The file is not a readable spreadsheet.", { cause: error });
  }
}

/** What may still be written of the workbook. */
interface Budget {
  cells: number;
  characters: number;
}

/** Writes a sheet; false if it has nothing but its name. */
function writeSheet(writer: UnitWriter, name: string, sheet: WorkSheet | undefined, budget: Budget): boolean {
  writer.heading(1, name);
  const before = writer.units.length;
  const comments: string[] = [];
  for (const block of blocks(rowsOf(sheet, comments, budget))) writeBlock(writer, block);
  for (const comment of comments) writer.add("quote", comment);
  return writer.units.length > before;
}

/** The text of each row's cells by column; undefined for a row without text. */
function* rowsOf(
  sheet: WorkSheet | undefined,
  comments: string[],
  budget: Budget,
): Generator<string[] | undefined> {
  const rows: (CellObject | undefined)[][] = sheet?.["!data"] ?? [];
  for (const row of rows) {
    if (budget.characters < 0) return;
    const cells: string[] = [];
    // forEach skips the cells that a sparse row does not have.
    row?.forEach((cell, column) => {
      const text = cell === undefined || column >= MAX_COLUMNS ? "" : cellText(cell);
      budget.characters -= text.length;
      if (text !== "") cells[column] = text;
      for (const comment of cell?.c ?? [])
        if (comment.t) comments.push(quoted(`Comment by ${comment.a || "unknown"}: ${comment.t.trim()}`));
    });
    budget.cells -= cells.length;
    if (budget.cells < 0)
      throw new DomainError("too_large", `The spreadsheet has more than ${MAX_CELLS} cells.`);
    yield cells.length === 0 ? undefined : Array.from(cells, (text) => text ?? "");
  }
}

function cellText(cell: CellObject): string {
  if (cell.v instanceof Date) {
    const iso = isoDate(cell.v) ?? "";
    return iso.endsWith("T00:00:00.000Z")
      ? iso.slice(0, 10)
      : iso.replace("T", " ").replace(/(?::00)?\.000Z$/, "");
  }
  if (cell.t === "e") return cell.w ?? "";
  return (cell.w ?? (cell.v === undefined ? "" : String(cell.v))).trim();
}

/** The blocks of rows between empty rows, without empty columns at their left. */
function* blocks(rows: Iterable<string[] | undefined>): Generator<string[][]> {
  let block: string[][] = [];
  for (const row of rows) {
    if (row !== undefined) block.push(row);
    else if (block.length > 0) {
      yield cropped(block);
      block = [];
    }
  }
  if (block.length > 0) yield cropped(block);
}

function cropped(block: string[][]): string[][] {
  const firstFilled = (row: string[]): number =>
    Math.max(
      row.findIndex((cell) => cell !== ""),
      0,
    );
  const left = block.reduce((least, row) => Math.min(least, firstFilled(row)), MAX_COLUMNS);
  return left === 0 ? block : block.map((row) => row.slice(left));
}

/** Writes a block as a table. Rows of one cell above wider rows are its caption. */
function writeBlock(writer: UnitWriter, block: string[][]): void {
  const filled = (row: string[]): number => row.filter((cell) => cell !== "").length;
  const wide = block.findIndex((row) => filled(row) > 1);
  const captions = wide > 0 ? block.slice(0, wide) : [];
  for (const row of captions) writer.add("paragraph", row.join(" ").trim());
  for (const part of pipeTables(block.slice(captions.length))) writer.add("table", part);
}

function bookMetadata(book: WorkBook): ReturnType<typeof described> {
  const { Title, Author, CreatedDate, ModifiedDate } = book.Props ?? {};
  return described({
    title: Title,
    author: Author,
    language: undefined,
    created_at: isoDate(CreatedDate),
    modified_at: isoDate(ModifiedDate),
  });
}
