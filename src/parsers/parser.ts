/** The contract between the table of parsers, the parsers and the process that runs them. */

import { open, readFile } from "node:fs/promises";
import { DomainError } from "../domain/errors.ts";
import type { FileType } from "../domain/file-type.ts";
import type { ParsedDocument } from "../domain/text-unit.ts";

export interface ParseInput {
  readonly fileType: FileType;
  /** Exactly one of `path` and `bytes` is given. */
  readonly path?: string | undefined;
  readonly bytes?: Uint8Array | undefined;
  /**
   * First and last page to read, 1-based and inclusive; a last page past the end means the end. Absent: all
   * pages. Ignored for formats without pages.
   */
  readonly pages?: readonly [number, number] | undefined;
  /**
   * Milliseconds after which a parser of pages stops at the next page at which it can, and says so in
   * `last_page`; it always reads at least one page. Absent: no limit.
   */
  readonly budgetMs?: number | undefined;
  /** The file's name, if a parser can learn something from it. */
  readonly name?: string | undefined;
  /** Absent if there is no OCR. */
  readonly ocr?: OcrSettings | undefined;
  /** Asks for the format's second parser, if it has one, because the first one crashed on this file. */
  readonly fallback?: boolean | undefined;
  /** Set for a document inside another. */
  readonly nesting?: Nesting | undefined;
}

export interface OcrSettings {
  /** Tesseract's codes, joined by `+`. */
  readonly languages: string;
  readonly dataFolder: string;
}

export interface Nesting {
  readonly depth: number;
  /** What may still be read inside the outermost document; shared by all documents in it. */
  readonly left: { files: number; bytes: number };
}

export interface Parser {
  readonly name: string;
  /** `child`: native code, or code that an input can make slow or large, runs in a parser process. */
  readonly runsIn: "child" | "worker";
  /**
   * Reads a document. The same input gives the same units.
   * @throws DomainError `empty_file`, `encrypted`, `corrupt`, `too_large`, `too_complex`, `no_text` or
   * `unsupported_file_type`.
   */
  parse(input: ParseInput): Promise<ParsedDocument>;
  /** Counts pages without reading their text; null if the format has none. Throws as `parse` does. */
  pageCount?(input: ParseInput): Promise<number | null>;
  /** Loads what the first document would otherwise wait for. */
  warmUp?(): Promise<void>;
}

/** Kinds whose pages may be pictures, or that may contain such files: OCR takes seconds for each page. */
const MAY_NEED_OCR: ReadonlySet<FileType> = new Set<FileType>([
  "PDF",
  "PNG",
  "JPEG",
  "TIFF",
  "ZIP",
  "EML",
  "MSG",
]);

export function mayNeedOcr(fileType: FileType): boolean {
  return MAY_NEED_OCR.has(fileType);
}

const BASE_MS = 60_000;
const MS_PER_MEBIBYTE = 60_000;

/**
 * Milliseconds after which parsing is given up even if the general limit is higher: a small office file that
 * takes minutes was crafted to do so. Infinity if OCR may be needed.
 */
export async function patienceMs(input: ParseInput): Promise<number> {
  if (mayNeedOcr(input.fileType)) return Infinity;
  const bytes = await inputSizeBytes(input).catch(() => 0);
  return BASE_MS + (bytes / (1024 * 1024)) * MS_PER_MEBIBYTE;
}

/** The whole input in memory. Throws `empty_file` if it has no bytes. */
export async function readInput(input: ParseInput): Promise<Buffer> {
  const bytes =
    input.path === undefined ? asBuffer(input.bytes ?? new Uint8Array()) : await readFile(input.path);
  if (bytes.length === 0) throw emptyFile();
  return bytes;
}

/** The input's size in bytes, without reading it. Throws `empty_file` for 0. */
export async function inputSizeBytes(input: ParseInput): Promise<number> {
  const size = input.path === undefined ? (input.bytes?.length ?? 0) : await fileSizeBytes(input.path);
  if (size === 0) throw emptyFile();
  return size;
}

/**
 * Text that Postgres accepts: without NUL and lone surrogates, with which an insert fails. Everything else
 * stays, and nothing is normalised, so that citations match what was written.
 */
export function storableText(text: string): string {
  const withoutNul = text.includes("\0") ? text.replaceAll("\0", "") : text;
  return withoutNul.isWellFormed() ? withoutNul : withoutNul.toWellFormed();
}

/** Characters of a name in a location; what is beyond is left out. */
const MAX_PART_CHARS = 256;
const MAX_SHAPE_CHARS = 128;

export function partName(name: string): string {
  return boundedName(name, MAX_PART_CHARS);
}

/** The name of a shape or sheet as locations have it; undefined if it has none. */
export function shapeName(name: string | undefined): string | undefined {
  const bounded = boundedName(name ?? "", MAX_SHAPE_CHARS);
  return bounded.trim() === "" ? undefined : bounded;
}

function boundedName(name: string, chars: number): string {
  return storableText(name.length > chars ? name.slice(0, chars) : name);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

async function fileSizeBytes(path: string): Promise<number> {
  await using file = await open(path);
  return (await file.stat()).size;
}

function emptyFile(): DomainError {
  return new DomainError("empty_file", "The file is empty.");
}
