/** Reads lines of text that were taken for a table: paragraphs and the headings between them. */

import type { UnitType } from "../../../domain/text-unit.ts";
import { isBeside, unionOf, type Rectangle } from "./frame.ts";
import type { Run } from "./page-runs.ts";
import type { Piece } from "./places.ts";

/** What becomes one unit. */
export interface Part {
  readonly type: UnitType;
  readonly pieces: readonly Piece[];
  /** Of a heading. */
  readonly level?: number;
}

export interface Line {
  /** In reading order. */
  readonly runs: readonly Run[];
  readonly rectangle: Rectangle;
}

/** Lines from top to bottom. */
export function textLines(runs: readonly Run[]): Line[] {
  const lines: { runs: Run[]; rectangle: Rectangle }[] = [];
  for (const run of runs.toSorted((one, other) => one.y + one.height / 2 - other.y - other.height / 2)) {
    const last = lines.at(-1);
    if (last !== undefined && isBeside(last.rectangle, run)) {
      last.runs.push(run);
      last.rectangle = unionOf([last.rectangle, run])!;
    } else lines.push({ runs: [run], rectangle: run });
  }
  const order = new Map(runs.map((run, index) => [run, index]));
  for (const line of lines) line.runs.sort((one, other) => order.get(one)! - order.get(other)!);
  return lines;
}

/** `2.1 General rules`: how deep its number is, is its level. */
const NUMBERED = /^(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+\p{Lu}/u;

/** A line that is farther below the one before than this many times the usual distance begins a paragraph. */
const MIN_BREAK = 1.4;

/** Paragraphs end at wider gaps; a numbered line in a font of its own is a heading. */
export function proseParts(runs: readonly Run[]): Part[] {
  const lines = textLines(runs);
  const usual = mostCommon(lines.flatMap((line) => line.runs.map((run) => run.font)));
  const pitch = median(lines.slice(1).map((line, index) => distance(lines[index]!, line)));
  const parts: Part[] = [];
  let paragraph: Line[] = [];
  const end = (): void => {
    if (paragraph.length > 0) parts.push({ type: "paragraph", pieces: [piece(paragraph)] });
    paragraph = [];
  };
  lines.forEach((line, index) => {
    const text = lineText(line);
    const number = NUMBERED.exec(text)?.[1];
    const isHeading = number !== undefined && line.runs.every((run) => run.font !== usual);
    if (isHeading || (index > 0 && distance(lines[index - 1]!, line) > pitch * MIN_BREAK)) end();
    if (isHeading) parts.push({ type: "heading", pieces: [piece([line])], level: number.split(".").length });
    else paragraph.push(line);
  });
  end();
  return parts;
}

/** The words as one paragraph; a word that a hyphen parts at the end of a line is joined. */
function piece(lines: readonly Line[]): Piece {
  const text = lines.reduce((before, line) => {
    const next = lineText(line);
    if (before === "") return next;
    const isParted = /\p{Ll}[-\u2010]$/u.test(before) && /^\p{Ll}/u.test(next);
    return isParted ? before.slice(0, -1) + next : `${before} ${next}`;
  }, "");
  return { text, region: unionOf(lines.map((line) => line.rectangle)) };
}

function lineText(line: Line): string {
  return line.runs.map((run) => run.words).join(" ");
}

function distance(above: Line, below: Line): number {
  return below.rectangle.y + below.rectangle.height - above.rectangle.y - above.rectangle.height;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function mostCommon(values: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0];
}
