/** The parser of old Word files: DOC. */

import WordExtractor from "word-extractor";
import { DomainError } from "../domain/errors.ts";
import { headingKey, headingLevels } from "./doc-headings.ts";
import { pipeTables } from "./markdown-format.ts";
import { readInput, type Parser } from "./parser.ts";
import { createUnitWriter, type UnitWriter } from "./unit-writer.ts";

export const doc: Parser = {
  name: "doc",
  runsIn: "child",
  async parse(input) {
    const bytes = await readInput(input);
    const document = await extract(bytes);
    const writer = createUnitWriter();
    for (const line of document.getHeaders({ includeFooters: false }).split("\n")) writer.add("paragraph", line.trim(), true);
    writeLines(writer, document.getBody(), headingLevels(bytes));
    for (const part of [document.getTextboxes({}), document.getFootnotes(), document.getEndnotes(), document.getAnnotations()]) writeLines(writer, part);
    for (const line of document.getFooters().split("\n")) writer.add("paragraph", line.trim(), true);
    if (writer.units.length === 0) throw new DomainError("no_text", "The document holds no text.");
    return { parser_name: doc.name, units: writer.units, page_count: null, metadata: {}, warnings: [] };
  },
};

async function extract(bytes: Buffer): ReturnType<WordExtractor["extract"]> {
  try {
    return await new WordExtractor().extract(bytes);
  } catch (error) {
    if (error instanceof Error && /encrypt|password/i.test(error.message)) throw new DomainError("encrypted", "The document is protected by a password.");
    throw new DomainError("corrupt", "The file is not a readable Word document.", { cause: error });
  }
}

/** A line is a paragraph; one that ends with a tab is a row of a table, its cells between tabs. */
function writeLines(writer: UnitWriter, text: string, levels: ReadonlyMap<string, number> = new Map()): void {
  let rows: string[][] = [];
  const endTable = (): void => {
    for (const part of pipeTables(rows)) writer.add("table", part);
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
