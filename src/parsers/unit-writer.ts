/** The only place where parsers of structured formats collect units: text in, units with page and headings out. */

import type { TextUnit, UnitType } from "../domain/text-unit.ts";
import { createHeadingPath } from "./heading-path.ts";
import { storableText } from "./parser.ts";

export interface UnitWriter {
  readonly units: TextUnit[];
  /** Units from here on are of this page; null: of none. */
  setPage(page: number | null): void;
  /** Levels beyond 1–6 are brought into it. Nothing for blank text. */
  heading(level: number, text: string): void;
  /** Nothing for blank text. `repeats`: a running header or footer. */
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
