/** Collects the units of a structured format: takes text, adds page and heading path. */

import type { TextUnit, UnitType } from "../domain/text-unit.ts";
import { createHeadingPath } from "./heading-path.ts";
import { storableText } from "./parser.ts";

export interface UnitWriter {
  readonly units: TextUnit[];
  /** Sets the page of the units that follow; null if they have none. */
  setPage(page: number | null): void;
  /** Adds a heading; levels outside of 1–6 are clamped. Blank text adds nothing. */
  heading(level: number, text: string): void;
  /** Blank text adds nothing. `repeats` (default false): a running header or footer. */
  add(type: Exclude<UnitType, "heading">, text: string, repeats?: boolean): void;
}

export function createUnitWriter(): UnitWriter {
  const units: TextUnit[] = [];
  const path = createHeadingPath();
  let page: number | null = null;

  const add: UnitWriter["add"] = (type, text, repeats = false) => {
    const stored = trimBlankLines(storableText(text));
    if (stored.trim() === "") return;
    units.push({ type, text: stored, page, heading_path: path.current(), ...(repeats ? { repeats } : {}) });
  };
  return {
    units,
    add,
    setPage(next) {
      page = next;
    },
    heading(level, text) {
      const line = storableText(text).replace(/\s+/g, " ").trim();
      const bounded = Math.min(Math.max(level, 1), 6);
      if (line !== "")
        units.push({
          type: "heading",
          text: line,
          page,
          heading_path: path.enter(bounded, line),
          level: bounded,
        });
    },
  };
}

function trimBlankLines(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, "").trimEnd();
}
