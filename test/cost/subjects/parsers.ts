/**
 * The parsers as subjects of the cost test: every file type of the table, as plain text or in a real
 * container.
 */
import { DomainError } from "../../../src/domain/errors.ts";
import { FILE_TYPES, type FileType } from "../../../src/domain/file-type.ts";
import { packedSize } from "../../../src/domain/locations/packed.ts";
import type { ParsedDocument } from "../../../src/domain/text-unit.ts";
import { parserFor } from "../../../src/parsers/index.ts";
import type { Parser } from "../../../src/parsers/parser.ts";
import { CARRIERS, type Carrier } from "../carriers.ts";
import { PLAIN_SHAPES, SOME_SHAPES, TEXT_SHAPES } from "../shapes.ts";
import type { Extent, Subject } from "./subject.ts";

/** The maximum ratio of extracted text to input, as the product promises it. */
const MOST_TEXT_TIMES = 4;
/** Short words with an element each take more for their places than for themselves. */
const MOST_PLACES_TIMES = 4 * MOST_TEXT_TIMES;
const MOST_HEADING_CHARACTERS = 512;
const MOST_PATH_LEVELS = 6;
const MOST_UNIT_BYTES = 64 * 1024;
/** A long PDF is read in parts of 50 pages, each of which opens the whole file. */
const PART_OF_PDF = [1, 50] as const;
/** Added to the bound, because the markup of a short text may be many times as long. */
const ALLOWANCE_CHARACTERS = 70_000;

/** Lists the types that some parser reads, in the order of the product's table. */
export function parsedTypes(): FileType[] {
  return FILE_TYPES.filter((fileType) => {
    try {
      return parserFor(fileType) !== undefined;
    } catch (error) {
      if (error instanceof DomainError && error.code === "unsupported_file_type") return false;
      throw error;
    }
  });
}

/**
 * Makes subjects of the types whose files are text. A type without an entry in {@link CARRIERS} counts as
 * text, so that a new type is measured too.
 */
export const textParsers = (extent: Extent): Subject[] =>
  parsedTypes()
    .filter((fileType) => CARRIERS[fileType] === undefined)
    .map((fileType) => {
      const isMarkup = extent === "all" || MARKUP.has(fileType);
      return subjectOf(fileType, {
        name: "as it is",
        shapes: isMarkup ? TEXT_SHAPES : SOME_SHAPES,
        make: (text) => Buffer.from(text),
      });
    });

/**
 * Types in which any markup may have a meaning; for the other types, one kind of markup is as good as
 * another.
 */
const MARKUP: ReadonlySet<FileType> = new Set<FileType>(["MARKDOWN", "HTML", "JSON"]);

export const containerParsers = (extent: Extent): Subject[] =>
  parsedTypes().flatMap((fileType) => {
    const carriers = (CARRIERS[fileType] ?? []).map((carrier) =>
      extent === "some" && carrier.shapes === TEXT_SHAPES ? { ...carrier, shapes: SOME_SHAPES } : carrier,
    );
    const garbage: Carrier = {
      name: "as it is",
      shapes: PLAIN_SHAPES.slice(0, 2),
      make: (text) => Buffer.from(text),
    };
    return carriers.length === 0 ? [] : [...carriers, garbage].map((carrier) => subjectOf(fileType, carrier));
  });

interface Prepared {
  readonly bytes: Buffer;
}

function subjectOf(fileType: FileType, carrier: Carrier): Subject {
  const parser: Parser = parserFor(fileType);
  return {
    name: `parser ${fileType}, ${carrier.name}`,
    shapes: carrier.shapes,
    ...(carrier.maxLength === undefined ? {} : { maxLength: carrier.maxLength }),
    isNative: fileType === "PDF",
    endsInItsOwnProcess: parser.runsIn === "child",
    prepare: async (text): Promise<Prepared> => ({ bytes: Buffer.from(await carrier.make(text)) }),
    run: async (prepared) => ({
      document: await parser.parse({
        fileType,
        bytes: (prepared as Prepared).bytes,
        ...(fileType === "PDF" ? { pages: PART_OF_PDF } : {}),
      }),
      prepared,
    }),
    faultsOf(result, text) {
      const { document, prepared } = result as { document: ParsedDocument; prepared: Prepared };
      return textFaults(document, Math.max(text.length, prepared.bytes.length));
    },
  };
}

/** Lists what exceeds the bounds of text. */
function textFaults({ units }: ParsedDocument, given: number): string[] {
  let characters = 0;
  let pathCharacters = 0;
  let places = 0;
  let heading = 0;
  let path = 0;
  let unitBytes = 0;
  let head = "";
  for (const unit of units) {
    // A long table comes in parts, each of which repeats the head.
    const ownHead = unit.type === "table" ? unit.text.split("\n", 2).join("\n") : "";
    characters += unit.text.length - (ownHead === head ? ownHead.length : 0);
    head = ownHead;
    pathCharacters += unit.heading_path.reduce((sum, title) => sum + title.length, 0);
    places += packedSize(unit.places);
    path = Math.max(path, unit.heading_path.length);
    unitBytes = Math.max(unitBytes, Buffer.byteLength(unit.text));
    for (const title of [...unit.heading_path, ...(unit.type === "heading" ? [unit.text] : [])])
      heading = Math.max(heading, title.length);
  }
  return [
    ...(characters > MOST_TEXT_TIMES * given + ALLOWANCE_CHARACTERS
      ? [`makes ${characters} characters of ${given}`]
      : []),
    ...(pathCharacters > MOST_TEXT_TIMES * given + ALLOWANCE_CHARACTERS
      ? [`has heading paths of ${pathCharacters} characters over a text of ${given}`]
      : []),
    ...(places > MOST_PLACES_TIMES * given + 4 * ALLOWANCE_CHARACTERS
      ? [`has places of ${places} characters over a text of ${given}`]
      : []),
    ...(heading > MOST_HEADING_CHARACTERS ? [`has a heading of ${heading} characters`] : []),
    ...(path > MOST_PATH_LEVELS ? [`has a heading path of ${path} levels`] : []),
    ...(unitBytes > MOST_UNIT_BYTES ? [`has a unit of ${unitBytes} bytes`] : []),
  ];
}
