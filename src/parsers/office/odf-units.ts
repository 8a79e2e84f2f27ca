/** Turns the body of an OpenDocument file into text units. */

import type { Spot } from "../../domain/locations/location.ts";
import { createCellRepeats, type CellRepeats } from "../text/merged-cells.ts";
import { fenced, listItem, placedLines, quoted, type PlacedLine } from "../text/markdown-format.ts";
import {
  attribute,
  childAt,
  childrenNamed,
  descendantsNamed,
  elementName,
  isElement,
  elementText,
  type MarkupElement,
} from "../web/markup-tree.ts";
import { shapeName } from "../parser.ts";
import type { UnitWriter } from "../unit-writer.ts";

export interface OdfStyles {
  /** The names of the style and of those that it is based on, in lower case. */
  names(style: string | undefined): readonly string[];
  isOrdered(listStyle: string | undefined): boolean;
}

export interface OdfWalk {
  readonly writer: UnitWriter;
  readonly styles: OdfStyles;
  /** The number of cells that repeat counts may still add. */
  repeatsLeft: number;
  /** Where what follows is in a presentation; undefined in a text, where each element has its own place. */
  slide: Spot | undefined;
}

export function slideSpot(slide: number, frame: MarkupElement): Spot {
  const shape = shapeName(attribute(frame, "name"));
  return shape === undefined ? { slide } : { slide, shape };
}

/** Where the element stands; in a presentation, where its frame does. */
function spotOf(walk: OdfWalk, element: MarkupElement): Spot {
  return walk.slide ?? { element: elementName(element) };
}

/** Repeated cells of one document: texts have hardly any, while spreadsheets fill whole sheets with them. */
export const MAX_REPEATED_CELLS = 5_000;

/** Styles are based on other styles; a longer chain is a cycle. */
const MAX_STYLE_CHAIN = 20;
/** Equal cells and rows are stored once with a count; a higher count only fills a sheet. */
const MAX_REPEATS = 50;

/** @param roots The root elements of styles.xml and content.xml, if the file has them. */
export function odfStyles(roots: readonly (MarkupElement | undefined)[]): OdfStyles {
  const all = roots.flatMap((root) => [childAt(root, "styles"), childAt(root, "automatic-styles")]);
  const styles = new Map(
    all
      .flatMap((list) => childrenNamed(list, "style"))
      .map((style) => [attribute(style, "name") ?? "", style]),
  );
  const ordered = new Set(
    all
      .flatMap((list) => childrenNamed(list, "list-style"))
      .filter((style) => attribute(childAt(style, "list-level-style-number"), "level") === "1")
      .map((style) => attribute(style, "name")),
  );
  return {
    names(style) {
      const names: string[] = [];
      let name = style;
      while (name !== undefined && names.length < MAX_STYLE_CHAIN) {
        const shown = attribute(styles.get(name), "display-name") ?? name;
        names.push(shown.replaceAll("_20_", " ").toLowerCase());
        name = attribute(styles.get(name), "parent-style-name");
      }
      return names;
    },
    isOrdered: (listStyle) => ordered.has(listStyle),
  };
}

export function writeOdf(walk: OdfWalk, container: MarkupElement | undefined): void {
  for (const child of container?.children ?? []) if (isElement(child)) writeBlock(walk, child);
}

/** Elements without text of the document. */
const SKIPPED = new Set([
  "tracked-changes",
  "sequence-decls",
  "forms",
  "variable-decls",
  "user-field-decls",
  "scripts",
  "event-listeners",
]);

function writeBlock(walk: OdfWalk, element: MarkupElement): void {
  const { writer } = walk;
  if (SKIPPED.has(element.name)) return;
  writer.setSpot(spotOf(walk, element));
  if (element.name === "h") {
    writer.heading(Number(attribute(element, "outline-level") ?? 1) || 1, inlineText(element));
    writeAnchored(walk, element);
  } else if (element.name === "p") writeParagraph(walk, element);
  else if (element.name === "list") writeList(walk, element);
  else if (element.name === "table") writeTable(walk, element);
  else if (element.name === "frame" || element.name === "custom-shape") writeFrame(walk, element);
  else if (element.name === "annotation") writeComment(writer, element);
  else writeOdf(walk, element);
}

