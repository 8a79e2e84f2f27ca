/** Turns liteparse's layout blocks into text units. */

import type { LayoutBlock, ParsedPage } from "@llamaindex/liteparse";
import type { Place } from "../../domain/locations/location.ts";
import { packPlaces } from "../../domain/locations/packed.ts";
import type { TextUnit, UnitType } from "../../domain/text-unit.ts";
import type { HeadingPath } from "../heading-path.ts";
import { fenced } from "../text/markdown-format.ts";
import type { Turn } from "./frame.ts";
import type { PlacedUnit } from "./page-edges.ts";
import { pageRuns } from "./page-runs.ts";
import { storableText } from "../parser.ts";
import { joinPieces, type PageGeometry, type Piece } from "./places.ts";
import { countSourceText } from "../source-text.ts";
import { tablePieces } from "./tables.ts";

const LIST_INDENT = "  ";

/** Running headers and footers are within this share of a page's height, at its top and bottom. */
const EDGE_SHARE = 0.1;

/** A page as liteparse reads it; `turn` if it was turned back for that. */
export type ReadPage = ParsedPage & { readonly turn?: Turn };

/** The units of one page in reading order. Consecutive list items become one list; rules are left out. */
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
  for (const block of page.blocks ?? []) {
    if (block.kind === "list_item") {
      items.push(listItem(block));
      continue;
    }
    endList();
    const edge = edgeOf(block, page);
    if (block.kind === "heading") addHeading(placed, block, { geometry, path, edge });
    else add(UNIT_OF_BLOCK[block.kind] ?? "paragraph", blockPieces(block), edge);
  }
  endList();
  return placed;
}

const UNIT_OF_BLOCK: Partial<Record<LayoutBlock["kind"], UnitType>> = { table: "table", code: "code" };

interface Reading {
  readonly geometry: PageGeometry;
  readonly path: HeadingPath;
}

/** Undefined if the text is blank. */
function unitOf(
  type: UnitType,
  pieces: readonly Piece[],
  { geometry, path }: Reading,
): TextUnit | undefined {
  const { text, places } = joinPieces(pieces, geometry);
  const stored = text.trimEnd();
  if (stored.trim() === "") return undefined;
  return { type, text: stored, page: geometry.page, heading_path: path.current(), ...packed(places) };
}

function packed(places: readonly Place[]): Pick<TextUnit, "places"> {
  const stored = packPlaces(places);
  return stored === undefined ? {} : { places: stored };
}

function blockPieces(block: LayoutBlock): Piece[] {
  const region = block.bbox;
  if (block.kind === "paragraph") return [{ text: storableText(plainInline(block.text ?? "")), region }];
  if (block.kind === "table") return tablePieces(block);
  const drawn = storableText((block.lines ?? []).join("\n"));
  if (block.kind === "grid_fallback") return [{ text: drawn, region }];
  return block.kind === "code" ? [{ text: fenced(drawn.split("\n"), block.lang), region, drawn }] : [];
}

function edgeOf({ bbox }: LayoutBlock, page: ParsedPage): PlacedUnit["edge"] {
  if (bbox === undefined) return undefined;
  if (bbox.y + bbox.height < page.height * EDGE_SHARE) return "top";
  return bbox.y > page.height * (1 - EDGE_SHARE) ? "bottom" : undefined;
}

function addHeading(
  placed: PlacedUnit[],
  block: LayoutBlock,
  { geometry, path, edge }: Reading & { edge: PlacedUnit["edge"] },
): void {
  const text = storableText(block.text ?? "").trim();
  const level = Math.min(Math.max(block.level ?? 1, 1), 6);
  if (text === "") return;
  const { places } = joinPieces([{ text, region: block.bbox }], geometry);
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
