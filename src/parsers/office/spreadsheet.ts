/** The parser of spreadsheets (XLSX, XLS, ODS): sheets are pages with headings, blocks of rows tables. */

import { read, type CellObject, type Comment, type WorkBook, type WorkSheet } from "@e965/xlsx";
import { DomainError } from "../../domain/errors.ts";
import type { Spot } from "../../domain/locations/location.ts";
import { MAX_GROWTH } from "../bounded-parser.ts";
import { quoted } from "../text/markdown-format.ts";
import { described, isoDate } from "../metadata.ts";
import { readInput, shapeName, type Parser } from "../parser.ts";
import { countSourceText, sourceTextSoFar } from "../source-text.ts";
import { harmlessPart, rowNumbers, type SheetGaps } from "./spreadsheet-parts.ts";
import { createCellRepeats, type CellRepeats } from "../text/merged-cells.ts";
import { blocks, captionsAndTables, withHead, type Block, type SheetRow } from "./sheet-blocks.ts";
import { sheetMerges, type SheetMerges } from "./sheet-merges.ts";
import { createUnitWriter, type UnitWriter } from "../unit-writer.ts";
import { parseMarkup, elementText } from "../web/markup-tree.ts";
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
    const gaps: SheetGaps[] = [];
    const book = openBook(isPacked ? await unpacked(bytes, gaps) : bytes);
    const writer = createUnitWriter();
    // Many cells may share a string that is in the file once, so the total is bounded while the text is made.
    const budget = { cells: MAX_CELLS, characters: sourceTextSoFar() * MAX_GROWTH };
    const filled = book.SheetNames.map((name, index) => {
      writer.setPage(index + 1);
      const sheet = {
        name: input.fileType === "ODS" ? unescaped(name) : name,
        cells: book.Sheets[name],
        gaps: gaps[index],
      };
      return writeSheet(writer, sheet, budget);
    });
    if (!filled.includes(true)) throw new DomainError("no_text", "The spreadsheet contains no text.");
    return {
      parser_name: spreadsheet.name,
      units: writer.units,
      page_count: book.SheetNames.length,
      metadata: bookMetadata(book),
      warnings: [],
    };
  },
};

/** The name of a sheet of OpenDocument, which SheetJS leaves as it is in the XML. */
function unescaped(name: string): string {
  return name.includes("&") ? elementText(parseMarkup(name, "xml")) : name;
}

/** Whether the bytes are a zip archive, or the compound file of an Office document with a password. */
function isArchive(bytes: Buffer): boolean {
  return bytes.subarray(0, 2).toString("latin1") === "PK" || bytes[0] === 0xd0;
}