function writeParagraph(walk: OdfWalk, paragraph: MarkupElement): void {
  const names = walk.styles.names(attribute(paragraph, "style-name"));
  const text = inlineText(paragraph);
  if (names.includes("title")) walk.writer.heading(1, text);
  else if (names.includes("preformatted text"))
    walk.writer.add("code", text.trim() === "" ? "" : fenced(text.split("\n")));
  else if (names.includes("quotations")) walk.writer.add("quote", text.trim() === "" ? "" : quoted(text));
  else walk.writer.add("paragraph", text.trim());
  writeAnchored(walk, paragraph);
}

/** Writes frames, notes and comments that are inside a paragraph after it. */
function writeAnchored(walk: OdfWalk, paragraph: MarkupElement): void {
  for (const child of paragraph.children) {
    if (!isElement(child)) continue;
    walk.writer.setSpot(spotOf(walk, child));
    if (child.name === "frame" || child.name === "custom-shape") writeFrame(walk, child);
    else if (child.name === "annotation") writeComment(walk.writer, child);
    else if (child.name === "note")
      walk.writer.add("paragraph", `[^${elementText(childAt(child, "note-citation"))}]: ${noteText(child)}`);
    else writeAnchored(walk, child);
  }
}

function noteText(note: MarkupElement): string {
  const body = childAt(note, "note-body");
  return body === undefined ? "" : descendantsNamed(body, "p").map(inlineText).join("\n");
}

function writeComment(writer: UnitWriter, annotation: MarkupElement): void {
  const text = descendantsNamed(annotation, "p").map(inlineText).join("\n").trim();
  if (text !== "")
    writer.add(
      "quote",
      quoted(`Comment by ${elementText(childAt(annotation, "creator")) || "unknown"}: ${text}`),
    );
}

function writeFrame(walk: OdfWalk, frame: MarkupElement): void {
  const outer = walk.slide;
  if (outer?.slide !== undefined && outer.part === undefined) walk.slide = slideSpot(outer.slide, frame);
  walk.writer.setSpot(spotOf(walk, frame));
  writeFramed(walk, frame);
  walk.slide = outer;
}

function writeFramed(walk: OdfWalk, frame: MarkupElement): void {
  const description = (elementText(childAt(frame, "desc")) || elementText(childAt(frame, "title")))
    .replace(/\s+/g, " ")
    .trim();
  if (description !== "") walk.writer.add("image", `![${description.replace(/[[\]]/g, "")}]()`);
  const hidden = new Set(["desc", "title", "image", "plugin"]);
  writeOdf(walk, {
    ...frame,
    children: frame.children.filter((child) => isElement(child) && !hidden.has(child.name)),
  });
}

/** The text of a paragraph without frames and comments, which are only anchored in it. */
function inlineText(element: MarkupElement): string {
  return element.children
    .map((child) => {
      if (!isElement(child)) return child.replace(/\s+/g, " ");
      if (child.name === "s")
        return " ".repeat(Math.min(Number(attribute(child, "c") ?? 1) || 1, MAX_REPEATS));
      if (child.name === "tab") return "\t";
      if (child.name === "line-break") return "\n";
      if (child.name === "note") return `[^${elementText(childAt(child, "note-citation"))}]`;
      return ["frame", "custom-shape", "annotation", "ruby-text"].includes(child.name)
        ? ""
        : inlineText(child);
    })
    .join("");
}

function writeList(walk: OdfWalk, list: MarkupElement): void {
  const lines: PlacedLine[] = [];
  const ordered = walk.styles.isOrdered(attribute(list, "style-name"));
  addItems(walk, list, { level: 0, ordered, lines });
  const { text, places } = placedLines(lines);
  walk.writer.add("list", text, { places });
}

