/** The parser of PDF files: liteparse, or unpdf if liteparse's native part cannot load or fails. */

import type { ParsedPage, ParseResult } from "@llamaindex/liteparse";
import { DomainError } from "../../domain/errors.ts";
import type { ExtractedMetadata, ParsedDocument, ParseWarning } from "../../domain/text-unit.ts";
import { createHeadingPath, type HeadingPath } from "../heading-path.ts";
import {
  isSparse,
  LITEPARSE_CONFIG,
  loadLiteparse,
  MAX_PDF_PAGES,
  pictorialPages,
  recognizePages,
  type LiteParseConstructor,
} from "./liteparse.ts";
import { markRepeats, type PlacedUnit } from "./page-edges.ts";
import { inputSizeBytes, readInput, type ParseInput, type Parser } from "../parser.ts";
import { pdfDateAsIso, xmpMetadata } from "./metadata.ts";
import { withUpright } from "./orientation.ts";
import { pageUnits, type ReadPage } from "./units.ts";
import { inReadingOrder, isRightToLeft } from "./right-to-left.ts";
import { unpdfMetadata, unpdfPageCount, unpdfParse, withDocument } from "./unpdf.ts";

/** Pages in memory at once: as many as a part has, since liteparse reads the file again for each batch. */
const PAGES_PER_BATCH = 50;

export const pdf: Parser = {
  name: "liteparse",
  runsIn: "child",
  async parse(input) {
    const parsed =
      input.fallback === true
        ? await unpdfParse(input)
        : await withFallback(input, liteparseText, unpdfParse);
    assertPageCount(parsed.page_count ?? 0);
    if (parsed.units.length === 0 && input.pages === undefined)
      throw new DomainError("no_text", "The PDF contains no text.");
    return parsed;
  },
  async warmUp() {
    await loadLiteparse();
  },
  async pageCount(input) {
    const pages = await withFallback(input, liteparsePageCount, unpdfPageCount);
    assertPageCount(pages);
    return pages;
  },
};

function assertPageCount(pages: number): void {
  if (pages > MAX_PDF_PAGES)
    throw new DomainError("too_large", `The PDF has ${pages} pages; at most ${MAX_PDF_PAGES} are supported.`);
}

async function withFallback<T>(
  input: ParseInput,
  first: (input: ParseInput, Constructor: LiteParseConstructor) => Promise<T>,
  fallback: (input: ParseInput) => Promise<T>,
): Promise<T> {
  await inputSizeBytes(input);
  const Constructor = await loadLiteparse();
  if (Constructor === undefined) return fallback(input);
  try {
    return await first(input, Constructor);
  } catch (error) {
    if (error instanceof DomainError) throw error;
    if (error instanceof Error && error.message.includes("password"))
      throw new DomainError("encrypted", "The PDF is protected by a password.");
    return fallback(input);
  }
}

/** If liteparse finds no text at all, unpdf may still find some that liteparse takes for hidden. */
async function liteparseText(input: ParseInput, Constructor: LiteParseConstructor): Promise<ParsedDocument> {
  const parsed = await liteparseDocument(input, Constructor);
  if (parsed.units.length > 0 || (await inputSizeBytes(input)) > MAX_REOPENED_BYTES) return parsed;
  const other = await unpdfParse(input).catch(() => parsed);
  return other.units.length > 0 ? other : parsed;
}

async function liteparseDocument(
  input: ParseInput,
  Constructor: LiteParseConstructor,
): Promise<ParsedDocument> {
  const text: PdfText = { path: createHeadingPath(), placed: [], warnings: [], next: input.pages?.[0] ?? 1 };
  let metadata: ExtractedMetadata = {};
  let pageCount = 0;
  let end = Infinity;
  const until = deadline(input);
  for await (const batch of batches(input, Constructor)) {
    if (pageCount === 0) metadata = await documentMetadata(batch, input);
    pageCount = batch.totalPages;
    assertPageCount(pageCount);
    const upright = await withUpright(batch.pages, () => liteparseInput(input), Constructor);
    const ordered = await withReadingOrder(upright, input);
    const read = await withRecognized(ordered, { ...input, until }, Constructor);
    addPages(text, read.pages);
    if (performance.now() > until) end = read.end ?? batch.lastPage;
    if (end < Infinity) break;
  }
  const wanted = Math.min(input.pages?.[1] ?? pageCount, pageCount);
  const last = Math.min(wanted, end);
  if (text.next <= last) text.warnings.push({ pages: [text.next, last], code: "page_unreadable" });
  const units = markRepeats(text.placed, createHeadingPath());
  return {
    parser_name: pdf.name,
    units,
    page_count: pageCount,
    metadata,
    warnings: mergeNeighbours(text.warnings),
    ...(last < wanted ? { last_page: last } : {}),
  };
}

/** The pages, of which those that are written from right to left are read by pdf.js if it can. */
async function withReadingOrder(pages: readonly ReadPage[], input: ParseInput): Promise<readonly ReadPage[]> {
  if (!pages.some(isRightToLeft) || (await inputSizeBytes(input)) > MAX_REOPENED_BYTES) return pages;
  return withDocument(input, async (document) => {
    const ordered: ReadPage[] = [];
    for (const page of pages)
      ordered.push(isRightToLeft(page) ? await inReadingOrder(page, document).catch(() => page) : page);
    return ordered;
  }).catch(() => pages);
}