/** Unpacks the parts without pictures: SheetJS unpacks without bounds, and some damage makes it loop. */
async function unpacked(bytes: Buffer, gaps: SheetGaps[]): Promise<Buffer> {
  const zip = await openZip(bytes);
  const files: { name: string; bytes: Buffer }[] = [];
  for (const name of zip.names) {
    if (!/(?:\.xml|\.rels|\.bin|\.vml|^mimetype)$/i.test(name)) continue;
    const part = await zip.read(name);
    if (part !== undefined) files.push({ name, bytes: harmlessPart(name, part, gaps) });
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

interface Sheet {
  readonly name: string;
  readonly cells: WorkSheet | undefined;
  readonly gaps: SheetGaps | undefined;
}

/** Writes a sheet; false if it has nothing but its name. */
function writeSheet(writer: UnitWriter, sheet: Sheet, budget: Budget): boolean {
  const context = sheetContext(sheet.name);
  const spotOf: SpotOfCells = (cells) =>
    sheet.gaps?.hasTrueColumns === false ? context : { ...context, cells };
  writer.setSpot(context);
  writer.heading(1, sheet.name);
  const before = writer.units.length;
  const comments: SheetComment[] = [];
  const merges = sheetMerges(sheet.cells?.["!merges"]);
  for (const block of blocks(rowsOf({ ...sheet, merges }, comments, budget)))
    writeBlock(writer, block, { spotOf, merges });
  for (const { text, row, column } of comments) {
    writer.setSpot(spotOf([column, row, column, row]));
    writer.add("quote", text);
  }
  return writer.units.length > before;
}

function sheetContext(name: string): Spot {
  const shown = shapeName(name);
  return shown === undefined ? {} : { sheet: shown };
}

/** The spot of a range: first column, first row, last column and last row, from 1. */
type SpotOfCells = (cells: readonly [number, number, number, number]) => Spot;

interface BlockOptions {
  readonly spotOf: SpotOfCells;
  readonly merges: SheetMerges;
}

interface SheetComment {
  readonly text: string;
  readonly row: number;
  readonly column: number;
}

/** The text of each row's cells by column; undefined for a row without text. */
function* rowsOf(
  { cells: sheet, gaps, merges }: Sheet & { merges: SheetMerges },
  comments: SheetComment[],
  budget: Budget,
): Generator<SheetRow | undefined> {
  const rows: (CellObject | undefined)[][] = sheet?.["!data"] ?? [];
  const numberOf = rowNumbers(gaps);
  const repeats = createCellRepeats();
  for (const [index, row] of rows.entries()) {
    if (budget.characters < 0) return;
    const number = numberOf(index);
    const cells: string[] = [];
    // forEach skips the cells that a sparse row does not have.
    row?.forEach((cell, column) => {
      const text = cell === undefined || column >= MAX_COLUMNS ? "" : cellText(cell);
      budget.characters -= text.length;
      if (text !== "") cells[column] = text;
      repeats.count(text);
      for (const comment of cell?.c ?? [])
        if (comment.t) comments.push({ text: commentText(comment), row: number, column: column + 1 });
    });
    if (cells.length > 0) addMerged(cells, { rows, below: merges.below(index), repeats });
    budget.cells -= cells.length;
    if (budget.cells < 0)
      throw new DomainError("too_large", `The spreadsheet has more than ${MAX_CELLS} cells.`);
    yield cells.length === 0 ? undefined : { index, number, cells: Array.from(cells, (text) => text ?? "") };
  }
}

/** Adds the texts of cells above that reach into the row. */
function addMerged(
  cells: string[],
  from: {
    rows: readonly (readonly (CellObject | undefined)[] | undefined)[];
    below: ReturnType<SheetMerges["below"]>;
    repeats: CellRepeats;
  },
): void {
  for (const { column, top } of from.below) {
    const merged = from.rows[top]?.[column];
    const isEmpty = column < MAX_COLUMNS && cells[column] === undefined;
    if (isEmpty && merged !== undefined) cells[column] = from.repeats.again(cellText(merged));
  }
}

function commentText({ a: author, t: text }: Comment): string {
  return quoted(`Comment by ${author || "unknown"}: ${text.trim()}`);
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

function writeBlock(writer: UnitWriter, block: Block, { spotOf, merges }: BlockOptions): void {
  const { captions, tables } = captionsAndTables(block);
  for (const { number, cells } of captions) {
    const column = block.left + cells.findIndex((cell) => cell !== "") + 1;
    writer.setSpot(spotOf([column, number, column, number]));
    writer.add("paragraph", cells.join(" ").trim());
  }
  for (const table of tables) {
    const { left, rows, head, headRows } = withHead(table, merges);
    writer.addTable([head, ...rows.slice(headRows).map(({ cells }) => cells)], (index, first, last) => {
      const top = index === 0 ? 0 : index + headRows - 1;
      const bottom = index === 0 ? headRows - 1 : top;
      const numbers = [rows[top]?.number ?? 0, rows[bottom]?.number ?? 0] as const;
      return spotOf([left + first + 1, numbers[0], left + last + 1, numbers[1]]);
    });
  }
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
