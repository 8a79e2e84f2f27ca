/** Finds the title of a document: what it says itself, else its first heading, else its first line. */
import type { ParsedDocument, TextUnit } from "../../domain/text-unit.ts";
import { namedKind } from "../../parsers/file-extensions.ts";

/** A longer line is a text. */
const MAX_LINE_CHARS = 200;
/** A heading further on is that of a part. */
const FRONT_UNITS = 10;
/** Lines that were wrapped are nearly all longer than this share of the longest. */
const WRAPPED_SHARE = 0.75;
/** The first word of a line; empty in a script without spaces, which is wrapped anywhere. */
const FIRST_WORD = /^(?:(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}])\S)*/u;

/** The title on one line; empty if the document has none. */
export function titleOf({ metadata, units, parser_name }: ParsedDocument): string {
  const own = units.filter((unit) => unit.repeats !== true);
  const described = oneLine(metadata.title ?? "");
  if (isTitle(described)) return described;
  const heading = own.slice(0, FRONT_UNITS).find((unit) => unit.type === "heading");
  if (heading !== undefined) return titleHeading(heading, own);
  return parser_name === "text" ? titleLine(own) : "";
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

/**
 * The first line of plain text if a blank line follows it, or a line break that no wrapping made: the line
 * ends well before the others of its paragraph do, and the next word would have had room on it. Text must
 * follow, and a line that says so itself goes on.
 */
function titleLine([first, second]: readonly TextUnit[]): string {
  if (first?.type !== "paragraph") return "";
  const lines = first.text.split("\n").map((line) => line.trim());
  const at = lines.findIndex((line) => line !== "");
  const title = oneLine(lines[at] ?? "");
  const rest = lines.slice(at + 1);
  const mayBe = title.length <= MAX_LINE_CHARS && /\p{L}/u.test(title) && !/[,;:，、；：]$/.test(title);
  if (!mayBe || (rest.length === 0 && second === undefined)) return "";
  if (rest.length === 0) return title;
  const width = rest.reduce((most, line) => Math.max(most, line.length), 0);
  const nextWord = FIRST_WORD.exec(rest[0]!)![0].length;
  return title.length + 1 + nextWord <= width * WRAPPED_SHARE ? title : "";
}
