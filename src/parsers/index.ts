/** The table of parsers by file type. A new format is one file in its family's folder, and one line here. */

import { DomainError } from "../domain/errors.ts";
import type { FileType } from "../domain/file-type.ts";
import { withBounds } from "./bounded-parser.ts";
import { delimited } from "./text/delimited.ts";
import { doc } from "./legacy/doc.ts";
import { docx } from "./office/docx.ts";
import { emlWith } from "./mail/eml.ts";
import { epub } from "./web/epub.ts";
import { html } from "./web/html.ts";
import { image } from "./pdf/image.ts";
import { markdown } from "./text/markdown.ts";
import { msgWith } from "./mail/msg.ts";
import { sectionsWith } from "./nested.ts";
import { odf } from "./office/odf.ts";
import type { Parser } from "./parser.ts";
import { pdf } from "./pdf/pdf.ts";
import { ppt } from "./legacy/ppt.ts";
import { pptx } from "./office/pptx.ts";
import { rtf } from "./legacy/rtf.ts";
import { source } from "./source.ts";
import { spreadsheet } from "./office/spreadsheet.ts";
import { text } from "./text/plain.ts";
import { zipWith } from "./archives/zip.ts";

const openSections = sectionsWith(parserFor);

const PARSERS: Partial<Record<FileType, Parser>> = {
  MARKDOWN: markdown,
  TEXT: text,
  PDF: pdf,
  DOCX: docx,
  HTML: html,
  DOC: doc,
  PPTX: pptx,
  PPT: ppt,
  XLSX: spreadsheet,
  XLS: spreadsheet,
  ODS: spreadsheet,
  ODT: odf,
  ODP: odf,
  CSV: delimited,
  TSV: delimited,
  PNG: image,
  JPEG: image,
  TIFF: image,
  RTF: rtf,
  EPUB: epub,
  EML: emlWith(openSections),
  MSG: msgWith(openSections),
  ZIP: zipWith(openSections),
  JSON: source,
  XML: source,
  CODE: source,
};

/**
 * Larger files are never parsed in the worker itself, so that a parser does not block its event loop.
 * Markdown of this size takes 3 ms if it is prose, and 65 ms at most, if each line is a block.
 */
const IN_WORKER_MAX_BYTES = 256 * 1024;

const bounded = new Map(Object.entries(PARSERS).map(([fileType, parser]) => [fileType, withBounds(parser)]));

/**
 * The parser of a file type, bounded by {@link withBounds}. Throws `unsupported_file_type` if there is none.
 *
 * @example await parserFor("MARKDOWN").parse({ fileType: "MARKDOWN", bytes: Buffer.from("# Title") });
 * @see test/parsers/web-and-text.test.ts
 */
export function parserFor(fileType: FileType): Parser {
  const parser = bounded.get(fileType);
  if (parser === undefined)
    throw new DomainError("unsupported_file_type", `Files of type ${fileType} are not supported.`);
  return parser;
}

/** Whether the worker may parse a file of this size itself, without a parser process. */
export function mayParseInWorker(parser: Parser, sizeBytes: number): boolean {
  return parser.runsIn === "worker" && sizeBytes <= IN_WORKER_MAX_BYTES;
}

/** Loads what parsers would otherwise load with their first document. Repeating is harmless. */
export async function warmUpParsers(): Promise<void> {
  for (const parser of Object.values(PARSERS)) await parser.warmUp?.();
}
