/** The parser of source code, XML and JSON: fenced blocks of lines, and notebooks cell by cell. */

import { extname } from "node:path";
import { DomainError } from "../domain/errors.ts";
import { parseMarkdown } from "./text/markdown.ts";
import { fenced } from "./text/markdown-format.ts";
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
    if (cells === undefined) writeCode(writer, readable(text, input), languageOf(input));
    else for (const cell of cells) writeCell(writer, cell);
    if (writer.units.length === 0) throw new DomainError("no_text", "The file holds no text.");
    return { parser_name: source.name, units: writer.units, page_count: null, metadata: {}, warnings: [] };
  },
};

function languageOf(input: ParseInput): string {
  if (input.fileType !== "CODE") return input.fileType.toLowerCase();
  const extension = extname(input.name ?? "").slice(1);
  return /^[\w+#]{1,20}$/.test(extension) ? extension.toLowerCase() : "";
}

/**
 * JSON without line breaks gets one line for each value: a line is the smallest thing that chunkers keep
 * whole.
 */
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

function writeCode(writer: UnitWriter, text: string, language: string): void {
  let block: string[] = [];
  let chars = 0;
  const end = (): void => {
    while (block.at(-1)?.trim() === "") block.pop();
    if (block.length > 0) writer.add("code", fenced(block, language));
    block = [];
    chars = 0;
  };
  for (const long of text.split(/\r\n|\n|\r/)) {
    for (const line of long.length > MAX_BLOCK_CHARS ? bounded(long) : [long]) {
      const blank = line.trim() === "";
      if ((blank && chars > BLOCK_CHARS) || chars + line.length > MAX_BLOCK_CHARS) end();
      if (blank && block.length === 0) continue;
      block.push(line);
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

function writeCell(writer: UnitWriter, cell: NotebookCell): void {
  if (cell.kind === "markdown") {
    for (const unit of parseMarkdown(cell.text).units) {
      if (unit.type === "heading") writer.heading(unit.level ?? 1, unit.text);
      else writer.add(unit.type, unit.text);
    }
  } else writeCode(writer, cell.text, cell.kind === "code" ? "python" : "");
  for (const output of cell.outputs) writeCode(writer, output, "");
}
