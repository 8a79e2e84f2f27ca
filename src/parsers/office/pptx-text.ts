/** Reads DrawingML: the paragraphs of shapes, and the values of charts. */

import {
  attribute,
  childAt,
  childrenNamed,
  descendantsNamed,
  isElement,
  elementText,
  type MarkupElement,
} from "../web/markup-tree.ts";

export interface DrawingParagraph {
  readonly text: string;
  /** The level of indentation, from 0. */
  readonly level: number;
  /** Undefined if the paragraph leaves it to its layout. */
  readonly bullet: boolean | undefined;
}

/** The paragraphs of a text body, including blank ones. */
export function drawingParagraphs(body: MarkupElement | undefined): DrawingParagraph[] {
  return childrenNamed(body, "p").map((paragraph) => {
    const properties = childAt(paragraph, "pPr");
    const has = (name: string): boolean => childAt(properties, name) !== undefined;
    const bullet =
      has("buChar") || has("buAutoNum") || has("buBlip") ? true : has("buNone") ? false : undefined;
    return { text: paragraphText(paragraph), level: Number(attribute(properties, "lvl") ?? 0) || 0, bullet };
  });
}

function paragraphText(element: MarkupElement): string {
  return element.children
    .filter(isElement)
    .map((child) => {
      if (child.name === "br") return "\n";
      if (child.name === "t") return elementText(child);
      return child.name === "pPr" || child.name === "rPr" || child.name === "endParaRPr"
        ? ""
        : paragraphText(child);
    })
    .join("");
}

/** With more empty cells for each value, the series of a chart do not share their categories. */
const MAX_EMPTY_SHARE = 8;
const MIN_EMPTY_CELLS = 1_000;

/**
 * A chart as a table: the categories in the first column, and a column for each series. If few series have
 * values at the same places, each series is a row.
 */
export function chartRows(chart: MarkupElement): { title: string; rows: string[][] } {
  const series = descendantsNamed(chart, "ser");
  const categories = cachedValues(childAt(series[0], "cat") ?? childAt(series[0], "xVal"));
  const names = series.map((entry) => cachedValues(childAt(entry, "tx")).values().next().value ?? "");
  const values = series.map((entry) => cachedValues(childAt(entry, "val") ?? childAt(entry, "yVal")));
  const places = [...new Set([categories, ...values].flatMap((column) => [...column.keys()]))].toSorted(
    (a, b) => a - b,
  );
  const title = descendantsNamed(chart, "title")
    .slice(0, 1)
    .map((found) => descendantsNamed(found, "t").map(elementText).join(""))
    .join("");
  const filled = values.reduce((sum, column) => sum + column.size, 0);
  if (places.length * series.length > MIN_EMPTY_CELLS + filled * MAX_EMPTY_SHARE)
    return { title, rows: values.map((column, at) => [names[at] ?? "", ...column.values()]) };
  const body = places.map((place) => [
    categories.get(place) ?? "",
    ...values.map((column) => column.get(place) ?? ""),
  ]);
  return { title, rows: body.length === 0 ? [] : [["", ...names], ...body] };
}

/** Values by their place; a value without a place follows the one before. */
function cachedValues(source: MarkupElement | undefined): ReadonlyMap<number, string> {
  const values = new Map<number, string>();
  if (source === undefined) return values;
  for (const point of descendantsNamed(source, "pt"))
    values.set(Number(attribute(point, "idx") ?? values.size), elementText(childAt(point, "v")));
  if (values.size === 0)
    descendantsNamed(source, "v").forEach((value, place) => values.set(place, elementText(value)));
  return values;
}
