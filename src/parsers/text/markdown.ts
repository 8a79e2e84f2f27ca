/** The parser of Markdown: one pass over the lines, one unit for each block. Inline marks stay. */

import { DomainError } from "../../domain/errors.ts";
import type { ExtractedMetadata, ParseWarning, TextUnit, UnitType } from "../../domain/text-unit.ts";
import { packPlaces } from "../../domain/locations/packed.ts";
import { readFrontMatter } from "./front-matter.ts";
import { createHeadingPath, type HeadingPath } from "../heading-path.ts";
import {
  atxHeading,
  closesFence,
  fenceOpening,
  indentOf,
  isBlank,
  isImageOnly,
  isIndentedCode,
  isQuote,
  isTableDelimiter,
  isThematicBreak,
  listInterruptsParagraph,
  listItemIndent,
  setextLevel,
  tableCells,
} from "./markdown-lines.ts";
import { described } from "../metadata.ts";
import type { Parser } from "../parser.ts";
import { readTextInput } from "./plain.ts";

/** The bytes of an image embedded in the text, which are left out; its media type stays. */
const INLINE_DATA = /\((data:[\w/+.-]{1,100});base64,[A-Za-z0-9+/=]*\)/g;

export const markdown: Parser = {
  name: "markdown",
  runsIn: "worker",
  async parse(input) {
    const { units, metadata, warnings } = parseMarkdown(await readTextInput(input));
    if (units.length === 0) throw new DomainError("no_text", "The file contains no text.");
    const heading = units.find((unit) => unit.type === "heading" && unit.level === 1);
    const titled = {
      ...described({
        title: heading?.text,
        author: undefined,
        language: undefined,
        created_at: undefined,
        modified_at: undefined,
      }),
      ...metadata,
    };
    return { parser_name: markdown.name, units, page_count: null, metadata: titled, warnings };
  },
};

export interface MarkdownText {
  readonly units: TextUnit[];
  readonly metadata: ExtractedMetadata;
  readonly warnings: ParseWarning[];
}

/**
 * The units of a Markdown text. All of it is kept except blank lines, thematic breaks and the bytes of
 * embedded images. Front matter becomes metadata and a code unit.
 *
 */
export function parseMarkdown(source: string): MarkdownText {
  const lines = source.replace(INLINE_DATA, "($1)").split(/\r\n|\n|\r/);
  const reader: Reader = { lines, at: 0, path: createHeadingPath(), units: [] };
  const frontMatter = readFrontMatter(lines);
  if (frontMatter !== undefined && frontMatter.lines > 0) take(reader, "code", frontMatter.lines);
  while (reader.at < lines.length) readBlock(reader);
  const warnings: ParseWarning[] =
    frontMatter?.ignored === true ? [{ pages: null, code: "front_matter_ignored" }] : [];
  return { units: reader.units, metadata: frontMatter?.metadata ?? {}, warnings };
}

interface Reader {
  readonly lines: readonly string[];
  at: number;
  readonly path: HeadingPath;
  readonly units: TextUnit[];
}

function lineAt(reader: Reader, at: number): string {
  return reader.lines[at] ?? "";
}

function readBlock(reader: Reader): void {
  const line = lineAt(reader, reader.at);
  if (isBlank(line)) {
    reader.at++;
    return;
  }
  if (isIndentedCode(line)) return take(reader, "code", indentedCodeEnd(reader));
  const heading = atxHeading(line);
  if (heading !== undefined) {
    reader.at++;
    return addHeading(reader, heading, [reader.at, reader.at]);
  }
  if (fenceOpening(line) !== undefined) return take(reader, "code", fenceEnd(reader, reader.at));
  if (isThematicBreak(line)) {
    reader.at++;
    return;
  }
  if (isQuote(line)) return take(reader, "quote", quoteEnd(reader));
  if (listItemIndent(line) !== undefined) return take(reader, "list", listEnd(reader));
  if (isTableHead(reader, reader.at)) return take(reader, "table", tableEnd(reader));
  readParagraph(reader);
}

function take(reader: Reader, type: UnitType, end: number): void {
  let last = end;
  while (last > reader.at + 1 && isBlank(lineAt(reader, last - 1))) last--;
  const block = reader.lines.slice(reader.at, last).join("\n").trimEnd();
  const first = reader.at + 1;
  reader.at = end;
  if (!isBlank(block))
    addUnit(reader, { type, text: block, heading_path: reader.path.current() }, [first, last]);
}

