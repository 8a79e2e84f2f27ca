/** Reads documents inside documents (attachments, archived files) as sections, with bounds for all. */

import { DomainError } from "../domain/errors.ts";
import type { FileType } from "../domain/file-type.ts";
import type { PackedPlaces } from "../domain/locations/packed.ts";
import type { ParsedDocument, ParseWarning } from "../domain/text-unit.ts";
import { detectFileKind } from "./file-kind.ts";
import { partName, type Nesting, type ParseInput, type Parser } from "./parser.ts";
import type { UnitWriter } from "./unit-writer.ts";

/** Deeper documents are named and not opened. */
const MAX_DEPTH = 3;
const MAX_NESTED_FILES = 1_000;
const MAX_NESTED_BYTES = 512 * 1024 * 1024;

export interface NestedFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Writes files as sections of a document; a file that cannot be read is named, with a warning. */
interface Sections {
  readonly warnings: ParseWarning[];
  /** @param part The name of the file as a part of the document, for locations. */
  add(file: NestedFile, part: string): Promise<void>;
  /** Adds the warning, unless it is there already. */
  warn(code: string): void;
}

export type OpenSections = (input: ParseInput, writer: UnitWriter, level: number) => Sections;

/** Opens sections that all share one set of bounds. @param parsers throws for a type without a parser. */
export function sectionsWith(parsers: (fileType: FileType) => Parser): OpenSections {
  return (input, writer, level) => {
    const nesting: Nesting = input.nesting ?? {
      depth: 0,
      left: { files: MAX_NESTED_FILES, bytes: MAX_NESTED_BYTES },
    };
    const warnings: ParseWarning[] = [];
    const warn = (code: string): void => {
      if (!warnings.some((warning) => warning.code === code)) warnings.push({ pages: null, code });
    };
    return {
      warnings,
      warn,
      async add(file, part) {
        writer.setSpot({ part });
        writer.heading(level, file.name);
        nesting.left.files--;
        nesting.left.bytes -= file.bytes.length;
        if (nesting.depth >= MAX_DEPTH) return warn("too_deep");
        if (nesting.left.files < 0 || nesting.left.bytes < 0) return warn("too_many_files");
        try {
          const document = await parseNested(parsers, file, {
            ...input,
            nesting: { ...nesting, depth: nesting.depth + 1 },
          });
          writeSection(writer, document, { level, part });
          for (const warning of document.warnings) warn(warning.code);
        } catch (error) {
          if (!(error instanceof DomainError)) throw error;
          warn(error.code);
        }
      },
    };
  };
}

async function parseNested(
  parsers: (fileType: FileType) => Parser,
  file: NestedFile,
  input: ParseInput,
): Promise<ParsedDocument> {
  const { fileType } = await detectFileKind(file.bytes, file.name);
  return parsers(fileType).parse({
    ...input,
    fileType,
    bytes: file.bytes,
    path: undefined,
    pages: undefined,
    name: file.name,
  });
}

/** Leaves out the units' page numbers: an attachment's are not the document's. Places keep theirs. */
function writeSection(
  writer: UnitWriter,
  document: ParsedDocument,
  { level, part }: { level: number; part: string },
): void {
  for (const unit of document.units) {
    const packed = unit.places && inPart(unit.places, part);
    if (unit.type === "heading") writer.heading(level + (unit.level ?? 1), unit.text, packed);
    else writer.add(unit.type, unit.text, { repeats: unit.repeats, packed });
  }
}

/** The places as those of a part of another document. A part inside a part is named after it. */
function inPart(places: PackedPlaces, part: string): PackedPlaces {
  return {
    ...places,
    contexts: places.contexts.map((context) => ({
      ...context,
      part: context.part === undefined ? part : partName(`${part} > ${context.part}`),
    })),
  };
}
