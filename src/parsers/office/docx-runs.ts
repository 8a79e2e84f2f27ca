/** Reads the text of a DOCX paragraph: runs, line breaks, marks of notes, descriptions of pictures. */

import { attribute, childAt, descendantsNamed, isElement, type MarkupElement } from "../web/markup-tree.ts";

/** Elements that only wrap blocks. */
export const WRAPPERS = new Set(["sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag", "Choice"]);

export interface DocxInline {
  readonly text: string;
  readonly notes: readonly { readonly kind: "footnote" | "endnote"; readonly id: string }[];
  /** Ids of comments, in order. */
  readonly comments: readonly string[];
  /** Contents of text boxes that are anchored here. */
  readonly boxes: readonly MarkupElement[];
}

interface Reading {
  readonly parts: string[];
  readonly notes: { kind: "footnote" | "endnote"; id: string }[];
  readonly comments: string[];
  readonly boxes: MarkupElement[];
}

/** Deleted and moved-away text, field codes and properties. */
const SKIPPED = new Set([
  "del",
  "moveFrom",
  "delText",
  "delInstrText",
  "instrText",
  "pPr",
  "rPr",
  "sdtPr",
  "sdtEndPr",
  "rt",
  "annotationRef",
  "footnoteRef",
  "endnoteRef",
]);

const CHARACTERS: Readonly<Record<string, string>> = {
  tab: "\t",
  ptab: "\t",
  br: "\n",
  cr: "\n",
  noBreakHyphen: "‑",
};

export function docxInline(paragraph: MarkupElement): DocxInline {
  const reading: Reading = { parts: [], notes: [], comments: [], boxes: [] };
  read(reading, paragraph);
  return {
    text: reading.parts.join(""),
    notes: reading.notes,
    comments: reading.comments,
    boxes: reading.boxes,
  };
}

function read(reading: Reading, element: MarkupElement): void {
  for (const child of element.children) {
    if (isElement(child)) readElement(reading, child);
    // Only "t" holds characters; a string in another element is white space of the XML.
    else if (element.name === "t") reading.parts.push(child);
  }
}

function readElement(reading: Reading, element: MarkupElement): void {
  const { name } = element;
  const characters = CHARACTERS[name];
  if (SKIPPED.has(name)) return;
  if (characters !== undefined) reading.parts.push(characters);
  else (ANCHORS[name] ?? read)(reading, element);
}

const EMPTY: MarkupElement = { name: "", attributes: {}, children: [], number: 0 };

/** Elements that stand for something other than the text inside them. */
const ANCHORS: Readonly<Record<string, (reading: Reading, element: MarkupElement) => void>> = {
  footnoteReference: (reading, element) => readNote(reading, "footnote", attribute(element, "id") ?? ""),
  endnoteReference: (reading, element) => readNote(reading, "endnote", attribute(element, "id") ?? ""),
  commentReference(reading, element) {
    reading.comments.push(attribute(element, "id") ?? "");
  },
  sym(reading, element) {
    reading.parts.push(symbol(element));
  },
  AlternateContent: (reading, element) =>
    read(reading, childAt(element, "Choice") ?? childAt(element, "Fallback") ?? EMPTY),
  drawing: readDrawing,
  pict: readDrawing,
  object: readDrawing,
};

function readNote(reading: Reading, kind: "footnote" | "endnote", id: string): void {
  reading.notes.push({ kind, id });
  reading.parts.push(`[^${kind === "footnote" ? "" : "e"}${id}]`);
}

function symbol(element: MarkupElement): string {
  const code = Number.parseInt(attribute(element, "char") ?? "", 16);
  // Symbol fonts use the private use area, whose characters mean nothing in other fonts.
  return code > 0 && code < 0xe000 ? String.fromCodePoint(code) : "";
}

function readDrawing(reading: Reading, drawing: MarkupElement): void {
  const properties = descendantsNamed(drawing, "docPr")[0];
  const description = attribute(properties, "descr")?.replace(/\s+/g, " ").trim();
  if (description) reading.parts.push(`![${description.replace(/[[\]]/g, "")}]()`);
  for (const box of descendantsNamed(drawing, "txbxContent")) reading.boxes.push(box);
}
