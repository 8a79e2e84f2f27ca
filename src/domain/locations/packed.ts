/** Places as they are stored with units and chunks: some ten bytes a line of text. */

import { type Box, type Context, contextOf, type Place, type Spot } from "./location.ts";

/**
 * `contexts` has each context once; `runs` is base64url of a number (varint) for each of: the characters
 * since the end of the place before, its length, its context, and what it has ({@link PAYLOADS}), and then
 * that.
 */
export interface PackedPlaces {
  readonly contexts: readonly Context[];
  readonly runs: string;
}

/** The numbers of these are stored; more may be added, old ones never change. */
const NOTHING = 0;
const BOX = 1;
const CELLS = 2;
const LINES = 3;

/** Boxes are stored in parts of this, of a page's width and height: 0.1 mm of a page of 6 m. */
const BOX_STEPS = 65_535;

/** Undefined if there are none, so that units without a place store nothing. */
export function packPlaces(places: readonly Place[]): PackedPlaces | undefined {
  const [first] = places;
  if (first === undefined) return undefined;
  const contexts = [contextOf(first.spot)];
  const numbers = new Map<string, number>();
  const writer: Writer = { bytes: scratch, at: 0 };
  let end = 0;
  let before = first.spot;
  let number = 0;
  for (const { from, to, spot } of places) {
    if (!haveSameContext(before, spot)) number = numberOf(spot, contexts, numbers);
    before = spot;
    reserve(writer);
    writeNumber(writer, from - end);
    writeNumber(writer, to - from);
    writeNumber(writer, number);
    writeExtent(writer, spot);
    end = to;
  }
  return { contexts, runs: writer.bytes.toString("base64url", 0, writer.at) };
}

/** Spares most places the key of their context. */
function haveSameContext(one: Spot, other: Spot): boolean {
  return (
    one === other ||
    (one.page === other.page &&
      one.element === other.element &&
      one.slide === other.slide &&
      one.shape === other.shape &&
      one.sheet === other.sheet &&
      one.part === other.part &&
      one.heading_path === other.heading_path)
  );
}

/** @param numbers Those of the contexts by their JSON; it is filled when a second context comes. */
function numberOf(spot: Spot, contexts: Context[], numbers: Map<string, number>): number {
  if (numbers.size === 0) numbers.set(JSON.stringify(contexts[0]), 0);
  const context = contextOf(spot);
  const key = JSON.stringify(context);
  const known = numbers.get(key);
  if (known !== undefined) return known;
  numbers.set(key, contexts.length);
  contexts.push(context);
  return contexts.length - 1;
}

interface Writer {
  bytes: Buffer;
  at: number;
}

/** Most units have few places: their bytes need no memory of their own. */
const scratch = Buffer.alloc(4_096);

/** Bytes that one place may take: eight numbers of 53 bits. */
const MAX_PLACE_BYTES = 64;

function reserve(writer: Writer): void {
  if (writer.at + MAX_PLACE_BYTES <= writer.bytes.length) return;
  const larger = Buffer.alloc(writer.bytes.length * 2);
  writer.bytes.copy(larger, 0, 0, writer.at);
  writer.bytes = larger;
}

function writeExtent(writer: Writer, { box, cells, lines }: Spot): void {
  if (box !== undefined) {
    writeNumber(writer, BOX);
    for (const fraction of box) {
      const step = Math.round(Math.min(Math.max(fraction, 0), 1) * BOX_STEPS);
      writer.at = writer.bytes.writeUInt16BE(step, writer.at);
    }
  } else if (cells !== undefined) {
    writeNumber(writer, CELLS);
    for (const cell of cells) writeNumber(writer, cell);
  } else if (lines !== undefined) {
    writeNumber(writer, LINES);
    writeNumber(writer, lines[0]);
    writeNumber(writer, lines[1] - lines[0]);
  } else writeNumber(writer, NOTHING);
}

function writeNumber(writer: Writer, number: number): void {
  let rest = number > 0 ? Math.min(Math.trunc(number), Number.MAX_SAFE_INTEGER) : 0;
  for (; rest >= 128; rest = Math.floor(rest / 128)) writer.bytes[writer.at++] = (rest % 128) + 128;
  writer.bytes[writer.at++] = rest;
}

/** Empty for what was stored without places; ends at one that is damaged or of a later version's form. */
export function unpackPlaces(packed: PackedPlaces | null | undefined): Place[] {
  if (packed === null || packed === undefined) return [];
  const reader = { bytes: Buffer.from(packed.runs, "base64url"), at: 0 };
  const places: Place[] = [];
  let end = 0;
  while (reader.at < reader.bytes.length) {
    const from = end + nextNumber(reader);
    const to = from + nextNumber(reader);
    const context = packed.contexts[nextNumber(reader)];
    const extent = nextExtent(reader);
    if (extent === undefined || context === undefined || !isWhole(reader, to)) break;
    places.push({ from, to, spot: { ...context, ...extent } });
    end = to;
  }
  return places;
}

