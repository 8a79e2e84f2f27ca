/** The parser of DOCX files. */

import { DomainError } from "../../domain/errors.ts";
import { docxInline, WRAPPERS, type DocxInline } from "./docx-runs.ts";
import { blockText, rowsOf, rowTexts } from "./docx-tables.ts";
import { docxNumberings, docxStyles, type DocxNumberings, type DocxStyles } from "./docx-styles.ts";
import {
  fenced,
  listItem,
  placedLines,
  quoted,
  type PlacedLine,
  type PlacedText,
} from "../text/markdown-format.ts";
import {
  attribute,
  childAt,
  childrenNamed,
  descendantsNamed,
  elementName,
  isElement,
  type MarkupElement,
} from "../web/markup-tree.ts";
import { headRowsOf, joinedHead } from "../text/merged-cells.ts";
import { openPackage, referenceOfKind, type OfficePackage } from "./ooxml.ts";
import { readInput, type Parser } from "../parser.ts";
import { createUnitWriter, type UnitWriter } from "../unit-writer.ts";

export const docx: Parser = {
  name: "docx",
  runsIn: "child",
  async parse(input) {
    const office = await openPackage(await readInput(input));
    const walk = await openDocument(office);
    const body = childAt(await office.part(office.main), "body");
    const { headers, footers } = await runningParts(office, body);
    for (const part of headers) writeRunning(walk.writer, part);
    writeBlocks(walk, body);
    walk.writer.setSpot(undefined);
    for (const part of footers) writeRunning(walk.writer, part);
    if (walk.writer.units.length === 0) throw new DomainError("no_text", "The document contains no text.");
    return {
      parser_name: docx.name,
      units: walk.writer.units,
      page_count: null,
      metadata: await office.metadata(),
      warnings: [],
    };
  },
};

interface Walk {
  readonly writer: UnitWriter;
  readonly styles: DocxStyles;
  readonly numberings: DocxNumberings;
  readonly footnotes: ReadonlyMap<string, MarkupElement>;
  readonly endnotes: ReadonlyMap<string, MarkupElement>;
  readonly comments: ReadonlyMap<string, MarkupElement>;
  /** Notes and comments that were written: each is written once, even if it is referred to twice. */
  readonly written: Set<MarkupElement>;
  /** The lines so far of the list, code or quote that the last paragraphs belong to. */
  pending: { readonly kind: "list" | "code" | "quote"; readonly lines: PlacedLine[] } | undefined;
}

async function openDocument(office: OfficePackage): Promise<Walk> {
  const references = await office.references(office.main);
  const part = (kind: string): Promise<MarkupElement | undefined> =>
    office.part(referenceOfKind(references, kind)?.target);
  const byId = (root: MarkupElement | undefined, name: string): Map<string, MarkupElement> =>
    new Map(childrenNamed(root, name).map((entry) => [attribute(entry, "id") ?? "", entry]));
  return {
    writer: createUnitWriter(),
    styles: docxStyles(await part("styles")),
    numberings: docxNumberings(await part("numbering")),
    footnotes: byId(await part("footnotes"), "footnote"),
    endnotes: byId(await part("endnotes"), "endnote"),
    comments: byId(await part("comments"), "comment"),
    written: new Set(),
    pending: undefined,
  };
}

/** The headers and footers of all sections, each part once. */
async function runningParts(
  office: OfficePackage,
  body: MarkupElement | undefined,
): Promise<{ headers: MarkupElement[]; footers: MarkupElement[] }> {
  const references = await office.references(office.main);
  const sections = body === undefined ? [] : descendantsNamed(body, "sectPr");
  const parts = async (name: string): Promise<MarkupElement[]> => {
    const targets = new Set(
      sections
        .flatMap((section) => childrenNamed(section, name))
        .map((entry) => references.get(attribute(entry, "id") ?? "")?.target),
    );
    const read = await Promise.all([...targets].map((target) => office.part(target)));
    return read.filter((part) => part !== undefined);
  };
  return { headers: await parts("headerReference"), footers: await parts("footerReference") };
}

function writeRunning(writer: UnitWriter, part: MarkupElement): void {
  for (const paragraph of descendantsNamed(part, "p"))
    writer.add("paragraph", docxInline(paragraph).text, { repeats: true });
}

function writeBlocks(walk: Walk, container: MarkupElement | undefined): void {
  for (const child of container?.children ?? []) if (isElement(child)) writeBlock(walk, child);
  endPending(walk);
}

