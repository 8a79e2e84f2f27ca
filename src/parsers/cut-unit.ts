/** Cuts headings and units that are too long into parts, each of which is valid Markdown by itself. */

import type { Place } from "../domain/locations/location.ts";
import { packPlaces, placeSlicer, unpackPlaces } from "../domain/locations/packed.ts";
import type { TextUnit } from "../domain/text-unit.ts";
import { closesFence, fenceOpening, isTableDelimiter } from "./text/markdown-lines.ts";

/** UTF-16 code units of a heading; the rest becomes a paragraph after it. */
const MAX_HEADING_CHARS = 512;

const MAX_UNIT_BYTES = 64 * 1024;

/** A longer table head or fence opening is not repeated in parts: its block is cut as plain text. */
const MAX_REPEATED_BYTES = MAX_UNIT_BYTES / 8;

/** The unit itself if it is within bounds, else its parts in order. Only the first may be a heading. */
export function cutUnit(unit: TextUnit): readonly TextUnit[] {
  if (unit.type === "heading" && unit.text.length > MAX_HEADING_CHARS) return cutHeading(unit);
  return fits(unit.text) ? [unit] : cutBlock(unit);
}

function fits(text: string): boolean {
  return text.length * 3 <= MAX_UNIT_BYTES || Buffer.byteLength(text) <= MAX_UNIT_BYTES;
}

function cutHeading({ level, ...heading }: TextUnit): readonly TextUnit[] {
  const { text } = heading;
  const space = text.slice(MAX_HEADING_CHARS / 2, MAX_HEADING_CHARS).lastIndexOf(" ");
  const end = space < 0 ? withoutHalfPair(text, MAX_HEADING_CHARS) : MAX_HEADING_CHARS / 2 + space;
  const [kept, rest] = partsOf(heading, [trimmed(text, 0, end), trimmed(text, end, text.length)]);
  return [
    ...(kept === undefined ? [] : [level === undefined ? kept : { ...kept, level }]),
    ...(rest === undefined ? [] : cutUnit({ ...rest, type: "paragraph" })),
  ];
}

/** A stretch [from, to) of a unit's text, at `at` in a part. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly at: number;
}

/** A part of a unit's text. What is in no stretch is repeated or added, and stands nowhere in the file. */
interface Part {
  readonly text: string;
  readonly stretches: readonly Stretch[];
}

/** The parts as units, each with the places of its stretches. */
function partsOf(unit: TextUnit, parts: readonly Part[]): TextUnit[] {
  const { places, ...rest } = unit;
  if (places === undefined) return parts.map(({ text }) => ({ ...rest, text }));
  const placesIn = placeSlicer(unpackPlaces(places), unit.text);
  return parts.map(({ text, stretches }) => {
    const found: Place[] = stretches.flatMap(({ from, to, at }) => placesIn({ from, to, shift: at }));
    const packed = packPlaces(found);
    return packed === undefined ? { ...rest, text } : { ...rest, text, places: packed };
  });
}

/** The part [from, to) of a text without white space around it. */
function trimmed(text: string, from: number, to: number): Part {
  const part = text.slice(from, to);
  const core = part.trim();
  const start = from + part.length - part.trimStart().length;
  return { text: core, stretches: [{ from: start, to: start + core.length, at: 0 }] };
}

/** A line of a unit, which begins at `from` in the unit's text. */
interface Line {
  readonly text: string;
  readonly from: number;
}

/** What each part of a block is wrapped in. */
interface Frame {
  readonly open: string;
  readonly close: string;
  /** Where `open` stands in the unit, if its words are the unit's. */
  readonly opening?: Stretch;
  /** What goes around a part of a line longer than a unit, so that it is a line of the block. */
  around(part: string, index: number): readonly [before: string, after: string];
}

const PLAIN: Frame = { open: "", close: "", around: () => ["", ""] };

function cutBlock(unit: TextUnit): readonly TextUnit[] {
  const parts = PARTS_OF[unit.type]?.(unit.text);
  if (parts !== undefined) return partsOf(unit, parts);
  const type = unit.type === "table" ? "paragraph" : unit.type;
  return partsOf({ ...unit, type }, [...plainParts(unit.text, MAX_UNIT_BYTES)]);
}

/** Blocks whose parts need marks of their own; the result is undefined if these marks cannot be repeated. */
const PARTS_OF: Partial<Record<TextUnit["type"], (text: string) => Part[] | undefined>> = {
  table: tableParts,
  code: codeParts,
  quote: (text) => framed(linesOf(text, 0, text.length), QUOTE),
};

const QUOTE: Frame = { ...PLAIN, around: (_part, index) => [index === 0 ? "" : "> ", ""] };

function linesOf(text: string, from: number, to: number): Line[] {
  let start = from;
  return text
    .slice(from, to)
    .split("\n")
    .map((line) => {
      const placed = { text: line, from: start };
      start += line.length + 1;
      return placed;
    });
}

