/** The only place that turns liteparse's layout blocks into text units. */

import type { LayoutBlock, ParsedPage } from "@llamaindex/liteparse";
import type { TextUnit, UnitType } from "../domain/text-unit.ts";
import type { HeadingPath } from "./heading-path.ts";
import { fenced, pipeTable } from "./markdown-format.ts";
import { storableText } from "./parser.ts";

const LIST_INDENT = "  ";

/** Units of one page in reading order. List items that follow each other are one list; rules say nothing and are left out. */
export function pageUnits(page: ParsedPage, path: HeadingPath): TextUnit[] {
  const units: TextUnit[] = [];
  const add = (type: UnitType, text: string): void => {
    const stored = storableText(text).trimEnd();
    if (stored.trim() !== "") units.push({ type, text: stored, page: page.pageNum, heading_path: path.current() });
  };
  let items: string[] = [];
  const endList = (): void => {
    if (items.length > 0) add("list", items.join("\n"));
    items = [];
  };
  for (const block of page.blocks ?? []) {
    if (block.kind === "list_item") {
      items.push(listItem(block));
      continue;
    }
    endList();
    if (block.kind === "heading") addHeading(units, block, { page, path });
    else if (block.kind === "paragraph") add("paragraph", plainInline(block.text ?? ""));
    else if (block.kind === "table") add("table", tableText(block));
    else if (block.kind === "code") add("code", fenced(block.lines ?? [], block.lang));
    else if (block.kind === "grid_fallback") add("paragraph", (block.lines ?? []).join("\n"));
  }
  endList();
  return units;
}

function addHeading(units: TextUnit[], block: LayoutBlock, place: { page: ParsedPage; path: HeadingPath }): void {
  const text = storableText(block.text ?? "").trim();
  const level = Math.min(Math.max(block.level ?? 1, 1), 6);
  if (text !== "") units.push({ type: "heading", text, page: place.page.pageNum, heading_path: place.path.enter(level, text), level });
}

function listItem(block: LayoutBlock): string {
  const marker = block.ordered === true ? (block.marker ?? "1.") : "-";
  return `${LIST_INDENT.repeat(Math.max(block.level ?? 0, 0))}${marker} ${plainInline(block.text ?? "")}`;
}

/**
 * The words of a paragraph or list item as they stand on the page: liteparse marks bold and italic with asterisks and escapes those
 * that are text, together with backslashes and underscores. Search and citations want neither. Headings and cells come plain.
 */
function plainInline(text: string): string {
  return text.includes("*") || text.includes("\\") ? text.replace(/\\([\\*_])|\*+/g, "$1") : text;
}

function tableText(block: LayoutBlock): string {
  const rows = [...(block.header === undefined ? [] : [block.header]), ...(block.rows ?? [])];
  return pipeTable(rows.map((row) => row.map((cell) => cell.text)));
}
