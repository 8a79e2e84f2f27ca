/** Turns HTML into text units: web pages, chapters of books and the bodies of mails. */

import { fenced, listItem, pipeTables, quoted } from "../text/markdown-format.ts";
import { laysOut, rowTexts, strayText, tableRows } from "./html-tables.ts";
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
  isElement,
  type MarkupElement,
  type MarkupNode,
} from "./markup-tree.ts";
import type { UnitWriter } from "../unit-writer.ts";

const LISTS = names("ul ol menu");

export interface HtmlOptions {
  /** Added to the level of every heading. Default: 0. */
  readonly headingOffset?: number;
}

/**
 * Writes what a reader of the page sees, in order. Scripts, styles and embedded media are left out; menus are
 * marked as text that repeats.
 */
export function writeHtml(root: MarkupElement, writer: UnitWriter, options: HtmlOptions = {}): void {
  const walk: Walk = {
    writer,
    offset: options.headingOffset ?? 0,
    inline: [],
    menus: 0,
    holdsBlock: new Map(),
  };
  walkNodes(walk, root.children);
  flush(walk);
}

interface Walk {
  readonly writer: UnitWriter;
  readonly offset: number;
  /** Inline text since the last block. */
  inline: string[];
  /** The number of open elements that are a site's menu. */
  menus: number;
  /** Results of {@link holdsBlock}, which looks at each element once. */
  readonly holdsBlock: Map<MarkupElement, boolean>;
}

function flush(walk: Walk): void {
  const text = collapsed(walk.inline.join(""));
  walk.inline = [];
  if (text !== "")
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
  if (/^h[1-6]$/.test(element.name))
    writer.heading(Number(element.name[1]) + walk.offset, collapsed(inlineText(element)));
  else if (LISTS.has(element.name)) writer.add("list", listText(element, 0), { repeats: walk.menus > 0 });
  else if (element.name === "table") walkTable(walk, element);
  else if (element.name === "pre")
    writer.add("code", fenced(withoutBreaksAround(preformatted(element)).split("\n"), codeLanguage(element)));
  else if (element.name === "blockquote") writer.add("quote", quoted(blockText(element)));
  else {
    const menu = element.name === "nav" || attribute(element, "role") === "navigation" ? 1 : 0;
    walk.menus += menu;
    walkNodes(walk, element.children);
    flush(walk);
    walk.menus -= menu;
  }
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

function listText(list: MarkupElement, level: number): string {
  let number = Number.parseInt(attribute(list, "start") ?? "1", 10) || 1;
  const lines: string[] = [];
  for (const item of list.children) {
    if (!isElement(item)) {
      lines.push(collapsed(item));
      continue;
    }
    if (SKIPPED.has(item.name)) continue;
    if (LISTS.has(item.name)) {
      lines.push(listText(item, level + 1));
      continue;
    }
    const own = ownText(item);
    const nested = nestedLists(item).map((child) => listText(child, level + 1));
    if (own !== "") lines.push(listItem(level, list.name === "ol" ? `${number}.` : "-", own));
    number++;
    lines.push(...nested);
  }
  return lines.filter((line) => line !== "").join("\n");
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
  const rows = tableRows(table);
  walk.inline.push(strayText(table));
  flush(walk);
  for (const caption of childrenNamed(table, "caption")) walk.writer.add("paragraph", blockText(caption));
  if (rows.every((row) => row.length <= 1) || laysOut(table)) {
    for (const cell of rows.flat()) {
      walkNodes(walk, cell.children);
      flush(walk);
    }
    return;
  }
  for (const part of pipeTables(rowTexts(rows))) walk.writer.add("table", part);
}