/** Parts that each repeat the table's head; undefined if it has none that can be repeated. */
function tableParts(table: string): Part[] | undefined {
  const head = tableHead(table);
  if (head === "" || Buffer.byteLength(head) > MAX_REPEATED_BYTES) return undefined;
  return framed(linesOf(table, head.length + 1, table.length), {
    open: `${head}\n`,
    close: "",
    opening: { from: 0, to: head.length, at: 0 },
    around: (part) => [part.trimStart().startsWith("|") ? "" : "| ", part.endsWith("|") ? "" : " |"],
  });
}

/** The first two lines of a pipe table, without the line break after them; empty if it is none. */
export function tableHead(table: string): string {
  const first = table.indexOf("\n");
  const second = table.indexOf("\n", first + 1);
  if (first < 0) return "";
  const delimiters = table.slice(first + 1, second < 0 ? table.length : second);
  return isTableDelimiter(delimiters) ? table.slice(0, second < 0 ? table.length : second) : "";
}

/** Parts that each have a fence like the block's, or are indented if the block is. */
function codeParts(code: string): Part[] {
  const lines = linesOf(code, 0, code.length);
  const opening = lines[0]?.text ?? "";
  const fence = fenceOpening(opening);
  if (fence === undefined)
    return framed(lines, { ...PLAIN, around: (_part, index) => [index === 0 ? "" : "    ", ""] });
  const isClosed = lines.length > 1 && closesFence(lines.at(-1)?.text ?? "", fence);
  const body = lines.slice(1, isClosed ? -1 : undefined);
  // The text after the marks is a language, or else too long to repeat.
  const isShort = Buffer.byteLength(opening) <= MAX_REPEATED_BYTES;
  const marks = fence.mark.repeat(isShort ? fence.length : Math.min(fence.length, 512));
  const marksEnd = opening.length - opening.trimStart().length + fence.length;
  return framed(isShort ? body : [{ text: opening.trimEnd().slice(marksEnd), from: marksEnd }, ...body], {
    ...PLAIN,
    open: `${isShort ? opening : marks}\n`,
    close: `\n${marks}`,
  });
}

/** Bytes that {@link Frame.around} may add to a line. */
const LINE_ROOM = 8;

function framed(lines: readonly Line[], frame: Frame): Part[] {
  const room = MAX_UNIT_BYTES - Buffer.byteLength(frame.open) - Buffer.byteLength(frame.close) - LINE_ROOM;
  const parts: Part[] = [];
  let part: Line[] = [];
  let bytes = 0;
  const end = (): void => {
    if (part.some((line) => line.text.trim() !== "")) parts.push(framedPart(part, frame));
    part = [];
    bytes = 0;
  };
  for (const line of lines) {
    const size = Buffer.byteLength(line.text) + 1;
    if (bytes + size > room) end();
    if (size <= room) {
      part.push(line);
      bytes += size;
      continue;
    }
    [...plainParts(line.text, room)].forEach((cut, index) => parts.push(framedCut(line, cut, frame, index)));
  }
  end();
  return parts;
}

function framedPart(lines: readonly Line[], frame: Frame): Part {
  const stretches: Stretch[] = frame.opening === undefined ? [] : [frame.opening];
  let at = frame.open.length;
  let stretch: Stretch | undefined;
  for (const { text, from } of lines) {
    // Lines that follow one another in the unit are one stretch, with the line breaks between them.
    if (stretch?.to === from - 1) stretch = { ...stretch, to: from + text.length };
    else {
      if (stretch !== undefined) stretches.push(stretch);
      stretch = { from, to: from + text.length, at };
    }
    at += text.length + 1;
  }
  if (stretch !== undefined) stretches.push(stretch);
  return { text: `${frame.open}${lines.map(({ text }) => text).join("\n")}${frame.close}`, stretches };
}

/** A part that holds nothing but a part of a line. */
function framedCut(line: Line, cut: Part, frame: Frame, index: number): Part {
  const core = index === 0 ? cut.text : cut.text.trimStart();
  const [before, after] = frame.around(core, index);
  const [{ from } = { from: 0 }] = cut.stretches;
  const start = line.from + from + cut.text.length - core.length;
  const at = frame.open.length + before.length;
  return {
    text: `${frame.open}${before}${core}${after}${frame.close}`,
    stretches: [
      ...(frame.opening === undefined ? [] : [frame.opening]),
      { from: start, to: start + core.length, at },
    ],
  };
}

/** Text in parts of at most `maxBytes`, cut after a line or word if the second half has an end. */
function* plainParts(text: string, maxBytes: number): Generator<Part> {
  let start = 0;
  while (start < text.length) {
    const limit = endWithin(text, start, maxBytes);
    const end = limit < text.length ? lastBoundary(text, start, limit) : limit;
    const withoutBreaks = text.slice(start, end).replace(/^\n+/, "");
    const part = withoutBreaks.trimEnd();
    const from = end - withoutBreaks.length;
    if (part !== "") yield { text: part, stretches: [{ from, to: from + part.length, at: 0 }] };
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
