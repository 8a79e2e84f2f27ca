/** The only place that reads DrawingML: paragraphs of shapes, and the numbers behind charts. */

import { attribute, childAt, childrenNamed, descendantsNamed, isElement, textOf, type MarkupElement } from "./markup-tree.ts";

export interface DrawingParagraph {
  readonly text: string;
  /** From 0. */
  readonly level: number;
  /** Undefined where the paragraph leaves it to its layout. */
  readonly bullet: boolean | undefined;
}

/** Paragraphs of a text body, blank ones included. */
export function drawingParagraphs(body: MarkupElement | undefined): DrawingParagraph[] {
  return childrenNamed(body, "p").map((paragraph) => {
    const properties = childAt(paragraph, "pPr");
    const has = (name: string): boolean => childAt(properties, name) !== undefined;
    const bullet = has("buChar") || has("buAutoNum") || has("buBlip") ? true : has("buNone") ? false : undefined;
    return { text: paragraphText(paragraph), level: Number(attribute(properties, "lvl") ?? 0) || 0, bullet };
  });
}

function paragraphText(element: MarkupElement): string {
  return element.children
    .filter(isElement)
    .map((child) => {
      if (child.name === "br") return "\n";
      if (child.name === "t") return textOf(child);
      return child.name === "pPr" || child.name === "rPr" || child.name === "endParaRPr" ? "" : paragraphText(child);
    })
    .join("");
}

/** A chart as a table: categories in the first column, one column a series. */
export function chartRows(chart: MarkupElement): { title: string; rows: string[][] } {
  const series = descendantsNamed(chart, "ser");
  const categories = cachedValues(childAt(series[0], "cat") ?? childAt(series[0], "xVal"));
  const names = series.map((entry) => cachedValues(childAt(entry, "tx"))[0] ?? "");
  const values = series.map((entry) => cachedValues(childAt(entry, "val") ?? childAt(entry, "yVal")));
  const length = Math.max(categories.length, ...values.map((column) => column.length), 0);
  const body = Array.from({ length }, (_, row) => [categories[row] ?? "", ...values.map((column) => column[row] ?? "")]);
  const title = descendantsNamed(chart, "title")
    .slice(0, 1)
    .map((found) => descendantsNamed(found, "t").map(textOf).join(""))
    .join("");
  return { title, rows: length === 0 ? [] : [["", ...names], ...body] };
}

function cachedValues(source: MarkupElement | undefined): string[] {
  const values: string[] = [];
  for (const point of source === undefined ? [] : descendantsNamed(source, "pt")) values[Number(attribute(point, "idx") ?? values.length)] = textOf(childAt(point, "v"));
  if (values.length === 0 && source !== undefined) return descendantsNamed(source, "v").map(textOf);
  return Array.from(values, (value) => value ?? "");
}
