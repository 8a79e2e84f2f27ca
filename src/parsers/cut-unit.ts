/** The only place that cuts headings and units which are too long, so that each part is Markdown for itself. */

import type { TextUnit } from "../domain/text-unit.ts";
import { closesFence, fenceOpening, isTableDelimiter } from "./text/markdown-lines.ts";

/** UTF-16 units of a heading; what is beyond is a paragraph behind it. */
const MAX_HEADING_CHARS = 512;

/** UTF-8 bytes of a unit. */
const MAX_UNIT_BYTES = 64 * 1024;

/** A head or an opening of a fence that takes more is not repeated with each part: what it begins is cut as plain text. */
const MAX_REPEATED_BYTES = MAX_UNIT_BYTES / 8;

/** The unit itself where it is within the bounds, else its parts in order, of which only the first may be a heading. */
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

/** What stands around each part of a block. */
interface Frame {
  readonly open: string;
  readonly close: string;
  /** Brings a part of a line that is longer than a unit into the block's form. */
  line(part: string, index: number): string;
}

const PLAIN: Frame = { open: "", close: "", line: (part) => part };

function cutBlock(unit: TextUnit): readonly TextUnit[] {
  const parts = PARTS_OF[unit.type]?.(unit.text);
  if (parts !== undefined) return parts.map((text) => ({ ...unit, text }));
  const type = unit.type === "table" ? "paragraph" : unit.type;
  return [...plainParts(unit.text, MAX_UNIT_BYTES)].map((text) => ({ ...unit, type, text }));
}

/** Blocks whose parts need marks of their own; undefined where these marks cannot be repeated. */
const PARTS_OF: Partial<Record<TextUnit["type"], (text: string) => string[] | undefined>> = {
  table: tableParts,
  code: codeParts,
  quote: (text) => framed(text.split("\n"), QUOTE),
};

const QUOTE: Frame = { ...PLAIN, line: (part, index) => (index === 0 ? part : `> ${part.trimStart()}`) };

/** Each part with the table's head; undefined where it has none that can be repeated. */
function tableParts(table: string): string[] | undefined {
  const head = tableHead(table);
  if (head === "" || Buffer.byteLength(head) > MAX_REPEATED_BYTES) return undefined;
  const row = (part: string): string =>
    `${part.startsWith("|") ? "" : "| "}${part.trim()}${part.endsWith("|") ? "" : " |"}`;
  return framed(table.slice(head.length + 1).split("\n"), { open: `${head}\n`, close: "", line: row });
}

/** The two lines that a pipe table begins with, without the break behind them; empty where the text is no such table. */
export function tableHead(table: string): string {
  const first = table.indexOf("\n");
  const second = table.indexOf("\n", first + 1);
  if (first < 0) return "";
  const delimiters = table.slice(first + 1, second < 0 ? table.length : second);
  return isTableDelimiter(delimiters) ? table.slice(0, second < 0 ? table.length : second) : "";
}

/** Each part in a fence like the block's, or indented as it is. */
function codeParts(code: string): string[] {
  const lines = code.split("\n");
  const opening = lines[0] ?? "";
  const fence = fenceOpening(opening);
  if (fence === undefined)
    return framed(lines, { ...PLAIN, line: (part, index) => (index === 0 ? part : `    ${part}`) });
  const isClosed = lines.length > 1 && closesFence(lines.at(-1) ?? "", fence);
  const body = lines.slice(1, isClosed ? -1 : undefined);
  // What stands behind the marks is a language, or else nothing that can be repeated.
  const isShort = Buffer.byteLength(opening) <= MAX_REPEATED_BYTES;
  const marks = fence.mark.repeat(isShort ? fence.length : Math.min(fence.length, 512));
  return framed(isShort ? body : [opening.trim().slice(fence.length), ...body], {
    ...PLAIN,
    open: `${isShort ? opening : marks}\n`,
    close: `\n${marks}`,
  });
}

/** Room in a part for what {@link Frame.line} adds to a line. */
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

/** Text in parts of at most so many bytes, cut behind a line or word where the second half of a part has one. */
function* plainParts(text: string, maxBytes: number): Generator<string> {
  for (let start = 0; start < text.length;) {
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

/** Behind as many characters from `start` on as fit into the bytes; one at least. */
function endWithin(text: string, start: number, maxBytes: number): number {
  let at = start;
  for (let bytes = 0; at < text.length;) {
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
