/** Turns liteparse's layout blocks into text units. */

import type { LayoutBlock, ParsedPage } from "@llamaindex/liteparse";
import type { Place } from "../../domain/locations/location.ts";
import { packPlaces } from "../../domain/locations/packed.ts";
import type { TextUnit, UnitType } from "../../domain/text-unit.ts";
import type { HeadingPath } from "../heading-path.ts";
import { fenced } from "../text/markdown-format.ts";
import type { Turn } from "./layout/frame.ts";
import type { PlacedUnit } from "./page-edges.ts";
import { pageRuns } from "./layout/page-runs.ts";
import { storableText } from "../parser.ts";
import { joinPieces, type PageGeometry, type Piece } from "./layout/places.ts";
import type { Part } from "./layout/prose.ts";
import { countSourceText } from "../source-text.ts";
import { withNeighbours } from "./layout/table-neighbours.ts";
import { tableParts } from "./layout/tables.ts";

const LIST_INDENT = "  ";

/** Running headers and footers are within this share of a page's height, at its top and bottom. */
const EDGE_SHARE = 0.1;

/** A page as liteparse reads it; `turn` if it was turned back for that. */
export type ReadPage = ParsedPage & { readonly turn?: Turn };

/** The units of one page in reading order. Consecutive list items become one list. */
export function pageUnits(page: ReadPage, path: HeadingPath): PlacedUnit[] {
  countSourceText(page.text.length);
  const { width, height, turn = 0 } = page;
  const geometry = { page: page.pageNum, frame: { width, height, turn }, runs: pageRuns(page.textItems) };
  const placed: PlacedUnit[] = [];
  const add = (type: UnitType, pieces: readonly Piece[], edge?: PlacedUnit["edge"]): void => {
    const found = unitOf(type, pieces, { geometry, path });
    if (found !== undefined) placed.push({ unit: found, edge });
  };
  let items: Piece[] = [];
  const endList = (): void => {
    add("list", items);
    items = [];
  };
  for (const block of withNeighbours(page.blocks ?? [], geometry.runs.runs)) {
    if (block.kind === "list_item") {
      items.push(listItem(block));
      continue;
    }
    endList();
    const edge = edgeOf(block, page);
    for (const part of blockParts(block, geometry)) {
      if (part.type === "heading") addHeading(placed, part, { geometry, path, edge });
      else add(part.type, part.pieces, edge);
    }
  }
  endList();
  return placed;
}

interface Reading {
  readonly geometry: PageGeometry;
  readonly path: HeadingPath;
}

/** Undefined if the text is blank. */
function unitOf(type: UnitType, pieces: readonly Piece[], { geometry, path }: Reading): TextUnit | undefined {
  const { text, places } = joinPieces(pieces, geometry);
  const stored = text.trimEnd();
  if (stored.trim() === "") return undefined;
  return { type, text: stored, page: geometry.page, heading_path: path.current(), ...packed(places) };
}

function packed(places: readonly Place[]): Pick<TextUnit, "places"> {
  const stored = packPlaces(places);
  return stored === undefined ? {} : { places: stored };
}

function blockParts(block: LayoutBlock, { runs }: PageGeometry): Part[] {
  const region = block.bbox;
  if (block.kind === "table") return tableParts(block, runs.runs);
  if (block.kind === "heading")
    return [
      {
        type: "heading",
        pieces: [{ text: storableText(block.text ?? ""), region }],
        level: Math.min(Math.max(block.level ?? 1, 1), 6),
      },
    ];
  if (block.kind === "paragraph")
    return [{ type: "paragraph", pieces: [{ text: storableText(plainInline(block.text ?? "")), region }] }];
  const drawn = storableText((block.lines ?? []).join("\n"));
  if (block.kind === "grid_fallback") return [{ type: "paragraph", pieces: [{ text: drawn, region }] }];
  if (block.kind !== "code") return [];
  return [{ type: "code", pieces: [{ text: fenced(drawn.split("\n"), block.lang), region, drawn }] }];
}

function edgeOf({ bbox }: LayoutBlock, page: ParsedPage): PlacedUnit["edge"] {
  if (bbox === undefined) return undefined;
  if (bbox.y + bbox.height < page.height * EDGE_SHARE) return "top";
  return bbox.y > page.height * (1 - EDGE_SHARE) ? "bottom" : undefined;
}

function addHeading(
  placed: PlacedUnit[],
  { pieces, level = 1 }: Part,
  { geometry, path, edge }: Reading & { edge: PlacedUnit["edge"] },
): void {
  const { text, places } = joinPieces(
    pieces.map((piece) => ({ ...piece, text: piece.text.trim(), kind: "heading" })),
    geometry,
  );
  if (text === "") return;
  const heading_path = path.enter(level, text);
  const unit: TextUnit = { type: "heading", text, page: geometry.page, heading_path, level };
  placed.push({ unit: { ...unit, ...packed(places) }, edge });
}

function listItem(block: LayoutBlock): Piece {
  const indent = LIST_INDENT.repeat(Math.max(block.level ?? 0, 0));
  const text = storableText(plainInline(block.text ?? ""));
  const region = block.bbox;
  if (block.ordered !== true) return { text: `${indent}- ${text}`, region, drawn: text };
  const drawn = `${storableText(block.marker ?? "1.")} ${text}`;
  return { text: `${indent}${drawn}`, region, drawn };
}

/**
 * The words of a paragraph or list item as they are on the page: liteparse marks bold and italic with
 * asterisks and what a line crosses out with tildes, and escapes asterisks, backslashes and underscores of
 * the text. Search and citations need none of it. Headings and cells come without marks.
 */
function plainInline(text: string): string {
  return /[*\\~]/.test(text) ? text.replace(/\\([\\*_])|\*+|~~/g, "$1") : text;
}
