/** Bounds what a parser makes of a file: headings, units, their number, and all text together. */

import { DomainError } from "../domain/errors.ts";
import { packedSize } from "../domain/locations/packed.ts";
import type { FileType } from "../domain/file-type.ts";
import type { ParsedDocument, TextUnit } from "../domain/text-unit.ts";
import { cutUnit, tableHead } from "./cut-unit.ts";
import { createHeadingPath } from "./heading-path.ts";
import { inputSizeBytes, type ParseInput, type Parser } from "./parser.ts";
import { withSourceText } from "./source-text.ts";

/** Units of one document, or of one part of a document that is read in parts. */
export const MAX_UNITS = 250_000;

/** How many times its source a text may become: Markdown adds marks, notes and merged cells repeat. */
export const MAX_GROWTH = 4;

/** Always allowed, since the marks around little text may be many times as long as the text. */
const MIN_TEXT_CHARS = 16 * 1024;

/** How many times its text the places may be long: short lines with own elements take five times. */
const MAX_PLACES_GROWTH = 4;

/** Kinds whose text is compressed or encoded: it is counted when it is unpacked, not by the file's size. */
const PACKED: ReadonlySet<FileType> = new Set<FileType>([
  "PDF",
  "PNG",
  "JPEG",
  "TIFF",
  "DOCX",
  "PPTX",
  "XLSX",
  "XLS",
  "ODT",
  "ODS",
  "ODP",
  "EPUB",
  "ZIP",
]);

/**
 * The parser with its results within bounds: long headings and units are cut ({@link cutUnit}), and heading
 * paths have at most six levels. Text beyond {@link MAX_GROWTH} times what the file contains can only be
 * repeated text; it is left out with the warning `repeated_text_left_out`.
 *
 * Its `parse` throws `too_complex` for more than {@link MAX_UNITS} units.
 */
export function withBounds(parser: Parser): Parser {
  return {
    ...parser,
    async parse(input) {
      const { result, characters } = await withSourceText(await ownCharacters(input), () =>
        parser.parse(input),
      );
      return boundedDocument(result, characters);
    },
  };
}

/** The size in bytes, at least the number of characters. No file counts as 0: the parser refuses it. */
async function ownCharacters(input: ParseInput): Promise<number> {
  return PACKED.has(input.fileType) ? 0 : inputSizeBytes(input).catch(() => 0);
}

/** @param sourceChars The number of characters of text that the file contains. */
export function boundedDocument(document: ParsedDocument, sourceChars: number): ParsedDocument {
  const allowed = Math.max(sourceChars * MAX_GROWTH, MIN_TEXT_CHARS);
  const path = createHeadingPath();
  const units: TextUnit[] = [];
  let text = 0;
  let paths = 0;
  let places = 0;
  let head = "";
  for (const unit of document.units) {
    for (const part of cutUnit(unit)) {
      const partHead = part.type === "table" ? tableHead(part.text) : "";
      text += part.text.length - (partHead === head ? partHead.length : 0);
      head = partHead;
      if (text > allowed)
        return {
          ...document,
          units,
          warnings: [...document.warnings, { pages: null, code: "repeated_text_left_out" }],
        };
      const headings = part.type === "heading" ? path.enter(part.level ?? 1, part.text) : path.current();
      paths += headings.reduce((sum, heading) => sum + heading.length, 0);
      if (units.length >= MAX_UNITS)
        throw new DomainError("too_complex", `The document has more than ${MAX_UNITS} blocks of text.`);
      // Long headings repeated for each short paragraph would be most of the result: beyond the bound the
      // path is left empty.
      // Likewise long names of parts and shapes, repeated for each short line.
      places += packedSize(part.places);
      const { places: _beyond, ...withoutPlaces } = part;
      const kept = places > allowed * MAX_PLACES_GROWTH ? withoutPlaces : part;
      units.push({ ...kept, heading_path: paths > allowed ? [] : headings });
    }
  }
  return { ...document, units };
}
