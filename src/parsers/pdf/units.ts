/** Turns liteparse's layout blocks into text units. */

import type { LayoutBlock, ParsedPage } from "@llamaindex/liteparse";
import type { UnitType } from "../../domain/text-unit.ts";
import type { HeadingPath } from "../heading-path.ts";
import { fenced, pipeTable } from "../text/markdown-format.ts";
import type { PlacedUnit } from "./page-edges.ts";
import { storableText } from "../parser.ts";
import { countSourceText } from "../source-text.ts";

const LIST_INDENT = "  ";

/** Running headers and footers are within this share of a page's height, at its top and bottom. */
const EDGE_SHARE = 0.1;

/** The units of one page in reading order. Consecutive list items become one list; rules are left out. */
export function pageUnits(page: ParsedPage, path: HeadingPath): PlacedUnit[] {
  countSourceText(page.text.length);
  const placed: PlacedUnit[] = [];
  const add = (type: UnitType, text: string, edge: PlacedUnit["edge"]): void => {
    const stored = storableText(text).trimEnd();
    if (stored.trim() !== "")
      placed.push({ unit: { type, text: stored, page: page.pageNum, heading_path: path.current() }, edge });
  };
  let items: string[] = [];
  const endList = (): void => {
    if (items.length > 0) add("list", items.join("\n"), undefined);
    items = [];
  };
  for (const block of page.blocks ?? []) {
    if (block.kind === "list_item") {
      items.push(listItem(block));
      continue;
    }
    endList();
    const edge = edgeOf(block, page);
    if (block.kind === "heading") addHeading(placed, block, { page, path });
    else add(UNIT_OF_BLOCK[block.kind] ?? "paragraph", blockText(block), edge);
  }
  endList();
  return placed;
}

const UNIT_OF_BLOCK: Partial<Record<LayoutBlock["kind"], UnitType>> = { table: "table", code: "code" };

function blockText(block: LayoutBlock): string {
  if (block.kind === "paragraph") return plainInline(block.text ?? "");
  if (block.kind === "table") return tableText(block);
  if (block.kind === "code") return fenced(block.lines ?? [], block.lang);
  return block.kind === "grid_fallback" ? (block.lines ?? []).join("\n") : "";
}

function edgeOf({ bbox }: LayoutBlock, page: ParsedPage): PlacedUnit["edge"] {
  if (bbox === undefined) return undefined;
  if (bbox.y + bbox.height < page.height * EDGE_SHARE) return "top";
  return bbox.y > page.height * (1 - EDGE_SHARE) ? "bottom" : undefined;
}

function addHeading(
  placed: PlacedUnit[],
  block: LayoutBlock,
  place: { page: ParsedPage; path: HeadingPath },
): void {
  const text = storableText(block.text ?? "").trim();
  const level = Math.min(Math.max(block.level ?? 1, 1), 6);
  const edge = edgeOf(block, place.page);
  if (text !== "")
    placed.push({
      unit: {
        type: "heading",
        text,
        page: place.page.pageNum,
        heading_path: place.path.enter(level, text),
        level,
      },
      edge,
    });
}

function listItem(block: LayoutBlock): string {
  const marker = block.ordered === true ? (block.marker ?? "1.") : "-";
  return `${LIST_INDENT.repeat(Math.max(block.level ?? 0, 0))}${marker} ${plainInline(block.text ?? "")}`;
}

/**
 * The words of a paragraph or list item as they are on the page: liteparse marks bold and italic with
 * asterisks, and escapes asterisks, backslashes and underscores of the text. Search and citations need
 * neither. Headings and cells come without marks.
 */
function plainInline(text: string): string {
  return text.includes("*") || text.includes("\\") ? text.replace(/\\([\\*_])|\*+/g, "$1") : text;
}

function tableText(block: LayoutBlock): string {
  const rows = [...(block.header === undefined ? [] : [block.header]), ...(block.rows ?? [])];
  return pipeTable(rows.map((row) => row.map((cell) => cell.text)));
}
