/** Parses PDF files by unpdf, which is pure JavaScript and knows lines and pages but no structure. */

import { getDocumentProxy, getMeta } from "unpdf";
import { packPlaces } from "../../domain/locations/packed.ts";
import { DomainError } from "../../domain/errors.ts";
import type { ExtractedMetadata, ParsedDocument, ParseWarning, TextUnit } from "../../domain/text-unit.ts";
import { readInput, storableText, type ParseInput } from "../parser.ts";
import { pdfDateAsIso } from "./metadata.ts";
import { countSourceText } from "../source-text.ts";
import { pageParagraphs } from "./unpdf-lines.ts";

export type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>;

/** Throws `encrypted` or `corrupt`; a page that cannot be read is left out with a warning. */
export async function unpdfParse(input: ParseInput): Promise<ParsedDocument> {
  return withDocument(input, async (document) => {
    const [first, last] = input.pages ?? [1, document.numPages];
    const units: TextUnit[] = [];
    const warnings: ParseWarning[] = [];
    for (let page = first; page <= Math.min(last, document.numPages); page++) {
      try {
        units.push(...(await pageUnits(document, page)));
      } catch {
        warnings.push({ pages: [page, page], code: "page_unreadable" });
      }
    }
    return {
      parser_name: "unpdf",
      units,
      page_count: document.numPages,
      metadata: await documentMetadata(document),
      warnings,
    };
  });
}

export async function unpdfPageCount(input: ParseInput): Promise<number> {
  return withDocument(input, async (document) => document.numPages);
}

/** What the document says about itself; empty if it cannot be read. */
export async function unpdfMetadata(input: ParseInput): Promise<ExtractedMetadata> {
  return withDocument(input, documentMetadata).catch(() => ({}));
}

export async function withDocument<T>(
  input: ParseInput,
  use: (document: PdfDocument) => Promise<T>,
): Promise<T> {
  // A copy, since pdf.js takes ownership of the buffer.
  const document = await openDocument(new Uint8Array(await readInput(input)));
  try {
    return await use(document);
  } finally {
    await document.loadingTask.destroy();
  }
}

async function openDocument(bytes: Uint8Array): Promise<PdfDocument> {
  try {
    return await getDocumentProxy(bytes, { verbosity: 0 });
  } catch (error) {
    if (error instanceof Error && error.name === "PasswordException")
      throw new DomainError("encrypted", "The PDF is protected by a password.");
    throw new DomainError("corrupt", "The file is not a readable PDF.", { cause: error });
  }
}

async function pageUnits(document: PdfDocument, number: number): Promise<TextUnit[]> {
  const page = await document.getPage(number);
  const { length, paragraphs } = await pageParagraphs(page);
  page.cleanup();
  countSourceText(length);
  return paragraphs.map(({ text, places }) => {
    const packed = packPlaces(places);
    const unit: TextUnit = { type: "paragraph", text, page: number, heading_path: [] };
    return packed === undefined ? unit : { ...unit, places: packed };
  });
}

async function documentMetadata(document: PdfDocument): Promise<ExtractedMetadata> {
  const info: Record<string, unknown> = (await getMeta(document).catch(() => undefined))?.info ?? {};
  const title = filled(info["Title"]);
  const author = filled(info["Author"]);
  const created = pdfDateAsIso(filled(info["CreationDate"]));
  return {
    ...(title === undefined ? {} : { title }),
    ...(author === undefined ? {} : { author }),
    ...(created === undefined ? {} : { created_at: created }),
  };
}

function filled(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? storableText(value.trim()) : undefined;
}
