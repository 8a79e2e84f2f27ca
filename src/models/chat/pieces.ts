/** Cuts the text of a source into what may be quoted: sentences, rows of tables and lines of code. */
import { plainCode, plainProse } from "./plain-line.ts";

export interface Piece {
  /** One plain line, at most {@link MAX_LENGTH} characters long. */
  readonly text: string;
  /** What counts as its own words; for a row these are its cells. */
  readonly own: string;
  /** The names of a row's columns: they are in `text`, but are the same for every row. */
  readonly columns: string;
  /** The heading above it, which says what it is about. */
  readonly above: string;
  /** False for headings and questions: they say what is looked for, and do not answer. */
  readonly isQuotable: boolean;
}

/** A long sentence. What is longer is cut into several pieces, each with an ellipsis at the cut. */
const MAX_LENGTH = 400;
/** A line without the end of a sentence that is shorter than this, above a paragraph, is its title. */
const MAX_TITLE_LENGTH = 100;

const FENCE = /^\s{0,3}(?:```|~~~)/;
/** A fence with a language opens, also where a piece of a document lacks the end of the code before. */
const OPENING_FENCE = /^\s{0,3}(?:```+|~~~+)\s*[\p{L}{]/u;
const ROW = /^\s{0,12}\|/;
/** The row that divides the names of columns from the rows. */
const DIVIDER = /^[\s|:-]+$/;
const RULE = /^[\s=*_-]+$/;
const HEADING = /^\s{0,3}#{1,6}\s/;
const MARKER = /^\s{0,12}(?:(?:[-*+•>]|#{1,6}|\d{1,3}[.)])\s{1,8}){1,4}/u;
const QUOTE_MARKER = /^\s{0,3}>/;
const ENDS_SENTENCE = /[\p{Sentence_Terminal}:;,…]["'”’»)\]]{0,3}$/u;
const ASKS = /[?？؟]["'”’»)\]]{0,3}$/u;
/** An initial, or an abbreviation such as Dr., St. or No.: its full stop does not end the sentence. */
const ABBREVIATED = /(?<![\p{L}\p{N}])(?:\p{L}|\p{Lu}\p{Ll})\.\s{0,8}$/u;

const sentences = new Intl.Segmenter("und", { granularity: "sentence" });

type Block =
  | { readonly kind: "prose"; readonly lines: string[]; readonly isItem: boolean }
  | { readonly kind: "heading" | "code"; readonly line: string }
  | { readonly kind: "table"; readonly rows: string[] };

function kindOf(line: string, isCode: boolean, isRow: boolean): Block["kind"] | "gap" {
  if (line.trim() === "" || (RULE.test(line) && !isCode)) return "gap";
  if (isCode) return "code";
  if (isRow) return "table";
  return HEADING.test(line) ? "heading" : "prose";
}

/** A table may lack outer strokes: then it begins above a divider and goes on while lines have strokes. */
function isRow(lines: readonly string[], at: number, before: Block | undefined): boolean {
  const line = lines[at]!;
  if (ROW.test(line)) return true;
  if (!line.includes("|")) return false;
  const next = lines[at + 1] ?? "";
  return before?.kind === "table" || (next.includes("|") && next.includes("-") && DIVIDER.test(next));
}

/** Adds the line to the block before it if it goes on there. */
function isAdded(line: string, plain: string, open: Block | undefined): boolean {
  if (open?.kind === "table") open.rows.push(line);
  else if (open?.kind === "prose" && (plain === line || QUOTE_MARKER.test(line))) open.lines.push(plain);
  else return false;
  return true;
}

function blockOf(kind: Block["kind"], line: string, plain: string): Block {
  if (kind === "prose") return { kind, lines: [plain], isItem: plain !== line };
  return kind === "table" ? { kind, rows: [line] } : { kind, line: plain };
}

/** Paragraphs, whose lines only wrap, tables, and apart from them headings, items of lists, lines of code. */
function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let isCode = false;
  let open: Block | undefined;
  const lines = text.split("\n");
  for (const [at, line] of lines.entries()) {
    const isFence = FENCE.test(line);
    if (isFence) isCode = !isCode || OPENING_FENCE.test(line);
    const kind = isFence ? "gap" : kindOf(line, isCode, isRow(lines, at, open));
    if (kind === "gap") {
      open = undefined;
      continue;
    }
    const plain = kind === "code" ? line : line.slice(MARKER.exec(line)?.[0].length ?? 0);
    if (kind === open?.kind && isAdded(line, plain, open)) continue;
    open = blockOf(kind, line, plain);
    blocks.push(open);
  }
  return blocks;
}

/** Cuts what is too long between two words, or anywhere if a word is too long itself. */
function cut(text: string): string[] {
  if (text.length <= MAX_LENGTH) return [text];
  const parts: string[] = [];
  for (let start = 0; start < text.length;) {
    // Two characters are for the ellipses.
    let end = Math.min(text.length, start + MAX_LENGTH - 2);
    if (end < text.length) {
      const space = text.lastIndexOf(" ", end);
      if (space > start) end = space;
      // A pair of surrogates is one character.
      else if (/[\ud800-\udbff]/.test(text.charAt(end - 1))) end -= 1;
    }
    const part = text.slice(start, end).trim();
    parts.push(`${start > 0 ? "…" : ""}${part}${end < text.length ? "…" : ""}`);
    start = end;
  }
  return parts;
}

function sentencesOf(paragraph: string): string[] {
  const found: string[] = [];
  let started = "";
  for (const { segment } of sentences.segment(paragraph)) {
    started += segment;
    if (ABBREVIATED.test(started.slice(-16))) continue;
    found.push(started.trim());
    started = "";
  }
  found.push(started.trim());
  return found.filter((sentence) => sentence !== "");
}

function cellsOf(row: string): string[] {
  const cells = row
    .trim()
    .replace(/^\|/, "")
    .split(/(?<!\\)\|/);
  if (cells.at(-1)?.trim() === "") cells.pop();
  return cells.map(plainProse);
}

interface Cell {
  readonly name: string;
  readonly value: string;
}

/** The cells in groups that fit a quote, nearly always one; later groups repeat the first cell. */
function groupsOf(cells: readonly Cell[]): Cell[][] {
  const lengthOf = ({ name, value }: Cell): number => name.length + value.length + 4;
  const first = cells[0]!;
  const repeated = lengthOf(first) <= MAX_TITLE_LENGTH ? [first] : [];
  const groups: Cell[][] = [];
  let left = 0;
  for (const cell of cells) {
    left -= lengthOf(cell);
    if (left >= 0) {
      groups.at(-1)!.push(cell);
      continue;
    }
    groups.push(cell === first ? [cell] : [...repeated, cell]);
    left = MAX_LENGTH - groups.at(-1)!.reduce((sum, one) => sum + lengthOf(one), 0);
  }
  return groups;
}

/** Every row with a value, as `Column: value; Column: value`; without a row of dashes no names are known. */
function rowsOf(rows: readonly string[], above: string): Piece[] {
  const hasNames = rows.length > 1 && DIVIDER.test(rows[1]!);
  // Every row repeats them, so a long one must not make the rows longer than the text.
  const names = hasNames ? cellsOf(rows[0]!).map((name) => name.slice(0, MAX_TITLE_LENGTH)) : [];
  const columns = names.join(" ").slice(0, MAX_LENGTH);
  return rows.flatMap((row, at) => {
    if (DIVIDER.test(row) || (hasNames && at === 0)) return [];
    const cells = cellsOf(row).map((value, column) => ({ name: names[column] ?? "", value }));
    const filled = cells.filter(({ value }) => value !== "");
    if (filled.every(({ name, value }) => value === name)) return [];
    return groupsOf(filled).flatMap((group) => {
      const shown = group.map(({ name, value }) =>
        name === "" || name === value ? value : `${name}: ${value}`,
      );
      const parts = cut(shown.join("; "));
      const own = group.map(({ value }) => value).join(" ");
      return parts.map((text) => ({
        text,
        own: parts.length === 1 ? own : text,
        columns,
        above,
        isQuotable: true,
      }));
    });
  });
}

/** One line without the end of a sentence. */
function isLikeTitle(block: Block): boolean {
  if (block.kind !== "prose" || block.isItem || block.lines.length > 1) return false;
  const line = block.lines[0]!.trim();
  return line.length <= MAX_TITLE_LENGTH && !ENDS_SENTENCE.test(line);
}

/** A heading, or what looks like one and has a paragraph, a list or a table below it. */
function isTitle(block: Block, next: Block | undefined): boolean {
  if (block.kind === "heading") return true;
  return isLikeTitle(block) && next !== undefined && next.kind !== "heading" && !isLikeTitle(next);
}

function plainTextOf(block: Exclude<Block, { kind: "table" }>): string {
  if (block.kind === "code") return plainCode(block.line);
  return plainProse(block.kind === "prose" ? block.lines.join("\n") : block.line);
}

/** The pieces of a text in its order. Takes time linear in its length. */
export function* piecesOf(text: string): Generator<Piece> {
  const blocks = blocksOf(text);
  let above = "";
  for (const [at, block] of blocks.entries()) {
    if (block.kind === "table") {
      yield* rowsOf(block.rows, above);
      continue;
    }
    const plain = plainTextOf(block);
    if (isTitle(block, blocks[at + 1])) {
      above = plain.slice(0, MAX_LENGTH);
      continue;
    }
    const isCode = block.kind === "code";
    for (const sentence of isCode ? [plain] : sentencesOf(plain)) {
      const isQuotable = isCode || !ASKS.test(sentence);
      for (const part of cut(sentence)) yield { text: part, own: part, columns: "", above, isQuotable };
    }
  }
}