/** No text, sheet or file has an offset, row or line beyond this. */
const MAX_NUMBER = 2 ** 31;

interface Reader {
  readonly bytes: Buffer;
  at: number;
}

/** False if the bytes ended before the place did, or a number was beyond all bounds. */
function isWhole(reader: Reader, end: number): boolean {
  return reader.at <= reader.bytes.length && end <= MAX_NUMBER;
}

function nextExtent(reader: Reader): Spot | undefined {
  const kind = nextNumber(reader);
  if (kind === NOTHING) return {};
  if (kind === BOX) {
    const fractions = [0, 1, 2, 3].map((side) => {
      const at = reader.at + 2 * side;
      return round(((reader.bytes[at] ?? 0) * 256 + (reader.bytes[at + 1] ?? 0)) / BOX_STEPS);
    });
    reader.at += 8;
    return { box: fractions as unknown as Box };
  }
  if (kind === CELLS)
    return { cells: [nextNumber(reader), nextNumber(reader), nextNumber(reader), nextNumber(reader)] };
  if (kind !== LINES) return undefined;
  const first = nextNumber(reader);
  return { lines: [first, first + nextNumber(reader)] };
}

function round(fraction: number): number {
  return Math.round(fraction * 100_000) / 100_000;
}

/** Larger numbers end the reading: {@link isWhole}. */
function nextNumber(reader: Reader): number {
  let number = 0;
  for (let factor = 1; ; factor *= 128) {
    const byte = reader.bytes[reader.at++] ?? 0;
    number += (byte & 0x7f) * factor;
    if (number > MAX_NUMBER) reader.at = Infinity;
    if (byte < 128 || number > MAX_NUMBER) return number;
  }
}

/** About how many characters of JSON the places take. */
export function packedSize(packed: PackedPlaces | undefined): number {
  if (packed === undefined) return 0;
  return packed.contexts.reduce((sum, context) => sum + contextSize(context), packed.runs.length);
}

const CONTEXT_MARKS = 16;

function contextSize({
  element = "",
  sheet = "",
  shape = "",
  part = "",
  heading_path = [],
}: Context): number {
  const names = element.length + sheet.length + shape.length + part.length;
  return heading_path.reduce((sum, heading) => sum + heading.length, CONTEXT_MARKS + names);
}

interface TextRange {
  readonly from: number;
  readonly to: number;
  /** Added to the offsets of the result, which are otherwise counted from `from`. Default: 0. */
  readonly shift?: number;
}

/**
 * The places of the words in [from, to) of a text, as offsets in that part plus `shift`. A place of which a
 * part is outside is cut; the lines of a place whose text has a line break for each are cut with it.
 */
export function slicePlaces(places: readonly Place[], text: string, range: TextRange): Place[] {
  return placeSlicer(places, text)(range);
}

/**
 * Cuts the same places again and again, as {@link slicePlaces} does. Ranges in the order of the text cost
 * together no more than the text once, although each begins in the place in which the one before ended.
 */
export function placeSlicer(places: readonly Place[], text: string): (range: TextRange) => Place[] {
  const cutLines = lineCutter(text);
  return ({ from, to, shift = 0 }) => {
    const sliced: Place[] = [];
    for (let at = firstAfter(places, from); at < places.length; at++) {
      const place = places[at];
      if (place === undefined || place.from >= to) break;
      const start = Math.max(place.from, from);
      const end = Math.min(place.to, to);
      sliced.push({
        from: start - from + shift,
        to: end - from + shift,
        spot: cutLines(place, start, end),
      });
    }
    return sliced;
  };
}

/** The number of places that end at `offset` or before. */
function firstAfter(places: readonly Place[], offset: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((places[middle]?.to ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Gives the spot of a part of a place: the part's lines, if each line of the text is one of the file. */
function lineCutter(text: string): (place: Place, start: number, end: number) => Spot {
  let current: Place | undefined;
  let isLineByLine = false;
  /** The line breaks of `current` before `counted`. */
  let breaks = 0;
  let counted = 0;
  return (place, start, end) => {
    const { from, to, spot } = place;
    if (spot.lines === undefined || (start === from && end === to)) return spot;
    const [first, last] = spot.lines;
    if (first === last) return spot;
    if (current !== place) {
      current = place;
      isLineByLine = breaksIn(text, from, to) === last - first;
      counted = Infinity;
    }
    if (!isLineByLine) return spot;
    if (counted > start) {
      counted = from;
      breaks = 0;
    }
    breaks += breaksIn(text, counted, start);
    counted = start;
    const begin = first + breaks;
    // A line break at the end belongs to the line that it ends.
    return { ...spot, lines: [begin, begin + breaksIn(text, start, end - 1)] };
  };
}

function breaksIn(text: string, from: number, to: number): number {
  // Of the part alone: a search in the whole text would run on to its end.
  const part = text.slice(from, to);
  let breaks = 0;
  for (let at = part.indexOf("\n"); at >= 0; at = part.indexOf("\n", at + 1)) breaks++;
  return breaks;
}
