/** Turns HTML into text units: web pages, chapters of books and the bodies of mails. */

import type { Context } from "../../domain/locations/location.ts";
import { headRowsOf, joinedHead } from "../text/merged-cells.ts";
import { fenced, listItem, placedLines, quoted, type PlacedLine } from "../text/markdown-format.ts";
import { isHeadRow, laysOut, rowTexts, strayText, tableRows } from "./html-tables.ts";
import {
  addNode,
  BLOCKS,
  blockText,
  collapsed,
  inlineText,
  names,
  preformatted,
  SKIPPED,
} from "./html-text.ts";
import {
  attribute,
  childrenNamed,
  descendantsNamed,
  elementName,
  isElement,
  type MarkupElement,
  type MarkupNode,
} from "./markup-tree.ts";
import type { UnitWriter } from "../unit-writer.ts";

const LISTS = names("ul ol menu");

export interface HtmlOptions {
  /** Added to the level of every heading. Default: 0. */
  readonly headingOffset?: number;
  /** The part of the file that the HTML is: a book's chapter, a mail's body. Default: the file itself. */
  readonly part?: string;
}

/** Writes what a reader sees, in order: no scripts, styles or media; menus are marked as repeating. */
export function writeHtml(root: MarkupElement, writer: UnitWriter, options: HtmlOptions = {}): void {
  const walk: Walk = {
    writer,
    offset: options.headingOffset ?? 0,
    part: options.part === undefined ? {} : { part: options.part },
    block: undefined,
    inline: [],
    menus: 0,
    holdsBlock: new Map(),
  };
  walkNodes(walk, root.children);
  flush(walk);
  writer.setSpot(undefined);
}

interface Walk {
  readonly writer: UnitWriter;
  readonly offset: number;
  readonly part: Context;
  /** The innermost open block, in which inline text is. */
  block: MarkupElement | undefined;
  /** Inline text since the last block. */
  inline: string[];
  /** The number of open elements that are a site's menu. */
  menus: number;
  /** Results of {@link holdsBlock}, which looks at each element once. */
  readonly holdsBlock: Map<MarkupElement, boolean>;
}

function spotOf(walk: Walk, element: MarkupElement | undefined): Context {
  return element === undefined ? walk.part : { ...walk.part, element: elementName(element) };
}

function flush(walk: Walk): void {
  const text = collapsed(walk.inline.join(""));
  walk.inline = [];
  if (text === "") return;
  walk.writer.setSpot(spotOf(walk, walk.block));
  walk.writer.add(/^!\[[^\]]*\]\([^()]*\)$/.test(text) ? "image" : "paragraph", text, {
    repeats: walk.menus > 0,
  });
}

function walkNodes(walk: Walk, nodes: readonly MarkupNode[]): void {
  for (const node of nodes) {
    if (!isElement(node)) walk.inline.push(node);
    else if (!SKIPPED.has(node.name)) walkElement(walk, node);
  }
}

function walkElement(walk: Walk, element: MarkupElement): void {
  if (!BLOCKS.has(element.name)) {
    if (holdsBlock(walk, element)) walkNodes(walk, element.children);
    else walk.inline.push(inlineText(element));
    return;
  }
  flush(walk);
  const { writer } = walk;
  writer.setSpot(spotOf(walk, element));
  if (/^h[1-6]$/.test(element.name))
    writer.heading(Number(element.name[1]) + walk.offset, collapsed(inlineText(element)));
  else if (LISTS.has(element.name)) writeList(walk, element);
  else if (element.name === "table") walkTable(walk, element);
  else if (element.name === "pre")
    writer.add("code", fenced(withoutBreaksAround(preformatted(element)).split("\n"), codeLanguage(element)));
  else if (element.name === "blockquote") writer.add("quote", quoted(blockText(element)));
  else {
    const menu = element.name === "nav" || attribute(element, "role") === "navigation" ? 1 : 0;
    walk.menus += menu;
    walkInside(walk, element);
    walk.menus -= menu;
  }
}

