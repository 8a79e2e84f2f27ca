/** Loads and configures liteparse, for PDF files, scans and images. */

import type { LiteParse, LiteParseConfig, ParsedPage } from "@llamaindex/liteparse";
import type { OcrSettings } from "../parser.ts";

export const MAX_PDF_PAGES = 20_000;

export type LiteParseConstructor = typeof LiteParse;

/** Undefined if the native part does not load, for example on a platform that it is not built for. */
export async function loadLiteparse(): Promise<LiteParseConstructor | undefined> {
  try {
    return (await import("@llamaindex/liteparse")).LiteParse;
  } catch {
    return undefined;
  }
}

/**
 * Headers and footers are kept, since leaving them out also leaves out headings that recur at the top of
 * pages. `maxPages` is set since liteparse otherwise stops after 1,000 pages without an error.
 */
export const LITEPARSE_CONFIG: Partial<LiteParseConfig> = {
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

/** Pages that are rendered for OCR at once: each takes about 25 MB and seconds of time. */
const PAGES_PER_OCR = 2;

/** A page with fewer characters may be a picture of text. */
const SPARSE_BELOW_CHARS = 50;

export function isSparse(page: ParsedPage): boolean {
  return page.text.trim().length < SPARSE_BELOW_CHARS;
}

/** Those of the pages that show more than their text: pictures, or writing drawn as lines. */
export async function pictorialPages(
  Constructor: LiteParseConstructor,
  source: string | Buffer,
  pages: readonly number[],
): Promise<number[]> {
  if (pages.length === 0) return [];
  const stats = await new Constructor({ ...LITEPARSE_CONFIG, targetPages: pages.join(",") }).isComplex(
    source,
  );
  return stats.filter((page) => page.needsOcr).map((page) => page.pageNumber);
}

export interface Recognition {
  readonly ocr: OcrSettings;
  /** A time of `performance.now()`: pages that are not begun by then are left, except the first ones. */
  readonly until: number;
}

/** The pages as OCR reads them, except unreadable ones, and the first that was left for lack of time. */
export async function recognizePages(
  Constructor: LiteParseConstructor,
  source: string | Buffer,
  pages: readonly number[],
  { ocr, until }: Recognition,
): Promise<{ recognized: ParsedPage[]; firstLeft: number | undefined }> {
  const recognized: ParsedPage[] = [];
  for (let from = 0; from < pages.length; from += PAGES_PER_OCR) {
    if (from > 0 && performance.now() > until) return { recognized, firstLeft: pages[from] };
    const parser = new Constructor({
      ...LITEPARSE_CONFIG,
      ...ocrConfig(ocr),
      targetPages: pages.slice(from, from + PAGES_PER_OCR).join(","),
    });
    recognized.push(...(await parser.parse(source)).pages);
  }
  return { recognized, firstLeft: undefined };
}

export function ocrConfig(ocr: OcrSettings): Partial<LiteParseConfig> {
  return {
    ocrEnabled: true,
    ocrLanguage: ocr.languages,
    tessdataPath: ocr.dataFolder,
    ocrFailureFatal: false,
    numWorkers: 1,
  };
}
