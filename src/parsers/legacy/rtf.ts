/** The parser of RTF files, and of the bodies of mails that are written in it. */

import { DomainError } from "../../domain/errors.ts";
import { listItem } from "../text/markdown-format.ts";
import { described } from "../metadata.ts";
import { readInput, type Parser } from "../parser.ts";
import { codePageOfFont, rtfTokens } from "./rtf-tokens.ts";
import { CHARACTERS, DESTINATIONS, INFO, SKIPPED, STARRED_TEXT } from "./rtf-words.ts";
import { createUnitWriter, type UnitWriter } from "../unit-writer.ts";

const DEFAULT_CODE_PAGE = 1252;
const MACINTOSH_CODE_PAGE = 10_000;

export const rtf: Parser = {
  name: "rtf",
  runsIn: "child",
  async parse(input) {
    const source = (await readInput(input)).toString("latin1");
    if (!source.trimStart().startsWith("{\\rtf"))
      throw new DomainError("corrupt", "The file is not a readable RTF document.");
    const writer = createUnitWriter();
    const info = writeRtf(source, writer);
    if (writer.units.length === 0) throw new DomainError("no_text", "The document contains no text.");
    return {
      parser_name: rtf.name,
      units: writer.units,
      page_count: null,
      metadata: described({
        title: info.get("title"),
        author: info.get("author"),
        language: undefined,
        created_at: undefined,
        modified_at: undefined,
      }),
      warnings: [],
    };
  },
};

/** State that a group inherits from the one around it. */
interface Group {
  /** `body`, `skip`, a field of the document's description, or a table (fonts, styles) that is read. */
  destination: string;
  /** The number of fallback characters after a Unicode character. */
  fallbacks: number;
  font: number;
  hidden: boolean;
}

interface Reader {
  readonly writer: UnitWriter;
  readonly info: Map<string, string>;
  readonly fonts: Map<number, number>;
  readonly headings: Map<number, number>;
  stack: Group[];
  codePage: number;
  skipCharacters: number;
  /** The number of the font or style that the current group of a table describes. */
  entry: number;
  paragraph: string;
  inTable: boolean;
  row: string[];
  rows: string[][];
  style: number | undefined;
  outline: number | undefined;
  listText: string | undefined;
  pendingItems: string[];
}

/** Writes the document's blocks; returns its description by RTF's own names (`title`, `author`). */
export function writeRtf(source: string, writer: UnitWriter): ReadonlyMap<string, string> {
  const reader: Reader = {
    writer,
    info: new Map(),
    fonts: new Map(),
    headings: new Map(),
    stack: [{ destination: "body", fallbacks: 1, font: -1, hidden: false }],
    codePage: DEFAULT_CODE_PAGE,
    skipCharacters: 0,
    entry: 0,
    paragraph: "",
    inTable: false,
    row: [],
    rows: [],
    style: undefined,
    outline: undefined,
    listText: undefined,
    pendingItems: [],
  };
  const codePage = (): number => reader.fonts.get(group(reader).font) ?? reader.codePage;
  for (const token of rtfTokens(source, codePage)) {
    if (token.kind === "open") reader.stack.push({ ...group(reader) });
    else if (token.kind === "close") closeGroup(reader);
    else if (token.kind === "text") addText(reader, token.text);
    else readWord(reader, token.name, token.value);
  }
  endParagraph(reader);
  endTable(reader);
  endList(reader);
  return reader.info;
}

function group(reader: Reader): Group {
  const last = reader.stack.at(-1);
  if (last === undefined) throw new DomainError("corrupt", "The RTF document has unbalanced groups.");
  return last;
}

function closeGroup(reader: Reader): void {
  if (reader.stack.length > 1) reader.stack.pop();
}

function addText(reader: Reader, text: string): void {
  const kept = reader.skipCharacters > 0 ? text.slice(reader.skipCharacters) : text;
  reader.skipCharacters = Math.max(0, reader.skipCharacters - text.length);
  const { destination, hidden } = group(reader);
  if (destination === "body") reader.paragraph += hidden ? "" : kept;
  else if (destination === "listtext") reader.listText = (reader.listText ?? "") + kept;
  else if (destination === "stylesheet") nameStyle(reader, kept);
  else if (INFO.has(destination)) reader.info.set(destination, (reader.info.get(destination) ?? "") + kept);
}

function nameStyle(reader: Reader, name: string): void {
  const level = /^heading (\d)/i.exec(name)?.[1];
  if (level !== undefined) reader.headings.set(reader.entry, Number(level));
  else if (/^title;?$/i.test(name.trim())) reader.headings.set(reader.entry, 1);
}

