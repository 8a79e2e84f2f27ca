/** The parsers as subjects of the cost test: every file type of the table, as plain text or with a real container around the shape. */
import { DomainError } from "../../src/domain/errors.ts";
import { FILE_TYPES, type FileType } from "../../src/domain/file-type.ts";
import type { ParsedDocument } from "../../src/domain/text-unit.ts";
import { parserFor } from "../../src/parsers/index.ts";
import type { Parser } from "../../src/parsers/parser.ts";
import { CARRIERS, type Carrier } from "./carriers.ts";
import { PLAIN_SHAPES, TEXT_SHAPES } from "./shapes.ts";
import type { Subject } from "./subject.ts";

/** Bounds of what a parser may make of a document, as the product promises them. */
const MOST_TEXT_TIMES = 4;
const MOST_HEADING_CHARACTERS = 512;
const MOST_PATH_LEVELS = 6;
const MOST_UNIT_BYTES = 64 * 1024;
/** What a container says by itself, such as the names of sheets and slides, beside a text of a few characters. */
const ALLOWANCE_CHARACTERS = 4_096;

/** The types that some parser reads, in the order of the product's table. */
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

/** Types whose files are text themselves; what is not named in {@link CARRIERS} is taken for one, so that a new type is measured too. */
export const textParsers = (): Subject[] =>
  parsedTypes()
    .filter((fileType) => CARRIERS[fileType] === undefined)
    .map((fileType) => subjectOf(fileType, { name: "as it is", shapes: TEXT_SHAPES, make: (text) => Buffer.from(text) }));

export const containerParsers = (): Subject[] =>
  parsedTypes().flatMap((fileType) => {
    const carriers = CARRIERS[fileType] ?? [];
    const garbage: Carrier = { name: "as it is", shapes: PLAIN_SHAPES.slice(0, 4), make: (text) => Buffer.from(text) };
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
    isNative: fileType === "PDF",
    endsInItsOwnProcess: parser.runsIn === "child",
    prepare: async (text): Promise<Prepared> => ({ bytes: Buffer.from(await carrier.make(text)) }),
    run: (prepared) => parser.parse({ fileType, bytes: (prepared as Prepared).bytes, name: carrier.fileName }),
    faultsOf: (document, text) => textFaults(document as ParsedDocument, text.length),
  };
}

/** What is beyond the bounds of text. */
function textFaults({ units }: ParsedDocument, given: number): string[] {
  let characters = 0;
  let [heading, path, unitBytes] = [0, 0, 0];
  for (const unit of units) {
    characters += unit.text.length;
    path = Math.max(path, unit.heading_path.length);
    unitBytes = Math.max(unitBytes, Buffer.byteLength(unit.text));
    for (const title of [...unit.heading_path, ...(unit.type === "heading" ? [unit.text] : [])]) heading = Math.max(heading, title.length);
  }
  return [
    ...(characters > MOST_TEXT_TIMES * given + ALLOWANCE_CHARACTERS ? [`makes ${characters} characters of ${given}`] : []),
    ...(heading > MOST_HEADING_CHARACTERS ? [`has a heading of ${heading} characters`] : []),
    ...(path > MOST_PATH_LEVELS ? [`has a heading path of ${path} levels`] : []),
    ...(unitBytes > MOST_UNIT_BYTES ? [`has a unit of ${unitBytes} bytes`] : []),
  ];
}
