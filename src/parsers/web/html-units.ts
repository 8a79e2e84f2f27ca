/** Turns HTML into text units: web pages, chapters of books and the bodies of mails. */

import { fenced, listItem, pipeTables, quoted } from "../text/markdown-format.ts";
import {
  attribute,
  childrenNamed,
  descendantsNamed,
  isElement,
  type MarkupElement,
  type MarkupNode,
} from "./markup-tree.ts";
import type { UnitWriter } from "../unit-writer.ts";

const names = (list: string): ReadonlySet<string> => new Set(list.split(" "));

const SKIPPED = names("head script style noscript template svg iframe object embed audio video canvas");
const BLOCKS = names(
  "address article aside body caption center dd details dialog div dl dt fieldset figcaption figure footer " +
    "form header hgroup hr html legend li main menu nav option p search section select summary table tbody " +
    "td tfoot th thead tr ul ol pre blockquote h1 h2 h3 h4 h5 h6",
);
const LISTS = names("ul ol menu");
/** A table that contains one of these holds no data but lays out the page. */
const LAYOUT_ONLY = names("table h1 h2 h3 h4 h5 h6 form");

const MAX_IMAGE_ADDRESS_CHARS = 200;

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
    walk.writer.add(/^!\[[^\]]*\]\([^()]*\)$/.test(text) ? "image" : "paragraph", text, walk.menus > 0);
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
  else if (LISTS.has(element.name)) writer.add("list", listText(element, 0), walk.menus > 0);
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

/**
 * Inline text with white space as written. A line break is a vertical tab, until {@link collapsed} is
 * applied.
 */
function inlineText(element: MarkupElement): string {
  const parts: string[] = [];
  addInline(parts, element);
  return parts.join("");
}

function addInline(parts: string[], element: MarkupElement): void {
  if (SKIPPED.has(element.name)) return;
  if (element.name === "br") parts.push("\v");
  else if (element.name === "img") parts.push(imageText(element));
  else if (element.name === "input") parts.push(checkboxText(element));
  else for (const child of element.children) addNode(parts, child);
}

function addNode(parts: string[], node: MarkupNode): void {
  if (!isElement(node)) parts.push(node);
  else {
    parts.push(gap(node));
    addInline(parts, node);
    parts.push(gap(node));
  }
}

function checkboxText(element: MarkupElement): string {
  if (attribute(element, "type") !== "checkbox") return "";
  return "checked" in element.attributes ? "[x] " : "[ ] ";
}

function gap(element: MarkupElement): string {
  return BLOCKS.has(element.name) ? "\v" : "";
}

function imageText(element: MarkupElement): string {
  const alternative = collapsed(attribute(element, "alt") ?? "");
  const source = attribute(element, "src") ?? "";
  if (alternative === "") return "";
  const isLeftOut = source.startsWith("data:") || source.length > MAX_IMAGE_ADDRESS_CHARS;
  const address = isLeftOut ? "" : source.replace(/[()\s]/g, encodeURIComponent);
  return `![${alternative.replace(/[[\]]/g, "")}](${address})`;
}

/** White space as a browser shows it: each run becomes one space, and line breaks stay. */
function collapsed(text: string): string {
  return text
    .replace(/[\t\n\f\r ]+/g, " ")
    .replace(/ ?\v[ \v]*/g, "\n")
    .trim();
}

function blockText(element: MarkupElement): string {
  return collapsed(inlineText({ ...element, name: "div" }));
}

function preformatted(element: MarkupElement): string {
  return element.children
    .map((child) => (isElement(child) ? (child.name === "br" ? "\n" : preformatted(child)) : child))
    .join("");
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

/** Text in a table but in no cell. It is written before the table, as browsers do. */
function strayText(table: MarkupElement): string {
  return table.children
    .map((child) =>
      isElement(child) ? (/^(?:tr|thead|tbody|tfoot)$/.test(child.name) ? strayText(child) : "") : child,
    )
    .join(" ");
}

function laysOut(table: MarkupElement): boolean {
  return table.children.some((child) => isElement(child) && (LAYOUT_ONLY.has(child.name) || laysOut(child)));
}

/** The cells of the table's own rows, without those of tables inside it. */
function tableRows(table: MarkupElement): MarkupElement[][] {
  const rows: MarkupElement[][] = [];
  for (const child of table.children) {
    if (!isElement(child)) continue;
    if (child.name === "tr")
      rows.push(
        child.children.filter(
          (cell): cell is MarkupElement => isElement(cell) && (cell.name === "td" || cell.name === "th"),
        ),
      );
    else if (child.name === "thead" || child.name === "tbody" || child.name === "tfoot")
      for (const row of tableRows(child)) rows.push(row);
  }
  return rows;
}

const MAX_SPAN = 100;
/** Empty cells made by spans for each cell of the source; the spans of a table with more are only layout. */
const MAX_SPANNED_SHARE = 8;
const MIN_SPANNED_CELLS = 10_000;

/** Texts by column. A cell that spans several columns or rows is in the first; the others are empty. */
function rowTexts(rows: readonly (readonly MarkupElement[])[]): string[][] {
  /** For each column, the number of further rows that a cell above covers. */
  const taken: number[] = [];
  let spare = rows.reduce((sum, cells) => sum + cells.length * MAX_SPANNED_SHARE, MIN_SPANNED_CELLS);
  return rows.map((cells) => {
    const row: string[] = [];
    let column = 0;
    const skipTaken = (): void => {
      while (spare > 0 && (taken[column] ?? 0) > 0) {
        taken[column] = (taken[column] ?? 0) - 1;
        row[column] = "";
        spare--;
        column++;
      }
    };
    for (const cell of cells) {
      skipTaken();
      const further = span(cell, "rowspan") - 1;
      row[column] = blockText(cell);
      const columns = Math.min(span(cell, "colspan"), spare + 1);
      spare -= columns - 1;
      const end = column + columns;
      while (column < end) {
        row[column] ??= "";
        taken[column] = further;
        column++;
      }
    }
    skipTaken();
    while (row.at(-1) === "") row.pop();
    return row;
  });
}

function span(cell: MarkupElement, name: string): number {
  const value = Number.parseInt(attribute(cell, name) ?? "1", 10);
  return Number.isNaN(value) ? 1 : Math.min(Math.max(value, 1), MAX_SPAN);
}
