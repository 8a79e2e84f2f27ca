/** The parser of PPTX files: a slide is a page, its title a heading; then come notes and comments. */

import { DomainError } from "../../domain/errors.ts";
import { listItem, quoted } from "../text/markdown-format.ts";
import {
  attribute,
  childAt,
  childrenNamed,
  descendantsNamed,
  isElement,
  elementText,
  type MarkupElement,
} from "../web/markup-tree.ts";
import { createCellRepeats } from "../text/merged-cells.ts";
import { openPackage, referenceOfKind, type OfficePackage, type PartReference } from "./ooxml.ts";
import { readInput, shapeName, type Parser } from "../parser.ts";
import { chartRows, drawingParagraphs, type DrawingParagraph } from "./pptx-text.ts";
import { createUnitWriter, type UnitWriter } from "../unit-writer.ts";

export const pptx: Parser = {
  name: "pptx",
  runsIn: "child",
  async parse(input) {
    const office = await openPackage(await readInput(input));
    const slides = await slidePaths(office);
    const writer = createUnitWriter();
    const authors = await commentAuthors(office);
    const written = new Set<string>();
    for (const [index, path] of slides.entries()) {
      writer.setPage(index + 1);
      await writeSlide(
        { office, writer, authors, written, number: index + 1, references: await office.references(path) },
        path,
      );
    }
    if (!writer.units.some((unit) => unit.type !== "heading" || unit.text !== `Slide ${unit.page}`))
      throw new DomainError("no_text", "The presentation contains no text.");
    return {
      parser_name: pptx.name,
      units: writer.units,
      page_count: slides.length,
      metadata: await office.metadata(),
      warnings: [],
    };
  },
};

async function slidePaths(office: OfficePackage): Promise<string[]> {
  const references = await office.references(office.main);
  const list = childAt(await office.part(office.main), "sldIdLst");
  const relationId = (slide: MarkupElement): string =>
    Object.entries(slide.attributes).find(([name]) => name.endsWith(":id"))?.[1] ?? "";
  // Each path once: otherwise a list that names a slide a thousand times has it read as often.
  return [
    ...new Set(
      childrenNamed(list, "sldId").flatMap((slide) => references.get(relationId(slide))?.target ?? []),
    ),
  ];
}

interface Slide {
  readonly office: OfficePackage;
  readonly writer: UnitWriter;
  readonly authors: ReadonlyMap<string, string>;
  readonly references: ReadonlyMap<string, PartReference>;
  /** Paths of charts, diagrams, notes and comments that were read: each once, however many refer to it. */
  readonly written: Set<string>;
  /** From 1. */
  readonly number: number;
}

/** Sets where what follows stands: on the slide, in a shape of a name, in its notes or its comments. */
function setSpot({ writer, number }: Slide, { shape, part }: { shape?: MarkupElement; part?: string }): void {
  const name = shape === undefined ? undefined : shapeName(nameAttribute(shape));
  writer.setSpot({
    slide: number,
    ...(name === undefined ? {} : { shape: name }),
    ...(part === undefined ? {} : { part }),
  });
}

function nameAttribute(shape: MarkupElement): string | undefined {
  const properties = shape.children.find((child) => isElement(child) && /^nv.*Pr$/.test(child.name));
  return properties === undefined || !isElement(properties)
    ? undefined
    : attribute(childAt(properties, "cNvPr"), "name");
}

/** The part, when it is referred to for the first time; undefined after that. */
async function unwrittenPart(
  { office, written }: Slide,
  path: string | undefined,
): Promise<MarkupElement | undefined> {
  if (path === undefined || written.has(path)) return undefined;
  written.add(path);
  return office.part(path);
}

async function writeSlide(slide: Slide, path: string): Promise<void> {
  const tree = childAt(await slide.office.part(path), "cSld", "spTree");
  const shapes = tree === undefined ? [] : flatShapes(tree);
  const titles = shapes.filter((shape) => TITLES.has(placeholder(shape) ?? ""));
  const titled = titles.find((shape) => shapeText(shape) !== "");
  const title = titled === undefined ? undefined : shapeText(titled);
  setSpot(slide, titled === undefined ? {} : { shape: titled });
  slide.writer.heading(1, title ?? `Slide ${slide.number}`);
  for (const shape of shapes) {
    if (title !== undefined && TITLES.has(placeholder(shape) ?? "") && shapeText(shape) === title) continue;
    setSpot(slide, { shape });
    await writeShape(slide, shape);
  }
  await writeNotes(slide);
  await writeComments(slide);
}

const TITLES = new Set(["title", "ctrTitle"]);
const RUNNING = new Set(["ftr", "hdr", "dt", "sldNum"]);

/** The shapes in the order of the slide; a group is replaced by its shapes. */
function flatShapes(tree: MarkupElement): MarkupElement[] {
  return tree.children.flatMap((child) => {
    if (!isElement(child)) return [];
    if (child.name === "grpSp") return flatShapes(child);
    if (child.name === "AlternateContent")
      return flatShapes(childAt(child, "Choice") ?? childAt(child, "Fallback") ?? { ...child, children: [] });
    return ["sp", "graphicFrame", "pic", "cxnSp"].includes(child.name) ? [child] : [];
  });
}

/** The type of the layout's placeholder that the shape fills; undefined if it fills none. */
function placeholder(shape: MarkupElement): string | undefined {
  const mark = descendantsNamed(shape, "nvPr")
    .map((properties) => childAt(properties, "ph"))
    .find((found) => found !== undefined);
  return mark === undefined ? undefined : (attribute(mark, "type") ?? "obj");
}

