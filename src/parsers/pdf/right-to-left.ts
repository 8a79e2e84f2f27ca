/** Reads pages of Arabic or Hebrew by pdf.js, which knows letters' places: liteparse keeps drawing order. */

import type { LayoutBlock, TextItem } from "@llamaindex/liteparse";
import type { PdfDocument } from "./unpdf.ts";
import { unionOf, type Rectangle } from "./layout/frame.ts";
import { median } from "./layout/prose.ts";
import { storableText } from "../parser.ts";
import type { ReadPage } from "./units.ts";
import { shownRectangle } from "./unpdf-lines.ts";

const RIGHT_TO_LEFT = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/;
const ALL_RIGHT_TO_LEFT = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/g;
/** Forms of letters that fonts have, by their place in a word. */
const PRESENTATION_FORMS = /[\uFB1D-\uFDFF\uFE70-\uFEFC]+/g;
const LEFT_TO_RIGHT = /[\p{Script=Latin}\p{N}\p{Script=Greek}\p{Script=Cyrillic}]/u;

/** True if most letters of the page are of a script that is written from the right. */
export function isRightToLeft({ text }: ReadPage): boolean {
  if (!RIGHT_TO_LEFT.test(text)) return false;
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  return (text.match(ALL_RIGHT_TO_LEFT)?.length ?? 0) > letters / 2;
}

/** The page with its lines in reading order. The page itself if pdf.js finds no text on it. */
export async function inReadingOrder(page: ReadPage, document: PdfDocument): Promise<ReadPage> {
  const lines = await letterLines(document, page.pageNum);
  if (lines.length === 0) return page;
  const textItems: TextItem[] = lines.map(({ text, rectangle }) => ({ text, ...rectangle }));
  return { ...page, width: 1, height: 1, textItems, blocks: blocksOf(lines) };
}

interface Letters {
  readonly text: string;
  /** In fractions of the page as shown. */
  readonly rectangle: Rectangle;
}

async function letterLines(document: PdfDocument, number: number): Promise<Letters[]> {
  const page = await document.getPage(number);
  const content = await page.getTextContent();
  const viewport = page.getViewport({ scale: 1 });
  const letters = content.items.flatMap((item): Letters[] => {
    const rectangle = "str" in item ? shownRectangle(item, content, viewport) : undefined;
    if (!("str" in item) || rectangle === undefined || item.str.trim() === "") return [];
    return [{ text: letterForms(storableText(item.str.trim())), rectangle }];
  });
  page.cleanup();
  const lines: Letters[][] = [];
  for (const letter of letters.toSorted((one, other) => baseOf(one) - baseOf(other))) {
    const last = lines.at(-1);
    const before = last?.at(-1);
    if (before !== undefined && baseOf(letter) - baseOf(before) < letter.rectangle.height * SAME_LINE)
      last?.push(letter);
    else lines.push([letter]);
  }
  return inColumns(lines).map((line) => ({
    text: lineText(line, viewport.width / viewport.height),
    rectangle: unionOf(line.map(({ rectangle }) => rectangle))!,
  }));
}

/** In heights of a letter. */
const SAME_LINE = 0.3;

/** Where two columns may be parted, in fractions of the page's width. */
const GUTTERS = Array.from({ length: 41 }, (_, step) => 0.3 + step / 100);
const MIN_COLUMN_LINES = 3;
/** Lines of a column of prose are as wide, in fractions of the page; cells of a table are not. */
const MIN_COLUMN_WIDTH = 0.25;
/** The share of lines that go over both columns, such as headings. */
const MAX_WIDE_SHARE = 0.2;

interface Sides {
  readonly right: Letters[];
  readonly left: Letters[];
}

/** The lines of the right column before those of the left one, between lines that go over both. */
function inColumns(lines: readonly Letters[][]): Letters[][] {
  const parted = GUTTERS.map((gutter) => lines.map((line) => sidesOf(line, gutter)))
    .filter(areColumns)
    .toSorted((one, other) => wideIn(one) - wideIn(other))[0];
  if (parted === undefined) return [...lines];
  const ordered: Letters[][] = [];
  let left: Letters[][] = [];
  lines.forEach((line, index) => {
    const sides = parted[index];
    if (sides === undefined) {
      ordered.push(...left, line);
      left = [];
      return;
    }
    if (sides.right.length > 0) ordered.push(sides.right);
    if (sides.left.length > 0) left.push(sides.left);
  });
  return [...ordered, ...left];
}

