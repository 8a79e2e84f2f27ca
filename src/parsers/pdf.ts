/** The parser of PDF files: liteparse, and unpdf where liteparse's native part cannot load or gives up on the file. */

import type { LiteParse, LiteParseConfig, ParseResult } from "@llamaindex/liteparse";
import { DomainError } from "../domain/errors.ts";
import type { ExtractedMetadata, ParsedDocument, ParseWarning, TextUnit } from "../domain/text-unit.ts";
import { createHeadingPath } from "./heading-path.ts";
import { inputSizeBytes, readInput, type ParseInput, type Parser } from "./parser.ts";
import { pdfDateAsIso, xmpMetadata } from "./pdf-metadata.ts";
import { pageUnits } from "./pdf-units.ts";
import { unpdfPageCount, unpdfParse } from "./pdf-unpdf.ts";

const MAX_PDF_PAGES = 20_000;

/** Pages in memory at once: 500 pages then take 120 MB instead of 290. */
const PAGES_PER_BATCH = 25;

export const pdf: Parser = {
  name: "liteparse",
  runsIn: "child",
  async parse(input) {
    const parsed = await withFallback(input, liteparseDocument, unpdfParse);
    assertPageCount(parsed.page_count ?? 0);
    if (parsed.units.length === 0 && input.pages === undefined) throw new DomainError("no_text", "The PDF holds no text.");
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
  if (pages > MAX_PDF_PAGES) throw new DomainError("too_large", `The PDF has ${pages} pages; at most ${MAX_PDF_PAGES} are read.`);
}

type LiteParseConstructor = typeof LiteParse;

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
    if (error instanceof Error && error.message.includes("password")) throw new DomainError("encrypted", "The PDF is protected by a password.");
    return fallback(input);
  }
}

/** Undefined where the native part does not load, for example on a platform that it is not built for. */
async function loadLiteparse(): Promise<LiteParseConstructor | undefined> {
  try {
    return (await import("@llamaindex/liteparse")).LiteParse;
  } catch {
    return undefined;
  }
}

/**
 * Headers and footers are kept: leaving them out also leaves out headings that recur at the top of pages. `maxPages` is set since
 * liteparse otherwise stops after 1,000 without a word.
 */
const CONFIG: Partial<LiteParseConfig> = {
  ocrEnabled: false,
  extractBlocks: true,
  extractLinks: false,
  extractDocumentMetadata: true,
  keepHeadersFooters: true,
  continueOnPageError: true,
  imageMode: "off",
  maxPages: MAX_PDF_PAGES,
  quiet: true,
};

async function liteparseDocument(input: ParseInput, Constructor: LiteParseConstructor): Promise<ParsedDocument> {
  const path = createHeadingPath();
  const units: TextUnit[] = [];
  const warnings: ParseWarning[] = [];
  let metadata: ExtractedMetadata = {};
  let pageCount = 0;
  let next = input.pages?.[0] ?? 1;
  for await (const batch of batches(input, Constructor)) {
    if (pageCount === 0) metadata = documentMetadata(batch);
    pageCount = batch.totalPages;
    assertPageCount(pageCount);
    for (const page of batch.pages) {
      const found = pageUnits(page, path);
      for (const unit of found) units.push(unit);
      if (page.pageNum > next) warnings.push({ pages: [next, page.pageNum - 1], code: "page_unreadable" });
      if (found.length === 0) warnings.push({ pages: [page.pageNum, page.pageNum], code: "no_text" });
      next = page.pageNum + 1;
    }
  }
  const last = Math.min(input.pages?.[1] ?? pageCount, pageCount);
  if (next <= last) warnings.push({ pages: [next, last], code: "page_unreadable" });
  return { parser_name: pdf.name, units, page_count: pageCount, metadata, warnings: mergeNeighbours(warnings) };
}

/** One warning for each run of pages with the same code. */
function mergeNeighbours(warnings: readonly ParseWarning[]): ParseWarning[] {
  const merged: ParseWarning[] = [];
  for (const warning of warnings) {
    const before = merged.at(-1);
    if (before?.pages && warning.pages && before.code === warning.code && before.pages[1] + 1 === warning.pages[0]) {
      merged[merged.length - 1] = { pages: [before.pages[0], warning.pages[1]], code: before.code };
    } else merged.push(warning);
  }
  return merged;
}

async function liteparsePageCount(input: ParseInput, Constructor: LiteParseConstructor): Promise<number> {
  const parser = new Constructor({ ...CONFIG, extractBlocks: false, targetPages: "1" });
  return (await parser.parse(await liteparseInput(input))).totalPages;
}

/** All pages or the wanted range, {@link PAGES_PER_BATCH} at a time. */
async function* batches(input: ParseInput, Constructor: LiteParseConstructor): AsyncGenerator<ParseResult> {
  const source = await liteparseInput(input);
  if (input.pages === undefined) {
    for await (const batch of new Constructor(CONFIG).parseBatches(source, { batchSize: PAGES_PER_BATCH })) {
      yield { ...batch.result, totalPages: batch.totalPages };
    }
    return;
  }
  const [first, last] = input.pages;
  for (let from = first, total = last; from <= Math.min(last, total); from += PAGES_PER_BATCH) {
    const to = Math.min(from + PAGES_PER_BATCH - 1, last);
    const result = await new Constructor({ ...CONFIG, targetPages: `${from}-${to}` }).parse(source);
    total = result.totalPages;
    yield result;
  }
}

/** liteparse takes the kind of a file from its name, and converts what is not called .pdf. */
async function liteparseInput(input: ParseInput): Promise<string | Buffer> {
  return input.path?.toLowerCase().endsWith(".pdf") === true ? input.path : readInput(input);
}

function documentMetadata(result: ParseResult): ExtractedMetadata {
  const created = pdfDateAsIso(result.docMeta?.creationDate);
  const modified = pdfDateAsIso(result.docMeta?.modDate);
  return {
    ...xmpMetadata(result.docMeta?.xmp ?? ""),
    ...(created === undefined ? {} : { created_at: created }),
    ...(modified === undefined ? {} : { modified_at: modified }),
  };
}
