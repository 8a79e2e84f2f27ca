/** The parser of old Word files: DOC. */

import WordExtractor from "word-extractor";
import { DomainError } from "../../domain/errors.ts";
import { openCompoundFile } from "./compound-file.ts";
import { headingKey, headingLevels } from "./doc-headings.ts";
import { readInput, type Parser } from "../parser.ts";
import { createUnitWriter, type UnitWriter } from "../unit-writer.ts";
import { isWord95, word95Text } from "./word-95.ts";

/** Offset of the flags in the file information block of every Word since 6.0. */
const FLAGS_AT = 0x0a;
const ENCRYPTED = 0x0100;

export const doc: Parser = {
  name: "doc",
  runsIn: "child",
  async parse(input) {
    const bytes = await readInput(input);
    const writer = createUnitWriter();
    const document = wordStream(bytes);
    if (isWord95(document)) writeWord95(writer, document);
    else await writeWord97(writer, bytes);
    if (writer.units.length === 0) throw new DomainError("no_text", "The document contains no text.");
    return { parser_name: doc.name, units: writer.units, page_count: null, metadata: {}, warnings: [] };
  },
};

function wordStream(bytes: Buffer): Buffer {
  if (OLDER_WORD.has(bytes.toString("hex", 0, 2)))
    throw new DomainError("unsupported_file_type", "Files of Word 2 and older are not supported.");
  const stream = openCompoundFile(bytes).stream("WordDocument");
  if (stream === undefined || stream.length < FLAGS_AT + 2) throw corrupt();
  if ((stream.readUInt16LE(FLAGS_AT) & ENCRYPTED) !== 0)
    throw new DomainError("encrypted", "The document is protected by a password.");
  return stream;
}

/** Word 1, Word 2 and Word for Macintosh 4 and 5 wrote no compound file. */
const OLDER_WORD = new Set(["9ba5", "dba5", "fe37"]);

function writeWord95(writer: UnitWriter, document: Buffer): void {
  try {
    const { body, rest } = word95Text(document);
    for (const text of [body, rest]) writeLines(writer, text);
  } catch (error) {
    if (error instanceof RangeError) throw corrupt(error);
    throw error;
  }
}

async function writeWord97(writer: UnitWriter, bytes: Buffer): Promise<void> {
  const document = await new WordExtractor().extract(bytes).catch((error: unknown) => {
    throw corrupt(error);
  });
  for (const line of document.getHeaders({ includeFooters: false }).split("\n"))
    writer.add("paragraph", line.trim(), { repeats: true });
  writeLines(writer, document.getBody(), headingLevels(bytes));
  for (const part of [
    document.getTextboxes({}),
    document.getFootnotes(),
    document.getEndnotes(),
    document.getAnnotations(),
  ])
    writeLines(writer, part);
  for (const line of document.getFooters().split("\n"))
    writer.add("paragraph", line.trim(), { repeats: true });
}

function corrupt(cause?: unknown): DomainError {
  return new DomainError("corrupt", "The file is not a readable Word document.", { cause });
}

/** Each line is a paragraph; a line that ends with a tab is a table row, its cells separated by tabs. */
function writeLines(writer: UnitWriter, text: string, levels: ReadonlyMap<string, number> = new Map()): void {
  let rows: string[][] = [];
  const endTable = (): void => {
    writer.addTable(rows);
    rows = [];
  };
  for (const line of text.split("\n")) {
    if (line.endsWith("\t") && line.trim() !== "") rows.push(line.slice(0, -1).split("\t"));
    else if (line.trim() !== "") {
      endTable();
      const level = levels.get(headingKey(line));
      if (level === undefined) writer.add("paragraph", line.trim());
      else writer.heading(level, line);
    }
  }
  endTable();
}
