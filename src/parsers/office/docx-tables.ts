/** Reads the tables of a DOCX file: rows, merged cells, heads. */

import { createCellRepeats, namesColumns } from "../text/merged-cells.ts";
import { attribute, childAt, descendantsNamed, isElement, type MarkupElement } from "../web/markup-tree.ts";
import { docxInline, WRAPPERS, type DocxInline } from "./docx-runs.ts";

/**
 * Texts by column. A cell that is merged with those below is in each of their rows, and one of the head that
 * spans several columns is in each of them; in other rows it is in the first.
 */
export function rowTexts(rows: readonly DocxRow[], headRows: number, anchored: DocxInline[]): string[][] {
  const repeats = createCellRepeats();
  const above: string[] = [];
  return rows.map(({ cells, skipped }, index) => {
    const row = Array.from({ length: skipped }, () => "");
    for (const cell of cells) {
      const { text, continues, span } = readCell(cell, anchored);
      repeats.count(continues ? "" : text);
      for (let column = 0; column < span; column++) {
        const isNamed = index < headRows && namesColumns(span, cells.length);
        const own = column === 0 ? text : isNamed ? repeats.again(text) : "";
        const shown = continues ? repeats.again(above[row.length] ?? "") : own;
        if (!continues) above[row.length] = own;
        row.push(shown);
      }
    }
    return row;
  });
}

export interface DocxRow {
  readonly cells: readonly MarkupElement[];
  /** The number of columns before the first cell. */
  readonly skipped: number;
  /** Whether Word repeats the row on each page. */
  readonly isHead: boolean;
}

export function rowsOf(table: MarkupElement): DocxRow[] {
  return unwrapped(table, "tr").map((row) => {
    const properties = childAt(row, "trPr");
    const before = Number(attribute(childAt(properties, "gridBefore"), "val") ?? 0) || 0;
    const head = childAt(properties, "tblHeader");
    return {
      cells: unwrapped(row, "tc"),
      skipped: Math.min(Math.max(before, 0), MAX_SPAN),
      isHead: head !== undefined && !/^(?:0|false|off)$/.test(attribute(head, "val") ?? "1"),
    };
  });
}

/** Children of that name, also inside content controls. */
function unwrapped(element: MarkupElement, name: string): MarkupElement[] {
  return element.children.flatMap((child) =>
    isElement(child)
      ? child.name === name
        ? [child]
        : WRAPPERS.has(child.name)
          ? unwrapped(child, name)
          : []
      : [],
  );
}

const MAX_SPAN = 100;

interface DocxCell {
  readonly text: string;
  /** True if it is merged with the cell above, whose text it has. */
  readonly continues: boolean;
  readonly span: number;
}

function readCell(cell: MarkupElement, anchored: DocxInline[]): DocxCell {
  const properties = childAt(cell, "tcPr");
  const merge = childAt(properties, "vMerge");
  const continues = merge !== undefined && attribute(merge, "val") !== "restart";
  const span = Math.min(
    Math.max(Number(attribute(childAt(properties, "gridSpan"), "val") ?? 1) || 1, 1),
    MAX_SPAN,
  );
  const lines = descendantsNamed(cell, "p").map((paragraph) => {
    const inline = docxInline(paragraph);
    anchored.push({ ...inline, boxes: [] });
    return [inline.text, ...inline.boxes.map(blockText)].join(" ");
  });
  return { text: lines.join("\n"), continues, span };
}

/** The text of the paragraphs inside an element, in lines. */
export function blockText(container: MarkupElement | undefined): string {
  if (container === undefined) return "";
  return descendantsNamed(container, "p")
    .map((paragraph) => docxInline(paragraph).text.trim())
    .filter((text) => text !== "")
    .join("\n");
}
