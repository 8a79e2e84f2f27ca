/** Cuts headings and units that are too long into parts, each of which is valid Markdown by itself. */

import type { TextUnit } from "../domain/text-unit.ts";
import { closesFence, fenceOpening, isTableDelimiter } from "./text/markdown-lines.ts";

/** UTF-16 code units of a heading; the rest becomes a paragraph after it. */
const MAX_HEADING_CHARS = 512;

/** UTF-8 bytes of a unit. */
const MAX_UNIT_BYTES = 64 * 1024;

/**
 * A table head or fence opening that takes more is not repeated with each part: its block is cut as plain
 * text.
 */
const MAX_REPEATED_BYTES = MAX_UNIT_BYTES / 8;

/**
 * The unit itself if it is within the bounds, else its parts in order. Only the first part may be a heading.
 */
export function cutUnit(unit: TextUnit): readonly TextUnit[] {
  if (unit.type === "heading" && unit.text.length > MAX_HEADING_CHARS) return cutHeading(unit);
  return fits(unit.text) ? [unit] : cutBlock(unit);
}

function fits(text: string): boolean {
  return text.length * 3 <= MAX_UNIT_BYTES || Buffer.byteLength(text) <= MAX_UNIT_BYTES;
}

function cutHeading({ level, ...heading }: TextUnit): readonly TextUnit[] {
  const space = heading.text.slice(MAX_HEADING_CHARS / 2, MAX_HEADING_CHARS).lastIndexOf(" ");
  const end = space < 0 ? withoutHalfPair(heading.text, MAX_HEADING_CHARS) : MAX_HEADING_CHARS / 2 + space;
  const kept: TextUnit = {
    ...heading,
    text: heading.text.slice(0, end).trimEnd(),
    ...(level === undefined ? {} : { level }),
  };
  return [kept, ...cutUnit({ ...heading, type: "paragraph", text: heading.text.slice(end).trim() })];
}

/** What each part of a block is wrapped in. */
interface Frame {
  readonly open: string;
  readonly close: string;
  /** Gives part of a line that is longer than a unit the form of a line of the block. */
  line(part: string, index: number): string;
}

const PLAIN: Frame = { open: "", close: "", line: (part) => part };

function cutBlock(unit: TextUnit): readonly TextUnit[] {
  const parts = PARTS_OF[unit.type]?.(unit.text);
  if (parts !== undefined) return parts.map((text) => ({ ...unit, text }));
  const type = unit.type === "table" ? "paragraph" : unit.type;
  return [...plainParts(unit.text, MAX_UNIT_BYTES)].map((text) => ({ ...unit, type, text }));
}

/** Blocks whose parts need marks of their own; the result is undefined if these marks cannot be repeated. */
const PARTS_OF: Partial<Record<TextUnit["type"], (text: string) => string[] | undefined>> = {
  table: tableParts,
  code: codeParts,
  quote: (text) => framed(text.split("\n"), QUOTE),
};

const QUOTE: Frame = { ...PLAIN, line: (part, index) => (index === 0 ? part : `> ${part.trimStart()}`) };

/** Parts that each repeat the table's head; undefined if it has none that can be repeated. */
function tableParts(table: string): string[] | undefined {
  const head = tableHead(table);
  if (head === "" || Buffer.byteLength(head) > MAX_REPEATED_BYTES) return undefined;
  const row = (part: string): string =>
    `${part.startsWith("|") ? "" : "| "}${part.trim()}${part.endsWith("|") ? "" : " |"}`;
  return framed(table.slice(head.length + 1).split("\n"), { open: `${head}\n`, close: "", line: row });
}

/**
 * The first two lines of a pipe table, without the line break after them; empty if the text is no pipe table.
 */
export function tableHead(table: string): string {
  const first = table.indexOf("\n");
  const second = table.indexOf("\n", first + 1);
  if (first < 0) return "";
  const delimiters = table.slice(first + 1, second < 0 ? table.length : second);
  return isTableDelimiter(delimiters) ? table.slice(0, second < 0 ? table.length : second) : "";
}

/** Parts that each have a fence like the block's, or are indented if the block is. */
function codeParts(code: string): string[] {
  const lines = code.split("\n");
  const opening = lines[0] ?? "";
  const fence = fenceOpening(opening);
  if (fence === undefined)
    return framed(lines, { ...PLAIN, line: (part, index) => (index === 0 ? part : `    ${part}`) });
  const isClosed = lines.length > 1 && closesFence(lines.at(-1) ?? "", fence);
  const body = lines.slice(1, isClosed ? -1 : undefined);
  // The text after the marks is a language, or else too long to repeat.
  const isShort = Buffer.byteLength(opening) <= MAX_REPEATED_BYTES;
  const marks = fence.mark.repeat(isShort ? fence.length : Math.min(fence.length, 512));
  return framed(isShort ? body : [opening.trim().slice(fence.length), ...body], {
    ...PLAIN,
    open: `${isShort ? opening : marks}\n`,
    close: `\n${marks}`,
  });
}

/** Bytes that {@link Frame.line} may add to a line. */
const LINE_ROOM = 8;

function framed(lines: readonly string[], frame: Frame): string[] {
  const room = MAX_UNIT_BYTES - Buffer.byteLength(frame.open) - Buffer.byteLength(frame.close) - LINE_ROOM;
  const parts: string[] = [];
  let part: string[] = [];
  let bytes = 0;
  const end = (): void => {
    if (part.some((line) => line.trim() !== "")) parts.push(`${frame.open}${part.join("\n")}${frame.close}`);
    part = [];
    bytes = 0;
  };
  for (const line of lines) {
    const size = Buffer.byteLength(line) + 1;
    if (bytes + size > room) end();
    if (size <= room) {
      part.push(line);
      bytes += size;
      continue;
    }
    [...plainParts(line, room)].forEach((cut, index) => {
      part = [frame.line(cut, index)];
      end();
    });
  }
  end();
  return parts;
}

/**
 * Text in parts of at most `maxBytes`, cut after a line or word if the second half of the part contains an
 * end.
 */
function* plainParts(text: string, maxBytes: number): Generator<string> {
  let start = 0;
  while (start < text.length) {
    const limit = endWithin(text, start, maxBytes);
    const end = limit < text.length ? lastBoundary(text, start, limit) : limit;
    const part = text.slice(start, end).replace(/^\n+/, "").trimEnd();
    if (part !== "") yield part;
    start = end;
  }
}

function lastBoundary(text: string, start: number, limit: number): number {
  const half = Math.ceil((start + limit) / 2);
  const searched = text.slice(half, limit);
  const at = Math.max(searched.lastIndexOf("\n"), 0) || searched.lastIndexOf(" ");
  return at <= 0 ? limit : half + at + 1;
}

/** The end of the characters from `start` on that fit into `maxBytes`; at least one character. */
function endWithin(text: string, start: number, maxBytes: number): number {
  let at = start;
  let bytes = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    const isPair = code >= 0xd800 && code <= 0xdbff;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : isPair ? 4 : 3;
    if (bytes > maxBytes && at > start) break;
    at += isPair ? 2 : 1;
  }
  return Math.min(at, text.length);
}

function withoutHalfPair(text: string, end: number): number {
  const before = text.charCodeAt(end - 1);
  return before >= 0xd800 && before <= 0xdbff ? end - 1 : end;
}
