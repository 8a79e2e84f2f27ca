/** What a parser is: the only contract between the registry, the parsers and the process that runs them. */

import { open, readFile } from "node:fs/promises";
import { DomainError } from "../domain/errors.ts";
import type { FileType } from "../domain/file-type.ts";
import type { ParsedDocument } from "../domain/text-unit.ts";

export interface ParseInput {
  readonly fileType: FileType;
  /** Exactly one of `path` and `bytes` is given. */
  readonly path?: string | undefined;
  readonly bytes?: Uint8Array | undefined;
  /** First and last page to read, 1-based, both included; a last page past the end is the end. Absent: all. Ignored without pages. */
  readonly pages?: readonly [number, number] | undefined;
  /**
   * Milliseconds after which a parser with pages stops at the next page where it can, and says so in `last_page`; never before it has read one.
   * Absent: it reads on.
   */
  readonly budgetMs?: number | undefined;
  /** The file's own name, where a parser can learn something from it. */
  readonly name?: string | undefined;
  /** Absent where there is no OCR. */
  readonly ocr?: OcrSettings | undefined;
  /** Asks for the format's second parser, where it has one: the first one ended on this file. */
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
  /** How many documents it is inside of. */
  readonly depth: number;
  /** What may still be read inside the outermost document. */
  readonly left: { files: number; bytes: number };
}

export interface Parser {
  readonly name: string;
  /** Parsers that run native code, or code that an input can make slow or large, run in a process of their own. */
  readonly runsIn: "child" | "worker";
  /**
   * Reads a document. Throws `DomainError` empty_file, encrypted, corrupt, too_large, too_complex, no_text or unsupported_file_type; the
   * same input gives the same units.
   */
  parse(input: ParseInput): Promise<ParsedDocument>;
  /** Pages of a document that has some, without reading their text; null where the format has none. Throws as `parse` does. */
  pageCount?(input: ParseInput): Promise<number | null>;
  /** Loads what the first document would otherwise wait for. */
  warmUp?(): Promise<void>;
}

/** Kinds whose pages may be pictures, or that hold files whose pages are: OCR takes seconds for each. */
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
 * Milliseconds after which reading the input is hopeless, whatever the limit for all: a small office file that takes minutes is made to.
 */
export async function patienceMs(input: ParseInput): Promise<number> {
  if (mayNeedOcr(input.fileType)) return Infinity;
  const bytes = await inputSizeBytes(input).catch(() => 0);
  return BASE_MS + (bytes / (1024 * 1024)) * MS_PER_MEBIBYTE;
}

/** The whole input in memory. Throws `empty_file` where there is nothing in it. */
export async function readInput(input: ParseInput): Promise<Buffer> {
  const bytes =
    input.path === undefined ? asBuffer(input.bytes ?? new Uint8Array()) : await readFile(input.path);
  if (bytes.length === 0) throw emptyFile();
  return bytes;
}

/** Bytes of the input without reading it. Throws `empty_file` for none. */
export async function inputSizeBytes(input: ParseInput): Promise<number> {
  const size = input.path === undefined ? (input.bytes?.length ?? 0) : await fileSizeBytes(input.path);
  if (size === 0) throw emptyFile();
  return size;
}

/**
 * Text that Postgres takes: without NUL and without half surrogate pairs, which both end an insert with an error.
 * Everything else is kept as it is; text is not normalised, so that what is cited is what was written.
 */
export function storableText(text: string): string {
  const withoutNul = text.includes("\0") ? text.replaceAll("\0", "") : text;
  return withoutNul.isWellFormed() ? withoutNul : withoutNul.toWellFormed();
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