/** When reading stops, as `performance.now()`: only a caller that asks for pages can ask for the rest. */
function deadline({ pages, budgetMs = Infinity }: ParseInput): number {
  return performance.now() + (pages === undefined ? Infinity : budgetMs);
}

interface PdfText {
  readonly path: HeadingPath;
  readonly placed: PlacedUnit[];
  readonly warnings: ParseWarning[];
  /** The page after the last one that was read. */
  next: number;
}

function addPages(text: PdfText, pages: readonly ReadPage[]): void {
  for (const page of pages) {
    const found = pageUnits(page, text.path);
    for (const unit of found) text.placed.push(unit);
    if (page.pageNum > text.next)
      text.warnings.push({ pages: [text.next, page.pageNum - 1], code: "page_unreadable" });
    if (found.length === 0) text.warnings.push({ pages: [page.pageNum, page.pageNum], code: "no_text" });
    text.next = page.pageNum + 1;
  }
}

interface ReadPages {
  readonly pages: readonly ReadPage[];
  /** The last page for which there was time; undefined if it is the last of the batch. */
  readonly end: number | undefined;
}

/** The pages, of which those with hardly any text are replaced by what OCR reads if it reads more. */
async function withRecognized(
  pages: readonly ReadPage[],
  input: ParseInput & { until: number },
  Constructor: LiteParseConstructor,
): Promise<ReadPages> {
  const sparse = pages.filter(isSparse);
  if (input.ocr === undefined || sparse.length === 0) return { pages, end: undefined };
  const source = await liteparseInput(input);
  const isBlank = (page: ParsedPage): boolean => page.text.trim() === "";
  const written = sparse.filter((page) => !isBlank(page)).map((page) => page.pageNum);
  const toRead = [
    ...sparse.filter(isBlank).map((page) => page.pageNum),
    ...(await pictorialPages(Constructor, source, written)),
  ].toSorted((a, b) => a - b);
  const { recognized, firstLeft } = await recognizePages(Constructor, source, toRead, {
    ocr: input.ocr,
    until: input.until,
  });
  const byNumber = new Map(recognized.map((page) => [page.pageNum, page]));
  const better = pages.map((page) => {
    const read = byNumber.get(page.pageNum);
    return read !== undefined && read.text.trim().length > page.text.trim().length ? read : page;
  });
  if (firstLeft === undefined) return { pages: better, end: undefined };
  return { pages: better.filter((page) => page.pageNum < firstLeft), end: firstLeft - 1 };
}

/** Merges warnings with the same code about adjacent pages. */
function mergeNeighbours(warnings: readonly ParseWarning[]): ParseWarning[] {
  const merged: ParseWarning[] = [];
  for (const warning of warnings) {
    const before = merged.at(-1);
    if (
      before?.pages &&
      warning.pages &&
      before.code === warning.code &&
      before.pages[1] + 1 === warning.pages[0]
    ) {
      merged[merged.length - 1] = { pages: [before.pages[0], warning.pages[1]], code: before.code };
    } else merged.push(warning);
  }
  return merged;
}

async function liteparsePageCount(input: ParseInput, Constructor: LiteParseConstructor): Promise<number> {
  const parser = new Constructor({ ...LITEPARSE_CONFIG, extractBlocks: false, targetPages: "1" });
  return (await parser.parse(await liteparseInput(input))).totalPages;
}

/** All pages or the requested range, {@link PAGES_PER_BATCH} at a time. */
async function* batches(
  input: ParseInput,
  Constructor: LiteParseConstructor,
): AsyncGenerator<ParseResult & { lastPage: number }> {
  const source = await liteparseInput(input);
  if (input.pages === undefined) {
    for await (const batch of new Constructor(LITEPARSE_CONFIG).parseBatches(source, {
      batchSize: PAGES_PER_BATCH,
    })) {
      yield { ...batch.result, totalPages: batch.totalPages, lastPage: batch.totalPages };
    }
    return;
  }
  const [first, last] = input.pages;
  let total = last;
  for (let from = first; from <= Math.min(last, total); from += PAGES_PER_BATCH) {
    const to = Math.min(from + PAGES_PER_BATCH - 1, last);
    const result = await new Constructor({ ...LITEPARSE_CONFIG, targetPages: `${from}-${to}` }).parse(source);
    total = result.totalPages;
    yield { ...result, lastPage: to };
  }
}

/** liteparse tells the kind of a file by its name, and would convert a file that is not called .pdf. */
async function liteparseInput(input: ParseInput): Promise<string | Buffer> {
  return input.path?.toLowerCase().endsWith(".pdf") === true ? input.path : readInput(input);
}

/** Larger files are not opened again by unpdf for a title or text that liteparse does not find. */
const MAX_REOPENED_BYTES = 16 * 1024 * 1024;

/** Metadata of the XMP packet, or else of the older info dictionary, which only unpdf gives. */
async function documentMetadata(result: ParseResult, input: ParseInput): Promise<ExtractedMetadata> {
  const created = pdfDateAsIso(result.docMeta?.creationDate);
  const modified = pdfDateAsIso(result.docMeta?.modDate);
  const xmp = xmpMetadata(result.docMeta?.xmp ?? "");
  const isFirst = (input.pages?.[0] ?? 1) === 1;
  const older =
    isFirst && xmp.title === undefined && (await inputSizeBytes(input)) <= MAX_REOPENED_BYTES
      ? await unpdfMetadata(input)
      : {};
  return {
    ...older,
    ...xmp,
    ...(created === undefined ? {} : { created_at: created }),
    ...(modified === undefined ? {} : { modified_at: modified }),
  };
}
