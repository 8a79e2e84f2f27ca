/**
 * Tells which Markdown block a line opens, by CommonMark's rules for blocks and GitHub's for tables.
 *
 * @see https://spec.commonmark.org/0.31.2/
 * @see https://github.github.com/gfm/#tables-extension-
 */

/** With this many columns of indentation a line is code and opens no other block. */
const CODE_INDENT = 4;

export interface FenceOpening {
  readonly mark: "`" | "~";
  readonly length: number;
}

export function isBlank(line: string): boolean {
  return line.trim() === "";
}

/** Columns of white space at the start of a line; a tab counts up to the next multiple of four. */
export function indentOf(line: string): number {
  let columns = 0;
  for (const character of line) {
    if (character === " ") columns++;
    else if (character === "\t") columns += CODE_INDENT - (columns % CODE_INDENT);
    else break;
  }
  return columns;
}

export function isIndentedCode(line: string): boolean {
  return !isBlank(line) && indentOf(line) >= CODE_INDENT;
}

/** A heading's level and its text without marks; undefined if the line is none. */
export function atxHeading(line: string): { level: number; text: string } | undefined {
  if (indentOf(line) >= CODE_INDENT) return undefined;
  const content = line.trim();
  const level = runLength(content, "#");
  if (level < 1 || level > 6) return undefined;
  const rest = content.slice(level);
  if (rest !== "" && rest[0] !== " " && rest[0] !== "\t") return undefined;
  return { level, text: withoutClosingMarks(rest.trim()) };
}

function withoutClosingMarks(heading: string): string {
  let end = heading.length;
  while (end > 0 && heading[end - 1] === "#") end--;
  const closes = end === 0 || heading[end - 1] === " " || heading[end - 1] === "\t";
  return closes ? heading.slice(0, end).trimEnd() : heading;
}

/** The level (1 or 2) of the heading that this underline makes of the paragraph above it. */
export function setextLevel(line: string): 1 | 2 | undefined {
  if (indentOf(line) >= CODE_INDENT) return undefined;
  const content = line.trim();
  if (content === "") return undefined;
  if (runLength(content, "=") === content.length) return 1;
  return runLength(content, "-") === content.length ? 2 : undefined;
}

export function fenceOpening(line: string): FenceOpening | undefined {
  const content = line.trim();
  const mark = content[0];
  if (mark !== "`" && mark !== "~") return undefined;
  const length = runLength(content, mark);
  if (length < 3) return undefined;
  return mark === "`" && content.includes("`", length) ? undefined : { mark, length };
}

export function closesFence(line: string, fence: FenceOpening): boolean {
  const content = line.trim();
  return content.length >= fence.length && runLength(content, fence.mark) === content.length;
}

/** A separator: `***`, `- - -`, `___`. */
export function isThematicBreak(line: string): boolean {
  if (indentOf(line) >= CODE_INDENT) return false;
  const marks = line.replace(/[ \t]/g, "").trim();
  const mark = marks[0];
  return (
    marks.length >= 3 &&
    (mark === "*" || mark === "-" || mark === "_") &&
    runLength(marks, mark) === marks.length
  );
}

export function isQuote(line: string): boolean {
  return indentOf(line) < CODE_INDENT && line.trimStart().startsWith(">");
}

/** The column at which a list item's text starts; undefined if the line opens no item. */
export function listItemIndent(line: string): number | undefined {
  const item = /^[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)/.exec(line);
  if (item === null || isThematicBreak(line)) return undefined;
  const marker = item[0].trimStart().length;
  const after = indentOf(line.slice(item[0].length));
  return indentOf(line) + marker + (after < 1 || after > CODE_INDENT ? 1 : after);
}

/** Whether a list may begin directly after a paragraph: a numbered one only with 1, an empty item never. */
export function listInterruptsParagraph(line: string): boolean {
  return (
    indentOf(line) < CODE_INDENT &&
    /^[ \t]*(?:[-*+]|1[.)])[ \t]+\S/.test(line) &&
    listItemIndent(line) !== undefined
  );
}

/** Whether the line is the row of dashes under a table's head. */
export function isTableDelimiter(line: string): boolean {
  const content = line.trim();
  return (
    content.includes("-") &&
    content.includes("|") &&
    /^[|:\- \t]+$/.test(content) &&
    tableCells(content).every((cell) => /^:?-+:?$/.test(cell))
  );
}

/** The trimmed cells of a row; an escaped bar does not end a cell. */
export function tableCells(line: string): string[] {
  let content = line.trim();
  if (content.startsWith("|")) content = content.slice(1);
  if (content.endsWith("|") && !content.endsWith("\\|")) content = content.slice(0, -1);
  return content.split(/(?<!\\)\|/).map((cell) => cell.trim());
}

/** Whether a paragraph is nothing but one image. */
export function isImageOnly(paragraph: string): boolean {
  return paragraph.startsWith("![") && paragraph.endsWith(")") && /^!\[[^\]]*\]\([^()]*\)$/.test(paragraph);
}

function runLength(content: string, mark: string): number {
  let length = 0;
  while (length < content.length && content[length] === mark) length++;
  return length;
}