function readWord(reader: Reader, name: string, value: number | undefined): void {
  const characters = CHARACTERS[name];
  if (characters !== undefined) addText(reader, characters);
  else if (!entersDestination(reader, name)) readProperty(reader, name, value);
}

/** True if the word sets the group's destination, or is hidden by it. */
function entersDestination(reader: Reader, name: string): boolean {
  const here = group(reader);
  if (name === "*") here.destination = here.destination === "body" ? "starred" : here.destination;
  else if (here.destination === "starred") here.destination = STARRED_TEXT.has(name) ? "body" : "skip";
  else if (here.destination !== "skip" && (SKIPPED.has(name) || name in DESTINATIONS))
    enterDestination(reader, here, name);
  else return false;
  return true;
}

function readProperty(reader: Reader, name: string, value: number | undefined): void {
  const here = group(reader);
  const character = CHARACTER_WORDS[name];
  if (name === "u") addUnicode(reader, value ?? 0);
  else if (character !== undefined) character(reader, here, value);
  else if (name === "s" && here.destination === "stylesheet") reader.entry = value ?? 0;
  else if (here.destination === "body") BLOCK_WORDS[name]?.(reader, value);
}

function enterDestination(reader: Reader, here: Group, name: string): void {
  // The fields of the description are inside a group that is otherwise skipped.
  here.destination = name === "info" ? "info" : (DESTINATIONS[name] ?? "skip");
  if (here.destination === "listtext") reader.listText = "";
}

function addUnicode(reader: Reader, value: number): void {
  const { fallbacks } = group(reader);
  reader.skipCharacters = 0;
  addText(reader, String.fromCharCode(value < 0 ? value + 65_536 : value));
  reader.skipCharacters = fallbacks;
}

/** Control words about characters: fonts, code pages, hidden text. */
const CHARACTER_WORDS: Readonly<
  Record<string, (reader: Reader, here: Group, value: number | undefined) => void>
> = {
  uc(_reader, here, value = 1) {
    here.fallbacks = value;
  },
  ansicpg(reader, _here, value = DEFAULT_CODE_PAGE) {
    reader.codePage = value;
  },
  mac(reader) {
    reader.codePage = MACINTOSH_CODE_PAGE;
  },
  v(_reader, here, value) {
    here.hidden = value !== 0;
  },
  plain(_reader, here) {
    here.hidden = false;
  },
  f(reader, here, value = -1) {
    if (here.destination === "fonttbl") reader.entry = value;
    else here.font = value;
  },
  fcharset: (reader, _here, value = 0) => setFont(reader, value),
};

function setFont(reader: Reader, charset: number): void {
  const codePage = codePageOfFont(charset);
  if (codePage !== undefined) reader.fonts.set(reader.entry, codePage);
}

const BLOCK_WORDS: Readonly<Record<string, (reader: Reader, value: number | undefined) => void>> = {
  par: endParagraph,
  sect: endParagraph,
  page: endParagraph,
  pard(reader) {
    reader.style = undefined;
    reader.outline = undefined;
    reader.inTable = false;
  },
  intbl(reader) {
    reader.inTable = true;
  },
  s(reader, value) {
    reader.style = value;
  },
  outlinelevel(reader, value) {
    reader.outline = value;
  },
  cell: endCell,
  nestcell: endCell,
  row: endRow,
  nestrow: endRow,
};

function endCell(reader: Reader): void {
  reader.row.push(reader.paragraph);
  reader.paragraph = "";
}

function endRow(reader: Reader): void {
  reader.rows.push(reader.row);
  reader.row = [];
}

function endParagraph(reader: Reader): void {
  if (reader.inTable || reader.row.length > 0) {
    reader.paragraph += reader.paragraph === "" ? "" : "\n";
    return;
  }
  endTable(reader);
  const text = reader.paragraph.trim();
  const marker = reader.listText?.trim() ?? "";
  reader.paragraph = "";
  reader.listText = undefined;
  if (text !== "" && marker !== "")
    reader.pendingItems.push(listItem(0, /^\w+[.)]$/.test(marker) ? marker : "-", text));
  else if (text !== "") writeParagraph(reader, text);
}

function writeParagraph(reader: Reader, text: string): void {
  endList(reader);
  const level =
    reader.outline !== undefined && reader.outline < 9
      ? reader.outline + 1
      : reader.headings.get(reader.style ?? -1);
  if (level === undefined) reader.writer.add("paragraph", text);
  else reader.writer.heading(level, text);
}

function endTable(reader: Reader): void {
  if (reader.rows.length === 0) return;
  endList(reader);
  reader.writer.addTable(reader.rows);
  reader.rows = [];
}

function endList(reader: Reader): void {
  if (reader.pendingItems.length > 0) reader.writer.add("list", reader.pendingItems.join("\n"));
  reader.pendingItems = [];
}
