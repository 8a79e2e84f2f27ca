/** The table of formats whose pages can be shown. {@link hasPages} says the same without loading any. */

import { DomainError } from "../../domain/errors.ts";
import type { FileType } from "../../domain/file-type.ts";
import { imagePages } from "./image-pages.ts";
import { pdfPages } from "./pdf-pages.ts";
import type { PageReader } from "./page-reader.ts";

const READERS: Partial<Record<FileType, PageReader>> = {
  PDF: pdfPages,
  PNG: imagePages,
  JPEG: imagePages,
  TIFF: imagePages,
};

/** Throws `unsupported_file_type` for a format without pages. */
export function pagesOf(fileType: FileType): PageReader {
  const reader = READERS[fileType];
  if (reader === undefined)
    throw new DomainError("unsupported_file_type", `Files of type ${fileType} have no pages.`);
  return reader;
}

/** Loads what pages would otherwise load with the first of them. */
export async function warmUpPages(): Promise<void> {
  await pdfPages.warmUp();
}