function walkInside(walk: Walk, block: MarkupElement): void {
  const outer = walk.block;
  walk.block = block;
  walkNodes(walk, block.children);
  flush(walk);
  walk.block = outer;
}

function holdsBlock(walk: Walk, element: MarkupElement): boolean {
  const known = walk.holdsBlock.get(element);
  if (known !== undefined) return known;
  const holds = element.children.some(
    (child) => isElement(child) && (BLOCKS.has(child.name) || holdsBlock(walk, child)),
  );
  walk.holdsBlock.set(element, holds);
  return holds;
}

/** Without the line break after the opening tag, and without all line breaks before the closing one. */
function withoutBreaksAround(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === "\n") end--;
  return text.slice(text.startsWith("\n") ? 1 : 0, end);
}

function codeLanguage(element: MarkupElement): string {
  const marked = [element, ...descendantsNamed(element, "code")]
    .map((code) => attribute(code, "class") ?? "")
    .join(" ");
  return /\b(?:language|lang|highlight-source)-([\w+#-]{1,30})/.exec(marked)?.[1] ?? "";
}

function writeList(walk: Walk, list: MarkupElement): void {
  const lines: PlacedLine[] = [];
  addItems(walk, list, { level: 0, lines });
  const { text, places } = placedLines(lines);
  walk.writer.add("list", text, { repeats: walk.menus > 0, places });
}

function addItems(walk: Walk, list: MarkupElement, to: { level: number; lines: PlacedLine[] }): void {
  const { level, lines } = to;
  let number = Number.parseInt(attribute(list, "start") ?? "1", 10) || 1;
  const add = (text: string, element: MarkupElement): void => {
    if (text !== "") lines.push({ text, spot: spotOf(walk, element) });
  };
  for (const item of list.children) {
    if (!isElement(item)) add(collapsed(item), list);
    else if (LISTS.has(item.name)) addItems(walk, item, { level: level + 1, lines });
    else if (!SKIPPED.has(item.name)) {
      const own = ownText(item);
      if (own !== "") add(listItem(level, list.name === "ol" ? `${number}.` : "-", own), item);
      number++;
      for (const nested of nestedLists(item)) addItems(walk, nested, { level: level + 1, lines });
    }
  }
}

/** The text of an item without the lists that are its children. */
function ownText(item: MarkupElement): string {
  const parts: string[] = [];
  for (const child of item.children) if (!isElement(child) || !LISTS.has(child.name)) addNode(parts, child);
  return collapsed(parts.join(""));
}

/** The lists that are children of an item; deeper ones become text of the item. */
function nestedLists(item: MarkupElement): MarkupElement[] {
  return item.children.filter((child): child is MarkupElement => isElement(child) && LISTS.has(child.name));
}

function walkTable(walk: Walk, table: MarkupElement): void {
  const { writer } = walk;
  const rows = tableRows(table);
  walk.inline.push(strayText(table));
  const outer = walk.block;
  walk.block = table;
  flush(walk);
  walk.block = outer;
  for (const caption of childrenNamed(table, "caption")) {
    writer.setSpot(spotOf(walk, caption));
    writer.add("paragraph", blockText(caption));
  }
  if (rows.every(({ cells }) => cells.length <= 1) || laysOut(table)) {
    for (const { cells } of rows) for (const cell of cells) walkInside(walk, cell);
    return;
  }
  const headRows = headRowsOf(rows, isHeadRow);
  const texts = rowTexts(
    rows.map(({ cells }) => cells),
    headRows,
  );
  const name = elementName(table);
  writer.addTable([joinedHead(texts.slice(0, headRows)), ...texts.slice(headRows)], (index) => {
    // A head of several rows is in the table as a whole.
    if (index === 0 && headRows > 1) return spotOf(walk, table);
    const row = index === 0 ? rows[0] : rows[index + headRows - 1];
    return { ...walk.part, element: `${name}/tr[${row?.number ?? index + 1}]` };
  });
}
