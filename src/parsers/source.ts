/** The parser of source code, XML and JSON: fenced blocks of lines, and notebooks cell by cell. */

import { extname } from "node:path";
import { DomainError } from "../domain/errors.ts";
import type { Spot } from "../domain/locations/location.ts";
import { createLineCounter } from "./text/line-counter.ts";
import { parseMarkdown } from "./text/markdown.ts";
import { fenced, placedInFence } from "./text/markdown-format.ts";
import type { ParseInput, Parser } from "./parser.ts";
import { bounded, readTextInput } from "./text/plain.ts";
import { createUnitWriter, type UnitWriter } from "./unit-writer.ts";

/** A block ends at the first blank line after this many characters, so that functions stay whole. */
const BLOCK_CHARS = 1_500;
const MAX_BLOCK_CHARS = 6_000;

export const source: Parser = {
  name: "source",
  runsIn: "child",
  async parse(input) {
    const text = await readTextInput(
      input,
      (bytes) => /encoding=["']([\w-]{2,40})/.exec(bytes.subarray(0, 256).toString("latin1"))?.[1],
    );
    const writer = createUnitWriter();
    const cells = input.fileType === "JSON" ? notebookCells(text) : undefined;
    if (cells === undefined) writeFile(writer, text, input);
    else cells.forEach((cell, index) => writeCell(writer, cell, { element: `cell[${index + 1}]` }));
    if (writer.units.length === 0) throw new DomainError("no_text", "The file contains no text.");
    return { parser_name: source.name, units: writer.units, page_count: null, metadata: {}, warnings: [] };
  },
};

function languageOf(input: ParseInput): string {
  if (input.fileType !== "CODE") return input.fileType.toLowerCase();
  const extension = extname(input.name ?? "").slice(1);
  return /^[\w+#]{1,20}$/.test(extension) ? extension.toLowerCase() : "";
}

/** JSON without line breaks gets one line for each value: chunkers keep nothing smaller whole. */
function readable(text: string, input: ParseInput): string {
  if (input.fileType !== "JSON" || text.trim().includes("\n")) return text;
  // In deeply nested JSON, indentation would be most of the text.
  if (indentedLength(text) > text.length * MAX_JSON_GROWTH)
    return text.replace(JSON_TOKEN, (token) => (BREAKS_AFTER.has(token) ? `${token}\n` : token));
  try {
    return JSON.stringify(JSON.parse(text), undefined, INDENT);
  } catch {
    return text;
  }
}

const INDENT = 2;
const MAX_JSON_GROWTH = 3;
const JSON_TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},]/g;
const BREAKS_AFTER: ReadonlySet<string> = new Set(["[", "{", ","]);

/** The length of indented JSON, to within a few characters for each value. */
function indentedLength(text: string): number {
  let length = text.length;
  let depth = 0;
  for (const [token] of text.matchAll(JSON_TOKEN)) {
    if (token.startsWith('"')) continue;
    if (token === "[" || token === "{") depth++;
    else if (token !== ",") depth--;
    length += 1 + depth * INDENT;
  }
  return length;
}

function writeFile(writer: UnitWriter, text: string, input: ParseInput): void {
  const shown = readable(text, input);
  const isAsWritten = shown === text;
  // Values that got lines of their own are all on the lines of the text that was one line.
  const lines = isAsWritten ? undefined : writtenLines(text);
  writeCode(writer, shown, {
    language: languageOf(input),
    spotOf: (first, last) => ({ lines: lines ?? [first, last] }),
  });
}

function writtenLines(text: string): readonly [number, number] {
  const start = text.length - text.trimStart().length;
  return createLineCounter(text).linesOf(start, text.trimEnd().length);
}

interface CodeOptions {
  readonly language: string;
  /** Where the lines from `first` to `last` of the code stand, both from 1. */
  readonly spotOf: (first: number, last: number) => Spot;
}

function writeCode(writer: UnitWriter, text: string, { language, spotOf }: CodeOptions): void {
  let block: string[] = [];
  /** The number of each line of the block: parts of a long line share it. */
  let numbers: number[] = [];
  let chars = 0;
  const end = (): void => {
    while (block.at(-1)?.trim() === "") block.pop();
    const code = fenced(block, language);
    const spot = spotOf(numbers[0] ?? 1, numbers[block.length - 1] ?? 1);
    if (block.length > 0) writer.add("code", code, { places: placedInFence(code, spot) });
    block = [];
    numbers = [];
    chars = 0;
  };
  for (const [index, long] of text.split(/\r\n|\n|\r/).entries()) {
    for (const line of long.length > MAX_BLOCK_CHARS ? bounded(long) : [long]) {
      const blank = line.trim() === "";
      if ((blank && chars > BLOCK_CHARS) || chars + line.length > MAX_BLOCK_CHARS) end();
      if (blank && block.length === 0) continue;
      block.push(line);
      numbers.push(index + 1);
      chars += line.length + 1;
    }
  }
  end();
}

interface NotebookCell {
  readonly kind: string;
  readonly text: string;
  readonly outputs: readonly string[];
}

/** The cells of a Jupyter notebook; undefined if the text is none. */
function notebookCells(text: string): NotebookCell[] | undefined {
  if (!text.includes('"nbformat"')) return undefined;
  try {
    const notebook = JSON.parse(text) as { cells?: unknown };
    return Array.isArray(notebook.cells) ? notebook.cells.map(notebookCell) : undefined;
  } catch {
    return undefined;
  }
}

function notebookCell(cell: unknown): NotebookCell {
  const {
    cell_type: kind,
    source: written,
    outputs,
  } = cell as { cell_type?: unknown; source?: unknown; outputs?: unknown };
  const printed = Array.isArray(outputs)
    ? outputs.map((output) => outputText(output as Record<string, unknown>))
    : [];
  return { kind: typeof kind === "string" ? kind : "code", text: joined(written), outputs: printed };
}

function outputText(output: Record<string, unknown>): string {
  const data = output["data"] as Record<string, unknown> | undefined;
  return joined(output["text"] ?? data?.["text/plain"]);
}

function joined(lines: unknown): string {
  return Array.isArray(lines) ? lines.join("") : typeof lines === "string" ? lines : "";
}

function writeCell(writer: UnitWriter, cell: NotebookCell, spot: Spot): void {
  writer.setSpot(spot);
  const spotOf = (): Spot => spot;
  if (cell.kind === "markdown") {
    for (const unit of parseMarkdown(cell.text).units) {
      if (unit.type === "heading") writer.heading(unit.level ?? 1, unit.text);
      else writer.add(unit.type, unit.text);
    }
  } else writeCode(writer, cell.text, { language: cell.kind === "code" ? "python" : "", spotOf });
  for (const output of cell.outputs) writeCode(writer, output, { language: "", spotOf });
}
