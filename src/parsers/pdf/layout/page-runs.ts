/** Finds the lines of a block's text among the runs of characters that are drawn on its page. */

import { storableText } from "../../parser.ts";
import { isBeside, unionOf, type Rectangle } from "./frame.ts";

/** Characters that are drawn together. */
export interface Run extends Rectangle {
  /** Without blanks. */
  readonly text: string;
  readonly words: string;
  readonly font: string;
  readonly isUpright: boolean;
}

export interface PageRuns {
  /** In reading order. */
  readonly runs: readonly Run[];
  /** Runs of which the characters have been found in a text already. */
  readonly used: Set<Run>;
  /** Comparisons that may still be made, so that a page of a million equal letters takes no minutes. */
  left: number;
}

export interface TextLine {
  /** UTF-16 offsets in the text. */
  readonly from: number;
  readonly to: number;
  readonly rectangle: Rectangle;
}

const COMPARISONS_PER_RUN = 500;
const MAX_COMPARISONS = 2_000_000;
/** Comparisons that take as long as telling whether a run is in a region. */
const RUN_SHARE = 0.1;

/** A run is a block's if its middle is at most this far outside of it, in points. */
const TOLERANCE = 2;

/** Runs that are looked at to tell which of two equal words comes next. */
const LOOKAHEAD = 4;

interface Drawn extends Rectangle {
  readonly text: string;
  readonly fontName?: string | undefined;
  readonly fontSize?: number | undefined;
  readonly rotation?: number | undefined;
}

export function pageRuns(items: readonly Drawn[]): PageRuns {
  const runs = items
    .map(({ text, x, y, width, height, fontName = "", fontSize = 0, rotation = 0 }) => ({
      text: storableText(text).replace(/\s+/g, ""),
      words: storableText(text).trim(),
      x,
      y,
      width,
      height,
      font: `${fontName} ${fontSize}`,
      isUpright: Math.abs(rotation) < 1,
    }))
    .filter((run) => run.text !== "" && [run.x, run.y, run.width, run.height].every(Number.isFinite));
  return {
    runs,
    used: new Set(),
    left: Math.min(10_000 + runs.length * COMPARISONS_PER_RUN, MAX_COMPARISONS),
  };
}

export function runsWithin(runs: readonly Run[], region: Rectangle): Run[] {
  return runs.filter(({ x, y, width, height }) => {
    const middleX = x + width / 2;
    const middleY = y + height / 2;
    return (
      middleX >= region.x - TOLERANCE &&
      middleX <= region.x + region.width + TOLERANCE &&
      middleY >= region.y - TOLERANCE &&
      middleY <= region.y + region.height + TOLERANCE
    );
  });
}

/** The lines of a text's characters in the region; none for those not found. Hyphens may be missing. */
export function findLines(text: string, page: PageRuns, region: Rectangle): TextLine[] {
  if (page.left <= 0) return [];
  const search = createSearch(text, page, runsWithin(page.runs, region));
  return linesOf(findRuns(search, page));
}

/** In heights of the first line. */
const HEADING_HEIGHT = 6;

/** As {@link findLines}, for a heading: of several lines, liteparse knows the region of the first. */
export function findHeadingLines(text: string, page: PageRuns, region: Rectangle): TextLine[] {
  if (page.left <= 0) return [];
  const search = createSearch(text, page, runsWithin(page.runs, region));
  const found = findRuns(search, page);
  if (found.reduce((sum, { length }) => sum + length, 0) === search.compact.length) return linesOf(found);
  for (const { run } of found) page.used.delete(run);
  const first = found[0] === undefined ? -1 : page.runs.indexOf(found[0].run);
  const below = page.runs.filter(
    ({ y }, index) =>
      index >= first && y >= region.y - TOLERANCE && y <= region.y + region.height * HEADING_HEIGHT,
  );
  return linesOf(findRuns(createSearch(text, page, below), page));
}

interface Found {
  readonly run: Run;
  readonly from: number;
  readonly to: number;
  /** Characters without blanks. */
  readonly length: number;
}

function findRuns(search: Search, page: PageRuns): Found[] {
  let at = 0;
  let next = 0;
  const found: Found[] = [];
  while (at < search.compact.length) {
    const index = search.indexAt(at, next);
    if (index === undefined) {
      at = search.wordEnd(at);
      continue;
    }
    const run = search.runs[index]!;
    const length = search.lengthAt(run, at);
    page.used.add(run);
    found.push({ run, from: search.offsets[at]!, to: search.offsets[at + length - 1]! + 1, length });
    at += length;
    next = index + 1;
  }
  return found;
}

interface Search {
  /** The text without blanks. */
  readonly compact: string;
  readonly offsets: readonly number[];
  readonly runs: readonly Run[];
  /** The characters of the text from `at` on that are the run's; 0 if it is another run. */
  lengthAt(run: Run, at: number): number;
  /** The run that draws the text from `at` on: `next`, or else the one that draws most of it. */
  indexAt(at: number, next: number): number | undefined;
  /** The start of the next word. */
  wordEnd(at: number): number;
}

function createSearch(text: string, page: PageRuns, runs: readonly Run[]): Search {
  page.left -= page.runs.length * RUN_SHARE;
  const offsets: number[] = [];
  let compact = "";
  for (const match of text.matchAll(/\S+/g)) {
    compact += match[0];
    for (let at = 0; at < match[0].length; at++) offsets.push(match.index + at);
  }
  const byFirst = new Map<string, number[]>();
  runs.forEach(({ text: drawn }, index) => {
    const same = byFirst.get(drawn[0]!);
    if (same === undefined) byFirst.set(drawn[0]!, [index]);
    else same.push(index);
  });

  const lengthAt: Search["lengthAt"] = (run, at) => {
    page.left--;
    if (compact.startsWith(run.text, at)) return run.text.length;
    const joined = run.text.replace(/[-\u00AD\u2010]$/, "");
    return joined !== "" && joined !== run.text && compact.startsWith(joined, at) ? joined.length : 0;
  };
  const isFree = (index: number): boolean => index < runs.length && !page.used.has(runs[index]!);
  const reach = (at: number, index: number): number => {
    let end = at;
    for (let step = 0; step < LOOKAHEAD && isFree(index + step); step++) {
      const length = lengthAt(runs[index + step]!, end);
      if (length === 0) break;
      end += length;
    }
    return end - at;
  };
  return {
    compact,
    offsets,
    runs,
    lengthAt,
    wordEnd(at) {
      let end = at + 1;
      while (end < compact.length && offsets[end] === offsets[end - 1]! + 1) end++;
      return end;
    },
    indexAt(at, next) {
      if (isFree(next) && lengthAt(runs[next]!, at) > 0) return next;
      let best: number | undefined;
      let farthest = 0;
      for (const index of byFirst.get(compact[at]!) ?? []) {
        if (page.left <= 0) return undefined;
        const end = isFree(index) ? reach(at, index) : 0;
        if (end <= farthest) continue;
        best = index;
        farthest = end;
      }
      return best;
    },
  };
}

function linesOf(found: readonly Found[]): TextLine[] {
  const lines: TextLine[] = [];
  for (const { run, from, to } of found) {
    const last = lines.at(-1);
    if (last !== undefined && isBeside(last.rectangle, run))
      lines[lines.length - 1] = { from: last.from, to, rectangle: unionOf([last.rectangle, run])! };
    else lines.push({ from, to, rectangle: run });
  }
  return lines;
}
