/** Says where on its page the text of a unit is, line by line. */

import type { Place } from "../../../domain/locations/location.ts";
import { boxOf, type Frame, type Rectangle } from "./frame.ts";
import { findHeadingLines, findLines, type PageRuns, type TextLine } from "./page-runs.ts";

export interface PageGeometry {
  readonly page: number;
  readonly frame: Frame;
  readonly runs: PageRuns;
}

function placesOf(lines: readonly TextLine[], { page, frame }: PageGeometry): Place[] {
  return lines.flatMap(({ from, to, rectangle }) => {
    const box = boxOf(rectangle, frame);
    return box === undefined ? [] : [{ from, to, spot: { page, box } }];
  });
}

/** A piece of a unit's text and the region of the page that it was read from. */
export interface Piece {
  readonly text: string;
  readonly region: Rectangle | undefined;
  /** The part of the text that is drawn on the page. Default: all of it. */
  readonly drawn?: string;
  /** A row of a table has one place, since its text has marks between the cells. Default: lines. */
  readonly kind?: "row" | "heading";
}

/** The pieces as one text, a line each, and the places of their words. */
export function joinPieces(
  pieces: readonly Piece[],
  geometry: PageGeometry,
): { text: string; places: Place[] } {
  const texts: string[] = [];
  const places: Place[] = [];
  let start = 0;
  for (const piece of pieces) {
    const { text, drawn = text } = piece;
    const shift = start + Math.max(text.lastIndexOf(drawn), 0);
    for (const place of placesOf(linesOf(piece, geometry), geometry))
      places.push({ ...place, from: place.from + shift, to: place.to + shift });
    texts.push(text);
    start += text.length + 1;
  }
  return { text: texts.join("\n"), places };
}

function linesOf({ text, region, drawn = text, kind }: Piece, { runs }: PageGeometry): TextLine[] {
  if (region === undefined) return [];
  if (kind === "row") return [{ from: 0, to: text.length, rectangle: region }];
  return kind === "heading" ? findHeadingLines(drawn, runs, region) : findLines(drawn, runs, region);
}
