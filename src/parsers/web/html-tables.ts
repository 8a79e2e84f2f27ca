/** The rows, cells and texts of HTML tables. */

import { createCellRepeats, namesColumns } from "../text/merged-cells.ts";
import { blockText, names } from "./html-text.ts";
import { attribute, isElement, type MarkupElement } from "./markup-tree.ts";

/** A table that contains one of these holds no data but lays out the page. */
const LAYOUT_ONLY = names("table h1 h2 h3 h4 h5 h6 form");

/** Text in a table but in no cell. It is written before the table, as browsers do. */
export function strayText(table: MarkupElement): string {
  return table.children
    .map((child) =>
      isElement(child) ? (/^(?:tr|thead|tbody|tfoot)$/.test(child.name) ? strayText(child) : "") : child,
    )
    .join(" ");
}

/** Whether the table only lays out the page. */
export function laysOut(table: MarkupElement): boolean {
  return table.children.some((child) => isElement(child) && (LAYOUT_ONLY.has(child.name) || laysOut(child)));
}

export interface HtmlRow {
  readonly cells: readonly MarkupElement[];
  /** Its place among the rows of the table as they are written, from 1. */
  readonly number: number;
  readonly section: Section;
}

/** The table's own rows, without those of tables inside it: first the head, and last the foot. */
export function tableRows(table: MarkupElement): HtmlRow[] {
  const sections: Record<Section, HtmlRow[]> = { thead: [], tbody: [], tfoot: [] };
  let number = 0;
  const add = (parent: MarkupElement, section: Section): void => {
    for (const child of parent.children) {
      if (!isElement(child)) continue;
      if (child.name === "tr") sections[section].push({ cells: cellsOf(child), number: ++number, section });
      else if (isSection(child.name)) add(child, child.name);
    }
  };
  add(table, "tbody");
  return [...sections.thead, ...sections.tbody, ...sections.tfoot];
}

type Section = "thead" | "tbody" | "tfoot";

function isSection(name: string): name is Section {
  return name === "thead" || name === "tbody" || name === "tfoot";
}

function cellsOf(row: MarkupElement): MarkupElement[] {
  return row.children.filter(
    (cell): cell is MarkupElement => isElement(cell) && (cell.name === "td" || cell.name === "th"),
  );
}

const MAX_SPAN = 100;
/** Empty cells made by spans for each cell of the source; the spans of a table with more are only layout. */
const MAX_SPANNED_SHARE = 8;
const MIN_SPANNED_CELLS = 10_000;

/**
 * Texts by column. A cell that spans several rows is in each of them, and one of the first `headRows` rows
 * that spans several columns is in each of those; in other rows it is in the first.
 */
export function rowTexts(rows: readonly (readonly MarkupElement[])[], headRows: number): string[][] {
  /** For each column, the number of further rows that a cell above covers, and its text. */
  const taken: { rows: number; text: string }[] = [];
  const repeats = createCellRepeats();
  let spare = rows.reduce((sum, cells) => sum + cells.length * MAX_SPANNED_SHARE, MIN_SPANNED_CELLS);
  return rows.map((cells, index) => {
    const row: string[] = [];
    let column = 0;
    const skipTaken = (): void => {
      for (let above = taken[column]; spare > 0 && above && above.rows > 0; above = taken[column]) {
        above.rows--;
        row[column] = repeats.again(above.text);
        spare--;
        column++;
      }
    };
    for (const cell of cells) {
      skipTaken();
      const further = span(cell, "rowspan") - 1;
      const text = blockText(cell);
      repeats.count(text);
      const columns = Math.min(span(cell, "colspan"), spare + 1);
      spare -= columns - 1;
      const start = column;
      for (; column < start + columns; column++) {
        const isRepeated = column > start && index < headRows && namesColumns(columns, cells.length);
        row[column] = column === start ? text : isRepeated ? repeats.again(text) : (row[column] ?? "");
        taken[column] = { rows: further, text: column === start || isRepeated ? text : "" };
      }
    }
    skipTaken();
    while (row.at(-1) === "") row.pop();
    return row;
  });
}

/** Whether the row is part of a head at the start of the table: in a `thead`, or nothing but `th`. */
export function isHeadRow({ cells, section }: HtmlRow): boolean {
  return section === "thead" || cells.every((cell) => cell.name === "th");
}

function span(cell: MarkupElement, name: string): number {
  const value = Number.parseInt(attribute(cell, name) ?? "1", 10);
  return Number.isNaN(value) ? 1 : Math.min(Math.max(value, 1), MAX_SPAN);
}
