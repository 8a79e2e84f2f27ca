/** Finds the title of a document: what it says itself, else its first heading. */
import type { ParsedDocument, TextUnit } from "../../domain/text-unit.ts";
import { namedKind } from "../../parsers/file-extensions.ts";

/** What is read of a line is ten times this: a title and a heading are short. */
const MAX_LINE_CHARS = 200;
/** A heading further on is that of a part. */
const FRONT_UNITS = 10;

/**
 * The title on one line; empty if the document has none. Plain text has none that is marked as such, and to
 * take its first line for one ranks worse.
 * @see docs/decisions/0040-headers-of-chunks.md
 */
export function titleOf({ metadata, units }: Pick<ParsedDocument, "metadata" | "units">): string {
  const own = units.filter((unit) => unit.repeats !== true);
  const described = oneLine(metadata.title ?? "");
  if (isTitle(described)) return described;
  const heading = own.slice(0, FRONT_UNITS).find((unit) => unit.type === "heading");
  return heading === undefined ? "" : titleHeading(heading, own);
}

/** Text on one line. Only the beginning of a very long one is read: a title and a heading are short. */
export function oneLine(text: string): string {
  return text
    .slice(0, 10 * MAX_LINE_CHARS)
    .replace(/\s+/g, " ")
    .trim();
}

/** What programs write where nobody gave a title. */
const NO_TITLE = /^(?:untitled|document|presentation|powerpoint presentation|sheet|slide|page)[\s\d.-]*$/i;
/** Kinds of files that documents are made from, beside those that are read here. */
const OTHER_SOURCES = new Set(["dvi", "eps", "indd", "pages", "ps", "pub", "tex", "wpd", "xps"]);

/** Programs that make PDF write the name of the file they made it from, such as `Microsoft Word - a.doc`. */
function isTitle(text: string): boolean {
  const extension = /\.([a-z\d]{2,8})$/i.exec(text)?.[1]?.toLowerCase() ?? "";
  const kind = namedKind(extension);
  const isFileName = OTHER_SOURCES.has(extension) || (kind !== undefined && kind !== "CODE");
  return text !== "" && !isFileName && !NO_TITLE.test(text);
}

/** The document's first heading, unless it is that of the first of several sections. */
function titleHeading(first: TextUnit, units: readonly TextUnit[]): string {
  const level = first.level ?? 1;
  const isAbove = level === 1 || units.every((unit) => unit === first || (unit.level ?? 7) > level);
  const title = oneLine(first.text);
  return isAbove && isTitle(title) ? title : "";
}
