/** The only place where parsers of structured formats collect units: text in, units with page and headings out. */

import type { TextUnit, UnitType } from "../domain/text-unit.ts";
import { createHeadingPath } from "./heading-path.ts";
import { storableText } from "./parser.ts";

/** A longer heading is a paragraph that somebody styled: every unit below would repeat it. */
const MAX_HEADING_CHARS = 300;

/** A running text beyond this is cut, so that no unit outgrows a message or a row. */
const MAX_UNIT_CHARS = 32_768;

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
    const common = { page, heading_path: path.current(), ...(repeats ? { repeats } : {}) };
    for (const part of type === "paragraph" ? cutLong(stored) : [stored]) units.push({ type, text: part, ...common });
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
      if (line.length > MAX_HEADING_CHARS) add("paragraph", line);
      else if (line !== "") units.push({ type: "heading", text: line, page, heading_path: path.enter(bounded, line), level: bounded });
    },
  };
}

function trimBlankLines(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, "").trimEnd();
}

function cutLong(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  while (text.length - start > MAX_UNIT_CHARS) {
    const limit = start + MAX_UNIT_CHARS;
    const space = text.slice(limit - 1000, limit).search(/\s(?=\S*$)/);
    const end = space < 0 ? limit - (isHighSurrogate(text.charCodeAt(limit - 1)) ? 1 : 0) : limit - 1000 + space + 1;
    parts.push(text.slice(start, end).trimEnd());
    start = end;
  }
  parts.push(text.slice(start));
  return parts;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
