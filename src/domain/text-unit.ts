/** The only shape that parsed text has: what every parser returns, and what chunkers and the text endpoint read. */

export const UNIT_TYPES = ["heading", "paragraph", "list", "table", "code", "quote", "image"] as const;
export type UnitType = (typeof UNIT_TYPES)[number];

/**
 * One block of a document.
 *
 * `text` is the block as Markdown: a table as a pipe table, code with its fence, a quote with its `>`; only a heading stands without
 * its `#` marks, since `level` says them. Units joined by blank lines are the document as Markdown.
 */
export interface TextUnit {
  readonly type: UnitType;
  readonly text: string;
  /** 1-based; null where the format has no pages. */
  readonly page: number | null;
  /**
   * The headings that the unit stands under, outermost first, six at most; a heading's own path ends with itself. Empty where long
   * headings over many short units would make the paths longer than the text.
   */
  readonly heading_path: readonly string[];
  /** 1–6, headings only. */
  readonly level?: number;
  /** UTF-16 offsets of `text` in the document as one Markdown text; set when it is kept. */
  readonly start?: number;
  readonly end?: number;
  /** A running header or footer: part of the text, but of no chunk. */
  readonly repeats?: boolean;
}

/** What a format says about its document; dates are ISO 8601. */
export interface ExtractedMetadata {
  readonly title?: string;
  readonly author?: string;
  readonly language?: string;
  readonly created_at?: string;
  readonly modified_at?: string;
}

/** Something that was left out of a document that is otherwise whole. */
export interface ParseWarning {
  /** First and last page, both included; null where it concerns the document as a whole. */
  readonly pages: readonly [number, number] | null;
  readonly code: string;
}

export interface ParsedDocument {
  readonly parser_name: string;
  readonly units: readonly TextUnit[];
  /** Pages of the whole document, also when only a range of them was parsed; null where the format has no pages. */
  readonly page_count: number | null;
  /** The last page that was read, where that is not the last one asked for. */
  readonly last_page?: number;
  readonly metadata: ExtractedMetadata;
  readonly warnings: readonly ParseWarning[];
}

/** The document, or a part of it, as one Markdown text. */
export function unitsAsMarkdown(units: readonly TextUnit[]): string {
  return units
    .map((unit) => (unit.type === "heading" ? `${"#".repeat(unit.level ?? 1)} ${unit.text}` : unit.text))
    .join("\n\n");
}
