/** Places as they are stored with units and chunks: some ten bytes a line of text. */

import { type Box, type Context, contextOf, type Place, type Spot } from "./location.ts";

/**
 * `contexts` has each context once; `runs` is base64url of a number (varint) for each of: the characters since
 * the end of the place before, its length, its context, and what it has ({@link PAYLOADS}), and then that.
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

/** Boxes are stored in parts of this, of a page's width and height: a tenth of a millimetre of a page of 6 m. */
const BOX_STEPS = 65_535;

/** Undefined if there are none, so that units without a place store nothing. */
export function packPlaces(places: readonly Place[]): PackedPlaces | undefined {
  if (places.length === 0) return undefined;
  const contexts: Context[] = [];
  const numbers = new Map<string, number>();
  const bytes: number[] = [];
  let end = 0;
  for (const { from, to, spot } of places) {
    const context = contextOf(spot);
    const key = JSON.stringify(context);
    let number = numbers.get(key);
    if (number === undefined) {
      number = contexts.length;
      numbers.set(key, number);
      contexts.push(context);
    }
    pushNumbers(bytes, [from - end, to - from, number]);
    pushSpot(bytes, spot);
    end = to;
  }
  return { contexts, runs: Buffer.from(bytes).toString("base64url") };
}

function pushSpot(bytes: number[], { box, cells, lines }: Spot): void {
  if (box !== undefined) {
    bytes.push(BOX);
    for (const fraction of box) {
      const step = Math.round(Math.min(Math.max(fraction, 0), 1) * BOX_STEPS);
      bytes.push(step >>> 8, step & 0xff);
    }
  } else if (cells !== undefined) pushNumbers(bytes, [CELLS, ...cells]);
  else if (lines !== undefined) pushNumbers(bytes, [LINES, lines[0], lines[1] - lines[0]]);
  else bytes.push(NOTHING);
}

/** Empty for what was stored without places, and from the first that a later version wrote in another way on. */
export function unpackPlaces(packed: PackedPlaces | null | undefined): Place[] {
  if (packed === null || packed === undefined) return [];
  const reader = { bytes: Buffer.from(packed.runs, "base64url"), at: 0 };
  const places: Place[] = [];
  let end = 0;
  while (reader.at < reader.bytes.length) {
    const from = end + nextNumber(reader);
    const to = from + nextNumber(reader);
    const context = packed.contexts[nextNumber(reader)] ?? {};
    const extent = nextExtent(reader);
    if (extent === undefined) break;
    places.push({ from, to, spot: { ...context, ...extent } });
    end = to;
  }
  return places;
}

interface Reader {
  readonly bytes: Buffer;
  at: number;
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

function pushNumbers(bytes: number[], numbers: readonly number[]): void {
  for (const number of numbers) {
    let rest = Math.max(0, Math.trunc(number));
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
    bytes.push(rest);
  }
}

function nextNumber(reader: Reader): number {
  let number = 0;
  for (let factor = 1; ; factor *= 128) {
    const byte = reader.bytes[reader.at++] ?? 0;
    number += (byte & 0x7f) * factor;
    if (byte < 128) return number;
  }
}

/**
 * The places of the words in [from, to) of a text, as offsets in that part plus `shift`. A place of which a
 * part is outside is cut; the lines of a place whose text has a line break for each are cut with it.
 */
export function slicePlaces(
  places: readonly Place[],
  text: string,
  { from, to, shift = 0 }: { from: number; to: number; shift?: number },
): Place[] {
  const sliced: Place[] = [];
  for (const place of places) {
    if (place.to <= from || place.from >= to) continue;
    const start = Math.max(place.from, from);
    const end = Math.min(place.to, to);
    sliced.push({
      from: start - from + shift,
      to: end - from + shift,
      spot: cutLines(place, text, start, end),
    });
  }
  return sliced;
}

function cutLines({ from, to, spot }: Place, text: string, start: number, end: number): Spot {
  if (spot.lines === undefined || (start === from && end === to)) return spot;
  const [first, last] = spot.lines;
  if (breaksIn(text, from, to) !== last - first) return spot;
  const begin = first + breaksIn(text, from, start);
  // A line break at the end belongs to the line that it ends.
  return { ...spot, lines: [begin, begin + breaksIn(text, start, end - 1)] };
}

function breaksIn(text: string, from: number, to: number): number {
  let breaks = 0;
  for (let at = text.indexOf("\n", from); at >= 0 && at < to; at = text.indexOf("\n", at + 1)) breaks++;
  return breaks;
}