function areColumns(parted: readonly (Sides | undefined)[]): boolean {
  const isColumn = (side: keyof Sides): boolean => {
    const lines = parted.map((sides) => sides?.[side] ?? []).filter((line) => line.length > 0);
    const widths = lines.map((line) => unionOf(line.map(({ rectangle }) => rectangle))?.width ?? 0);
    return lines.length >= MIN_COLUMN_LINES && median(widths) >= MIN_COLUMN_WIDTH;
  };
  return isColumn("right") && isColumn("left") && wideIn(parted) <= parted.length * MAX_WIDE_SHARE;
}

function wideIn(parted: readonly (Sides | undefined)[]): number {
  return parted.filter((sides) => sides === undefined).length;
}

/** The letters on both sides of the gutter; undefined if some are in it. */
function sidesOf(line: readonly Letters[], gutter: number): Sides | undefined {
  const margin = (MIN_GUTTER / 2) * (line[0]?.rectangle.height ?? 0);
  const right = line.filter((letter) => letter.rectangle.x >= gutter + margin);
  const left = line.filter((letter) => rightOf(letter) <= gutter - margin);
  return right.length + left.length === line.length ? { right, left } : undefined;
}

/** In heights of a letter. */
const MIN_GUTTER = 1;

function baseOf({ rectangle }: Letters): number {
  return rectangle.y + rectangle.height;
}

function letterForms(text: string): string {
  return text.replace(PRESENTATION_FORMS, (forms) => forms.normalize("NFKC"));
}

/** A full stop that is drawn to the left of a number ends the sentence after it. */
const STOP_BEFORE_NUMBER = /^([.,:;!?]+)(\d.*)$/;

/** In heights of a letter; letters of a word touch. */
const WORD_SPACE = 0.12;

/** From the right to the left, but numbers and Latin words between from left to right. */
function lineText(line: readonly Letters[], aspect: number): string {
  const ordered = line.toSorted((one, other) => rightOf(other) - rightOf(one));
  let text = "";
  for (let at = 0; at < ordered.length;) {
    const end = endOfLeftToRight(ordered, at);
    const run = end > at ? ordered.slice(at, end).toReversed() : ordered.slice(at, at + 1);
    run.forEach((letter, index) => {
      const before = index > 0 ? run[index - 1] : ordered[at - 1];
      if (before !== undefined && gapOf(before, letter, aspect) > WORD_SPACE) text += " ";
      text += letter.text.replace(STOP_BEFORE_NUMBER, "$2$1");
    });
    at = Math.max(end, at + 1);
  }
  return text;
}

function rightOf({ rectangle }: Letters): number {
  return rectangle.x + rectangle.width;
}

function gapOf(one: Letters, other: Letters, aspect: number): number {
  const gap = Math.max(one.rectangle.x - rightOf(other), other.rectangle.x - rightOf(one));
  return (gap * aspect) / other.rectangle.height;
}

/** The end of the letters from `from` on that go from left to right; `from` if there are none. */
function endOfLeftToRight(letters: readonly Letters[], from: number): number {
  let end = from;
  if (!LEFT_TO_RIGHT.test(letters[from]!.text)) return from;
  for (let at = from; at < letters.length && !RIGHT_TO_LEFT.test(letters[at]!.text); at++)
    if (LEFT_TO_RIGHT.test(letters[at]!.text)) end = at + 1;
  return end;
}

/** Larger than most letters by this factor: a heading, and one of the first level. */
const HEADING = 1.2;
const TITLE = 1.7;
/** In distances between lines. */
const PARAGRAPH_GAP = 1.3;

function blocksOf(lines: readonly Letters[]): LayoutBlock[] {
  const usual = median(lines.map(({ rectangle }) => rectangle.height));
  const pitch = median(lines.slice(1).map((line, index) => baseOf(line) - baseOf(lines[index]!)));
  const blocks: LayoutBlock[] = [];
  let group: Letters[] = [];
  const end = (): void => {
    const [first] = group;
    if (first === undefined) return;
    const size = first.rectangle.height / usual;
    const text = group.map((line) => line.text).join(" ");
    const bbox = unionOf(group.map(({ rectangle }) => rectangle))!;
    if (size > HEADING) blocks.push({ kind: "heading", text, level: size > TITLE ? 1 : 2, bbox });
    else blocks.push({ kind: "paragraph", text: text.replace(/[\\*]/g, "\\$&"), bbox });
    group = [];
  };
  for (const line of lines) {
    const before = group.at(-1);
    const ratio = before === undefined ? 1 : line.rectangle.height / before.rectangle.height;
    const isFar = before !== undefined && baseOf(line) - baseOf(before) > pitch * PARAGRAPH_GAP;
    if (isFar || ratio > HEADING || ratio < 1 / HEADING) end();
    group.push(line);
  }
  end();
  return blocks;
}