/** @param lines The first and the last line of the text, from 1. */
function addUnit(
  reader: Reader,
  unit: Omit<TextUnit, "page" | "places">,
  lines: readonly [number, number],
): void {
  const places = packPlaces([{ from: 0, to: unit.text.length, spot: { lines } }]);
  reader.units.push({ ...unit, page: null, ...(places === undefined ? {} : { places }) });
}

function addHeading(
  reader: Reader,
  { level, text }: { level: number; text: string },
  lines: readonly [number, number],
): void {
  if (text === "") return;
  addUnit(reader, { type: "heading", text, heading_path: reader.path.enter(level, text), level }, lines);
}

function indentedCodeEnd(reader: Reader): number {
  let at = reader.at;
  while (at < reader.lines.length && (isBlank(lineAt(reader, at)) || isIndentedCode(lineAt(reader, at))))
    at++;
  return at;
}

/** An unclosed fence extends to the end of the text. */
function fenceEnd(reader: Reader, start: number): number {
  const fence = fenceOpening(lineAt(reader, start));
  for (let at = start + 1; at < reader.lines.length; at++)
    if (fence !== undefined && closesFence(lineAt(reader, at), fence)) return at + 1;
  return reader.lines.length;
}

/** A quote also takes lines without its mark while they continue its paragraph. */
function quoteEnd(reader: Reader): number {
  let at = reader.at;
  while (at < reader.lines.length && (isQuote(lineAt(reader, at)) || !endsParagraph(reader, at))) at++;
  return at;
}

/** A list goes on after blank lines with an item or an indented line. Fenced code in it stays whole. */
function listEnd(reader: Reader): number {
  const outer = indentOf(lineAt(reader, reader.at));
  let at = reader.at;
  while (at < reader.lines.length) {
    const line = lineAt(reader, at);
    if (isBlank(line)) {
      const next = nextWritten(reader, at);
      if (!belongsToList(lineAt(reader, next), outer)) return at;
      at = next;
    } else if (belongsToList(line, outer)) {
      at = fenceOpening(line) === undefined ? at + 1 : fenceEnd(reader, at);
    } else if (at > reader.at && !endsParagraph(reader, at)) at++;
    else return at;
  }
  return at;
}

function belongsToList(line: string, outer: number): boolean {
  return !isBlank(line) && (listItemIndent(line) !== undefined || indentOf(line) >= outer + 2);
}

function nextWritten(reader: Reader, start: number): number {
  let at = start;
  while (at < reader.lines.length && isBlank(lineAt(reader, at))) at++;
  return at;
}

function isTableHead(reader: Reader, at: number): boolean {
  const head = lineAt(reader, at);
  const under = lineAt(reader, at + 1);
  return (
    head.includes("|") && isTableDelimiter(under) && tableCells(head).length === tableCells(under).length
  );
}

function tableEnd(reader: Reader): number {
  let at = reader.at + 2;
  while (at < reader.lines.length && !endsParagraph(reader, at)) at++;
  return at;
}

function readParagraph(reader: Reader): void {
  let at = reader.at + 1;
  while (at < reader.lines.length) {
    const level = setextLevel(lineAt(reader, at));
    if (level !== undefined) {
      const heading = reader.lines
        .slice(reader.at, at)
        .map((line) => line.trim())
        .join(" ");
      const first = reader.at + 1;
      reader.at = at + 1;
      return addHeading(reader, { level, text: heading }, [first, at]);
    }
    if (endsParagraph(reader, at) || isTableHead(reader, at)) break;
    at++;
  }
  const block = reader.lines.slice(reader.at, at).join("\n").trim();
  const first = reader.at + 1;
  reader.at = at;
  const type = isImageOnly(block) ? "image" : "paragraph";
  addUnit(reader, { type, text: block, heading_path: reader.path.current() }, [first, at]);
}

function endsParagraph(reader: Reader, at: number): boolean {
  const line = lineAt(reader, at);
  return (
    isBlank(line) ||
    atxHeading(line) !== undefined ||
    (indentOf(line) < 4 && fenceOpening(line) !== undefined) ||
    isThematicBreak(line) ||
    isQuote(line) ||
    listInterruptsParagraph(line)
  );
}