function shapeText(shape: MarkupElement): string {
  return drawingParagraphs(childAt(shape, "txBody"))
    .map((paragraph) => paragraph.text.trim())
    .filter((text) => text !== "")
    .join(" ");
}

async function writeShape(slide: Slide, shape: MarkupElement): Promise<void> {
  if (shape.name === "graphicFrame") return writeGraphic(slide, shape);
  if (shape.name === "pic") return writePicture(slide.writer, shape);
  const kind = placeholder(shape);
  const paragraphs = drawingParagraphs(childAt(shape, "txBody"));
  writeParagraphs(slide.writer, paragraphs, {
    bulleted: kind === "body" || kind === "obj",
    running: RUNNING.has(kind ?? ""),
  });
}

/** Writes paragraphs, with bullets as a list: the default of text placeholders, else only if they say so. */
function writeParagraphs(
  writer: UnitWriter,
  paragraphs: readonly DrawingParagraph[],
  given: { bulleted: boolean; running: boolean },
): void {
  let items: string[] = [];
  const endList = (): void => {
    if (items.length > 0) writer.add("list", items.join("\n"));
    items = [];
  };
  const written = paragraphs.filter((paragraph) => paragraph.text.trim() !== "");
  for (const { text, level, bullet } of written) {
    if (!given.running && ((bullet ?? (given.bulleted && written.length > 1)) ? true : level > 0))
      items.push(listItem(level, "-", text));
    else {
      endList();
      writer.add("paragraph", text, { repeats: given.running });
    }
  }
  endList();
}

function writePicture(writer: UnitWriter, shape: MarkupElement): void {
  const description = attribute(descendantsNamed(shape, "cNvPr")[0], "descr");
  if (description)
    writer.add("image", `![${description.replace(/[[\]]/g, "").replace(/\s+/g, " ").trim()}]()`);
}

async function writeGraphic(slide: Slide, frame: MarkupElement): Promise<void> {
  const data = descendantsNamed(frame, "graphicData")[0];
  const table = data === undefined ? undefined : descendantsNamed(data, "tbl")[0];
  if (table !== undefined) {
    slide.writer.addTable(tableRows(table));
    return;
  }
  const chart = await unwrittenPart(
    slide,
    slide.references.get(attribute(childAt(data, "chart"), "id") ?? "")?.target,
  );
  if (chart !== undefined) {
    const { title, rows } = chartRows(chart);
    slide.writer.add("paragraph", title);
    slide.writer.addTable(rows);
  }
  const diagram = await unwrittenPart(
    slide,
    slide.references.get(attribute(childAt(data, "relIds"), "dm") ?? "")?.target,
  );
  for (const body of diagram === undefined ? [] : descendantsNamed(diagram, "t"))
    writeParagraphs(slide.writer, drawingParagraphs(body), { bulleted: true, running: false });
}

/** Texts by column: a merged cell is in each of its rows, one of the head in each of its columns. */
function tableRows(table: MarkupElement): string[][] {
  const repeats = createCellRepeats();
  const rows: string[][] = [];
  for (const row of childrenNamed(table, "tr")) {
    const cells: string[] = [];
    for (const cell of childrenNamed(row, "tc")) {
      const text = shapeText(cell);
      repeats.count(text);
      const isBelow = isOn(attribute(cell, "vMerge"));
      const isBeside = rows.length === 0 && isOn(attribute(cell, "hMerge"));
      if (isBelow) cells.push(repeats.again(rows.at(-1)?.[cells.length] ?? ""));
      else cells.push(isBeside ? repeats.again(cells.at(-1) ?? "") : text);
    }
    rows.push(cells);
  }
  return rows;
}

function isOn(value: string | undefined): boolean {
  return value === "1" || value === "true";
}

async function writeNotes(slide: Slide): Promise<void> {
  const { writer, references } = slide;
  const notes = await unwrittenPart(slide, referenceOfKind(references, "notesSlide")?.target);
  const tree = childAt(notes, "cSld", "spTree");
  const bodies = (tree === undefined ? [] : flatShapes(tree)).filter(
    (shape) => placeholder(shape) === "body" && shapeText(shape) !== "",
  );
  if (bodies.length === 0) return;
  setSpot(slide, { part: "notes" });
  writer.heading(2, "Notes");
  for (const body of bodies)
    for (const { text } of drawingParagraphs(childAt(body, "txBody"))) writer.add("paragraph", text);
}

async function commentAuthors(office: OfficePackage): Promise<Map<string, string>> {
  const references = await office.references(office.main);
  const lists = await Promise.all([
    office.part(referenceOfKind(references, "commentAuthors")?.target),
    office.part(referenceOfKind(references, "authors")?.target),
  ]);
  const authors = lists.flatMap((list) => [
    ...childrenNamed(list, "cmAuthor"),
    ...childrenNamed(list, "author"),
  ]);
  return new Map(authors.map((author) => [attribute(author, "id") ?? "", attribute(author, "name") ?? ""]));
}

async function writeComments(slide: Slide): Promise<void> {
  const { writer, references, authors } = slide;
  const comments = await unwrittenPart(slide, referenceOfKind(references, "comments")?.target);
  setSpot(slide, { part: "comments" });
  for (const comment of comments === undefined ? [] : descendantsNamed(comments, "cm")) {
    const said = [comment, ...descendantsNamed(comment, "reply")].map((entry) => ({
      author: authors.get(attribute(entry, "authorId") ?? "") || "unknown",
      text: elementText(childAt(entry, "text")) || shapeText(entry),
    }));
    for (const { author, text } of said)
      if (text.trim() !== "") writer.add("quote", quoted(`Comment by ${author}: ${text}`));
  }
}