function addItems(
  walk: OdfWalk,
  list: MarkupElement,
  to: { level: number; ordered: boolean; lines: PlacedLine[] },
): void {
  let number = 1;
  for (const item of list.children) {
    if (!isElement(item) || (item.name !== "list-item" && item.name !== "list-header")) continue;
    const own = [...childrenNamed(item, "p"), ...childrenNamed(item, "h")]
      .map((paragraph) => inlineText(paragraph).trim())
      .filter((text) => text !== "");
    if (own.length > 0) {
      const text = listItem(to.level, to.ordered ? `${number}.` : "-", own.join("\n"));
      to.lines.push({ text, spot: spotOf(walk, item) });
      number++;
    }
    for (const nested of childrenNamed(item, "list")) addItems(walk, nested, { ...to, level: to.level + 1 });
  }
}

interface OdfRow {
  readonly cells: string[];
  /** Its place among the rows of the table as they are written, from 1: equal rows may be written once. */
  readonly number: number;
}

function writeTable(walk: OdfWalk, table: MarkupElement): void {
  const rows: OdfRow[] = [];
  addRows(walk, table, { rows, written: 0, merged: [], repeats: createCellRepeats() });
  const name = elementName(table);
  walk.writer.addTable(
    rows.map(({ cells }) => cells),
    (index) => walk.slide ?? { element: `${name}/table-row[${rows[index]?.number ?? index + 1}]` },
  );
}

interface TableReading {
  readonly rows: OdfRow[];
  written: number;
  /** For each column, the number of further rows that a cell above covers, and its text. */
  readonly merged: { rows: number; readonly text: string }[];
  readonly repeats: CellRepeats;
}

function addRows(walk: OdfWalk, table: MarkupElement, to: TableReading): void {
  for (const child of table.children) {
    if (!isElement(child)) continue;
    if (child.name === "table-row") {
      const cells = rowCells(walk, child, to);
      const times = allowed(walk, repeats(child, "number-rows-repeated"), cells.length);
      to.written++;
      for (let time = 0; time < times; time++) to.rows.push({ cells, number: to.written });
    } else if (["table-header-rows", "table-rows", "table-row-group"].includes(child.name))
      addRows(walk, child, to);
  }
}

/** A cell merged with those below is in each of their rows, and one of the head in each of its columns. */
function rowCells(walk: OdfWalk, row: MarkupElement, reading: TableReading): string[] {
  const cells: string[] = [];
  const across = { columns: 0, text: "" };
  for (const cell of row.children) {
    if (!isElement(cell) || !cell.name.endsWith("table-cell")) continue;
    const text = descendantsNamed(cell, "p").concat(descendantsNamed(cell, "h")).map(inlineText).join("\n");
    reading.repeats.count(text);
    const times = allowed(walk, repeats(cell, "number-columns-repeated"), 1);
    if (cell.name.startsWith("covered")) {
      for (let time = 0; time < times; time++) cells.push(coveredText(cells.length, reading, across) ?? text);
      continue;
    }
    across.columns = reading.rows.length === 0 ? repeats(cell, "number-columns-spanned") - 1 : 0;
    across.text = text;
    for (let time = 0; time < times; time++) {
      reading.merged[cells.length] = { rows: repeats(cell, "number-rows-spanned") - 1, text };
      cells.push(text);
    }
  }
  return cells;
}

/** The text of the cell that covers the column; undefined if none does, or if it names another column. */
function coveredText(
  column: number,
  { merged, repeats: labels }: TableReading,
  across: { columns: number; readonly text: string },
): string | undefined {
  const above = merged[column];
  if (above !== undefined && above.rows > 0) {
    above.rows--;
    return labels.again(above.text);
  }
  return across.columns-- > 0 ? labels.again(across.text) : undefined;
}

/** How many of the `times` the document's remaining repeats allow; at least 1. */
function allowed(walk: OdfWalk, times: number, cells: number): number {
  const repeated = Math.min(times - 1, Math.floor(walk.repeatsLeft / Math.max(cells, 1)));
  walk.repeatsLeft -= repeated * cells;
  return repeated + 1;
}

function repeats(element: MarkupElement, name: string): number {
  return Math.min(Math.max(Number(attribute(element, name) ?? 1) || 1, 1), MAX_REPEATS);
}
