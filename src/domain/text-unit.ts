/** Parsed text: what every parser returns, and what chunkers and the text endpoint read. */

import type { PackedPlaces } from "./locations/packed.ts";

export const UNIT_TYPES = ["heading", "paragraph", "list", "table", "code", "quote", "image"] as const;
export type UnitType = (typeof UNIT_TYPES)[number];

/**
 * One block of a document.
 *
 * `text` is the block as Markdown: a table as a pipe table, code with its fence, a quote with its `>`. A
 * heading has no `#` marks, because `level` has their number. Units joined by blank lines are the document as
 * Markdown.
 */
export interface TextUnit {
  readonly type: UnitType;
  readonly text: string;
  /** Counted from 1; null if the format has no pages. */
  readonly page: number | null;
  /**
   * The headings above the unit, outermost first, at most six; the path of a heading ends with itself. Empty
   * if long headings over many short units would make the paths longer than the text.
   */
  readonly heading_path: readonly string[];
  /** 1–6, headings only. */
  readonly level?: number;
  /** UTF-16 offsets of `text` in the whole document as Markdown; set when the text is stored. */
  readonly start?: number;
  readonly end?: number;
  /** True for a running header or footer, which belongs to the text but to no chunk. */
  readonly repeats?: boolean;
  /**
   * Where stretches of `text` are in the file, without `heading_path`, which the unit has itself. Absent if
   * unknown, and in units stored by versions before 0.9.0.
   */
  readonly places?: PackedPlaces;
}

/** The document properties that a format has; dates are ISO 8601. */
export interface ExtractedMetadata {
  readonly title?: string;
  readonly author?: string;
  readonly language?: string;
  readonly created_at?: string;
  readonly modified_at?: string;
}

/** Something that was left out of a document that is otherwise whole. */
export interface ParseWarning {
  /** The first and the last page, inclusive; null if it concerns the whole document. */
  readonly pages: readonly [number, number] | null;
  readonly code: string;
}

export interface ParsedDocument {
  readonly parser_name: string;
  readonly units: readonly TextUnit[];
  /** The pages of the whole document, even if only a range was parsed; null if the format has no pages. */
  readonly page_count: number | null;
  /** The last page that was read, if it is not the last one asked for. */
  readonly last_page?: number;
  readonly metadata: ExtractedMetadata;
  readonly warnings: readonly ParseWarning[];
}

export type ChunkMetadata = {
  /** The innermost heading above the chunk. */
  readonly heading_text?: string;
  readonly heading_path?: readonly string[];
  /** `text` if the chunk holds only paragraphs. */
  readonly format: "text" | "markdown";
  /** The number of runs of characters between white space. */
  readonly word_count: number;
  /** BCP 47, as the document says itself. */
  readonly language?: string;
};

/** The units of a document, or of a part of it, as one Markdown text. */
export function unitsAsMarkdown(units: readonly TextUnit[]): string {
  return units
    .map((unit) => (unit.type === "heading" ? `${"#".repeat(unit.level ?? 1)} ${unit.text}` : unit.text))
    .join("\n\n");
}
