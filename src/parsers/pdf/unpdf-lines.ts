/** Paragraphs and places of a page as pdf.js reads it. */

import type { getDocumentProxy } from "unpdf";
import type { Place } from "../../domain/locations/location.ts";
import { storableText } from "../parser.ts";
import { boxOf, isBeside, unionOf, type Rectangle } from "./layout/frame.ts";

type PdfPage = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>["getPage"]>>;
type Content = Awaited<ReturnType<PdfPage["getTextContent"]>>;
export interface PageParagraphs {
  /** Characters of the page, with those between the paragraphs. */
  readonly length: number;
  readonly paragraphs: readonly { readonly text: string; readonly places: readonly Place[] }[];
}

interface Span {
  readonly from: number;
  readonly to: number;
  readonly rectangle: Rectangle;
}

/** The page's text, with paragraphs parted by blank lines. */
export async function pageParagraphs(page: PdfPage): Promise<PageParagraphs> {
  const content = await page.getTextContent();
  const viewport = page.getViewport({ scale: 1 });
  let text = "";
  const spans: Span[] = [];
  for (const item of content.items) {
    if (!("str" in item)) continue;
    const words = storableText(item.str);
    const from = text.length + words.length - words.trimStart().length;
    const to = text.length + words.trimEnd().length;
    const rectangle = words.trim() === "" ? undefined : shownRectangle(item, content, viewport);
    if (rectangle !== undefined) spans.push({ from, to, rectangle });
    text += `${words}${item.hasEOL ? "\n" : ""}`;
  }
  return { length: text.length, paragraphs: paragraphsOf(text, spans, page.pageNumber) };
}

function paragraphsOf(text: string, spans: readonly Span[], page: number): PageParagraphs["paragraphs"] {
  let at = 0;
  let next = 0;
  return text.split(/\n\s*\n/).flatMap((part) => {
    const paragraph = part.trim();
    if (paragraph === "") return [];
    const start = text.indexOf(paragraph, at);
    at = start + paragraph.length;
    const first = next;
    while (next < spans.length && spans[next]!.to <= at) next++;
    const lines = linesOf(spans.slice(first, next), text);
    return [{ text: paragraph, places: placesOf(lines, start, page) }];
  });
}

function linesOf(spans: readonly Span[], text: string): Span[] {
  const lines: Span[] = [];
  for (const span of spans) {
    const last = lines.at(-1);
    const isSame = last !== undefined && !text.slice(last.to, span.from).includes("\n");
    if (isSame && isInLine(last.rectangle, span.rectangle))
      lines[lines.length - 1] = {
        from: last.from,
        to: span.to,
        rectangle: unionOf([last.rectangle, span.rectangle])!,
      };
    else lines.push(span);
  }
  return lines;
}

/** Lines of a page that is turned go from top to bottom. */
function isInLine(one: Rectangle, other: Rectangle): boolean {
  const turned = ({ x, y, width, height }: Rectangle): Rectangle => ({
    x: y,
    y: x,
    width: height,
    height: width,
  });
  return isBeside(one, other) || isBeside(turned(one), turned(other));
}

function placesOf(lines: readonly Span[], start: number, page: number): Place[] {
  return lines.flatMap(({ from, to, rectangle }) => {
    const box = boxOf(rectangle, { width: 1, height: 1 });
    return box === undefined ? [] : [{ from: from - start, to: to - start, spot: { page, box } }];
  });
}

/** In fractions of the page as shown; undefined for text from top to bottom: pdf.js gives no width. */
export function shownRectangle(
  { transform, width, fontName }: Extract<Content["items"][number], { str: string }>,
  { styles }: Content,
  viewport: ReturnType<PdfPage["getViewport"]>,
): Rectangle | undefined {
  const style = styles[fontName];
  if (style === undefined || style.vertical) return undefined;
  const [a, b, c, d, x, y] = transform as [number, number, number, number, number, number];
  const along = Math.hypot(a, b);
  const corners = [0, width].flatMap((distance) =>
    [style.descent, style.ascent].map((height) => {
      const point = viewport.convertToViewportPoint(
        x + (a / along) * distance + c * height,
        y + (b / along) * distance + d * height,
      ) as number[];
      return [point[0]! / viewport.width, point[1]! / viewport.height] as const;
    }),
  );
  const xs = corners.map(([left]) => left);
  const ys = corners.map(([, top]) => top);
  if (![...xs, ...ys].every(Number.isFinite)) return undefined;
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  return { x: left, y: top, width: Math.max(...xs) - left, height: Math.max(...ys) - top };
}
