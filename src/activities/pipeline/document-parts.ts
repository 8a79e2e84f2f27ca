/** Divides a long document into parts, so that memory stays flat and finished parts outlive a crash. */
import type { ParsedDocument, ParseWarning, ExtractedMetadata, TextUnit } from "../../domain/text-unit.ts";
import { createHeadingPath, type OpenHeading } from "../../parsers/heading-path.ts";
import { titleOf } from "./document-title.ts";

const PAGES_A_PART = 50;

/** Where a document goes on, and all that the next part must know about those before it. */
export interface Checkpoint {
  readonly next_page: number;
  readonly page_count: number;
  readonly units: number;
  readonly chunks: number;
  /** The length of the text so far, including the separator before the next unit. */
  readonly text_length: number;
  readonly headings: readonly OpenHeading[];
  readonly warnings: readonly ParseWarning[];
  readonly extracted: ExtractedMetadata;
  readonly parser_name: string;
  /** Of the whole document; empty if it has none. Absent in what versions before 0.10.0 wrote. */
  readonly title?: string;
}

export interface DocumentPart {
  /** Has the warnings and metadata of all parts so far. */
  readonly document: ParsedDocument;
  /** Of the whole document; empty if it has none. */
  readonly title: string;
  /** Null in the last part. `chunks` is not counted yet. */
  readonly next: Omit<Checkpoint, "chunks"> | null;
}

/** The parts of a document with pages from the checkpoint on: together the whole, with its headings. */
export async function* documentParts(
  parse: (pages: readonly [number, number]) => Promise<ParsedDocument>,
  from: Checkpoint | null,
): AsyncGenerator<DocumentPart> {
  let state = from ?? null;
  for (;;) {
    const first = state?.next_page ?? 1;
    const parsed = await parse([first, first + PAGES_A_PART - 1]);
    const last = parsed.last_page ?? first + PAGES_A_PART - 1;
    const part = continued(parsed, state);
    const total = part.document.page_count ?? last;
    // Later parts do not see the front of the document, where its title is.
    const title: string = state?.title ?? titleOf(part.document);
    if (last >= total) return yield { document: part.document, title, next: null };
    const next = { ...part.next, title, next_page: last + 1, page_count: total };
    yield { document: part.document, title, next };
    state = { ...next, chunks: 0 };
  }
}

/** A document that is parsed as a whole. */
export function onlyPart(document: ParsedDocument): DocumentPart {
  return { document: continued(document, null).document, title: titleOf(document), next: null };
}

/** Adds to the units their offsets in the whole text and the headings of the parts before. */
function continued(
  document: ParsedDocument,
  before: Checkpoint | null,
): { document: ParsedDocument; next: Omit<Checkpoint, "chunks" | "next_page" | "page_count"> } {
  const path = createHeadingPath(before?.headings);
  let length = before?.text_length ?? 0;
  const units = document.units.map((unit): TextUnit => {
    const marks = unit.type === "heading" ? (unit.level ?? 1) + 1 : 0;
    const start = length + marks;
    length = start + unit.text.length + 2;
    const headingPath =
      before === null
        ? unit.heading_path
        : unit.type === "heading"
          ? path.enter(unit.level ?? 1, unit.text)
          : path.current();
    if (before === null && unit.type === "heading") path.enter(unit.level ?? 1, unit.text);
    return { ...unit, heading_path: headingPath, start, end: start + unit.text.length };
  });
  const warnings = [...(before?.warnings ?? []), ...document.warnings];
  const extracted = { ...document.metadata, ...before?.extracted };
  const parserName =
    before === null || before.parser_name === "none" ? document.parser_name : before.parser_name;
  return {
    document: { ...document, units, warnings, metadata: extracted, parser_name: parserName },
    next: {
      units: (before?.units ?? 0) + units.length,
      text_length: length,
      headings: path.open(),
      warnings,
      extracted,
      parser_name: parserName,
    },
  };
}