function writeBlock(walk: Walk, element: MarkupElement): void {
  if (element.name === "p") writeParagraph(walk, element);
  else if (element.name === "tbl") {
    endPending(walk);
    writeTable(walk, element);
  } else if (element.name === "AlternateContent") {
    const chosen = childAt(element, "Choice") ?? childAt(element, "Fallback");
    for (const child of chosen?.children ?? []) if (isElement(child)) writeBlock(walk, child);
  } else if (WRAPPERS.has(element.name)) {
    for (const child of element.children) if (isElement(child)) writeBlock(walk, child);
  }
}

function writeParagraph(walk: Walk, paragraph: MarkupElement): void {
  const inline = docxInline(paragraph);
  const text = inline.text.trim();
  const style = walk.styles.of(childAt(paragraph, "pPr"));
  const spot = { element: elementName(paragraph) };
  if (style.kind === "code") pend(walk, "code", { text: inline.text, spot });
  else if (text !== "") {
    if (style.headingLevel !== undefined) {
      endPending(walk);
      walk.writer.setSpot(spot);
      walk.writer.heading(style.headingLevel, text);
    } else if (style.numbering !== undefined) {
      const { id, level } = style.numbering;
      pend(walk, "list", { text: listItem(level, walk.numberings.next(id, level), text), spot });
    } else if (style.kind === "quote") pend(walk, "quote", { text: quoted(text), spot });
    else {
      endPending(walk);
      walk.writer.setSpot(spot);
      walk.writer.add(/^!\[[^\]]*\]\(\)$/.test(text) ? "image" : "paragraph", text);
    }
  }
  writeAnchored(walk, inline);
}

function pend(walk: Walk, kind: "list" | "code" | "quote", line: PlacedLine): void {
  if (walk.pending?.kind !== kind) endPending(walk);
  walk.pending ??= { kind, lines: [] };
  walk.pending.lines.push(line);
}

function endPending(walk: Walk): void {
  const { pending } = walk;
  walk.pending = undefined;
  if (pending === undefined) return;
  const { text, places } = pending.kind === "code" ? placedCode(pending.lines) : placedLines(pending.lines);
  walk.writer.add(pending.kind, text, { places });
}

/** A paragraph of code may have several lines. */
function placedCode(lines: readonly PlacedLine[]): PlacedText {
  const first = lines.findIndex(({ text }) => text.trim() !== "");
  const last = lines.findLastIndex(({ text }) => text.trim() !== "");
  if (first < 0) return { text: "", places: undefined };
  const code = lines.slice(first, last + 1);
  const block = fenced(code.map(({ text }) => text));
  const fence = { text: block.slice(0, block.indexOf("\n")), spot: undefined };
  return placedLines([fence, ...code, fence]);
}

/** Writes what is anchored in a paragraph directly after it: text boxes, notes, comments. */
function writeAnchored(walk: Walk, inline: DocxInline): void {
  if (inline.boxes.length + inline.notes.length + inline.comments.length === 0) return;
  endPending(walk);
  for (const box of inline.boxes) writeBlocks(walk, box);
  for (const { kind, id } of inline.notes) {
    const note = (kind === "footnote" ? walk.footnotes : walk.endnotes).get(id);
    const text = firstText(walk, note);
    walk.writer.setSpot(note && { part: `${kind}s`, element: elementName(note) });
    if (text !== "") walk.writer.add("paragraph", `[^${kind === "footnote" ? "" : "e"}${id}]: ${text}`);
  }
  for (const id of inline.comments) {
    const comment = walk.comments.get(id);
    const text = firstText(walk, comment);
    walk.writer.setSpot(comment && { part: "comments", element: elementName(comment) });
    if (text !== "")
      walk.writer.add("quote", quoted(`Comment by ${attribute(comment, "author") || "unknown"}: ${text}`));
  }
}

/** The text of a note or comment when it is referred to for the first time, and empty after that. */
function firstText(walk: Walk, entry: MarkupElement | undefined): string {
  if (entry === undefined || walk.written.has(entry)) return "";
  walk.written.add(entry);
  return blockText(entry);
}

function writeTable(walk: Walk, table: MarkupElement): void {
  const rows = rowsOf(table);
  const [only, second] = rows.flatMap(({ cells }) => cells);
  if (only !== undefined && second === undefined) return writeBlocks(walk, only);
  const anchored: DocxInline[] = [];
  const name = elementName(table);
  const headRows = headRowsOf(rows, ({ isHead }) => isHead);
  const texts = rowTexts(rows, headRows, anchored);
  walk.writer.addTable([joinedHead(texts.slice(0, headRows)), ...texts.slice(headRows)], (index) =>
    // A head of several rows is in the table as a whole.
    index === 0 && headRows > 1 ? { element: name } : { element: `${name}/tr[${index + headRows}]` },
  );
  for (const inline of anchored) writeAnchored(walk, inline);
}
