/**
 * The parser of old PowerPoint files: PPT. It reads the text of slides and notes, and no tables.
 *
 * @see [MS-PPT]
 */

import { DomainError } from "../../domain/errors.ts";
import { openCompoundFile } from "./compound-file.ts";
import { readInput, type Parser } from "../parser.ts";
import { createUnitWriter, type UnitWriter } from "../unit-writer.ts";

const STREAM = "PowerPoint Document";
/** The storage in which a file that PowerPoint 95 can open too keeps the newer form. */
const DUAL_STORAGE = "PP97_DUALSTORAGE";

const RECORD = {
  slide: 0x03ee,
  notes: 0x03f0,
  notesAtom: 0x03f1,
  slideList: 0x0ff0,
  slidePersist: 0x03f3,
  textHeader: 0x0f9f,
  textChars: 0x0fa0,
  textBytes: 0x0fa8,
  textbox: 0xf00d,
} as const;
/** Instance of the list of slides; other instances list masters and notes. */
const SLIDES = 0;
const SLIDE_ID_OFFSET = 12;
const TITLE_TYPES = new Set([0, 6]);
const CONTAINER_VERSION = 0xf;
const HEADER_BYTES = 8;
const MAX_DEPTH = 32;

export const ppt: Parser = {
  name: "ppt",
  runsIn: "child",
  async parse(input) {
    const file = openCompoundFile(await readInput(input));
    if (file.paths.includes("EncryptedSummary"))
      throw new DomainError("encrypted", "The presentation is protected by a password.");
    const stream = file.stream(`${DUAL_STORAGE}/${STREAM}`) ?? file.stream(STREAM);
    if (stream === undefined && file.paths.includes("PP40"))
      throw new DomainError(
        "unsupported_file_type",
        "Presentations of PowerPoint 4 and older are not supported.",
      );
    if (stream === undefined)
      throw new DomainError("corrupt", "The file is not a readable PowerPoint presentation.");
    const slides = readSlides(stream);
    if (slides.every((slide) => slide.texts.length + slide.notes.length === 0))
      throw new DomainError("no_text", "The presentation contains no text.");
    const writer = createUnitWriter();
    for (const [index, slide] of slides.entries()) writeSlide(writer, slide, index + 1);
    return {
      parser_name: ppt.name,
      units: writer.units,
      page_count: slides.length,
      metadata: {},
      warnings: [],
    };
  },
};

interface SlideText {
  readonly title: boolean;
  readonly text: string;
}

interface Slide {
  readonly texts: SlideText[];
  readonly notes: SlideText[];
}

function writeSlide(writer: UnitWriter, slide: Slide, number: number): void {
  writer.setPage(number);
  writer.setSpot({ slide: number });
  const title = slide.texts.find((entry) => entry.title);
  writer.heading(1, title?.text ?? `Slide ${number}`);
  for (const entry of slide.texts)
    if (entry !== title) for (const line of entry.text.split("\n")) writer.add("paragraph", line);
  if (slide.notes.length === 0) return;
  writer.setSpot({ slide: number, part: "notes" });
  writer.heading(2, "Notes");
  for (const entry of slide.notes) writer.add("paragraph", entry.text);
}

interface PowerPointRecord {
  readonly type: number;
  readonly instance: number;
  readonly container: boolean;
  readonly body: Buffer;
}

/** The records of a stream or container; a record that is cut off is the last one. */
function* records(bytes: Buffer): Generator<PowerPointRecord> {
  let at = 0;
  while (at + HEADER_BYTES <= bytes.length) {
    const options = bytes.readUInt16LE(at);
    const length = bytes.readUInt32LE(at + 4);
    const body = bytes.subarray(at + HEADER_BYTES, at + HEADER_BYTES + length);
    yield {
      type: bytes.readUInt16LE(at + 2),
      instance: options >> 4,
      container: (options & 0xf) === CONTAINER_VERSION,
      body,
    };
    at += HEADER_BYTES + length;
  }
}

/**
 * The text of placeholders is in the document's lists, in the order of the slides; the text of other shapes
 * is in the slides themselves. A slide that was saved again is in the stream twice: the later one counts.
 */
function readSlides(stream: Buffer): Slide[] {
  const slides: (Slide & { readonly id: number })[] = [];
  const shapes: SlideText[][] = [];
  const notes = new Map<number, SlideText[]>();
  const walk = (bytes: Buffer, depth: number): void => {
    for (const record of records(bytes)) {
      if (record.type === RECORD.slideList && record.instance === SLIDES)
        for (const slide of listed(record.body)) slides.push(slide);
      else if (record.type === RECORD.slide) shapes.push(textboxes(record.body, 0));
      else if (record.type === RECORD.notes) notes.set(slideOfNotes(record.body), textboxes(record.body, 0));
      else if (record.container && depth < MAX_DEPTH) walk(record.body, depth + 1);
    }
  };
  walk(stream, 0);
  const latest = shapes.slice(Math.max(0, shapes.length - slides.length));
  return slides.map((slide, index) => ({
    texts: [...slide.texts, ...(latest[index] ?? [])],
    notes: notes.get(slide.id) ?? [],
  }));
}

/** The id of the slide that the notes belong to; 0 for the notes of a master. */
function slideOfNotes(bytes: Buffer): number {
  for (const record of records(bytes))
    if (record.type === RECORD.notesAtom && record.body.length >= 4) return record.body.readUInt32LE(0);
  return 0;
}

/** The slides of a list, with the text of their placeholders. */
function listed(bytes: Buffer): (Slide & { readonly id: number })[] {
  const slides: (Slide & { readonly id: number })[] = [];
  let type = 0;
  for (const record of records(bytes)) {
    if (record.type === RECORD.slidePersist)
      slides.push({
        id: record.body.length >= SLIDE_ID_OFFSET + 4 ? record.body.readUInt32LE(SLIDE_ID_OFFSET) : -1,
        texts: [],
        notes: [],
      });
    else if (record.type === RECORD.textHeader && record.body.length >= 4) type = record.body.readUInt32LE(0);
    else addText(slides.at(-1)?.texts, record, TITLE_TYPES.has(type));
  }
  return slides;
}

function textboxes(bytes: Buffer, depth: number): SlideText[] {
  return [...records(bytes)].flatMap((record) => {
    if (record.type === RECORD.textbox) return boxTexts(record.body);
    return record.container && depth < MAX_DEPTH ? textboxes(record.body, depth + 1) : [];
  });
}

function boxTexts(bytes: Buffer): SlideText[] {
  const found: SlideText[] = [];
  let type = -1;
  for (const record of records(bytes)) {
    if (record.type === RECORD.textHeader && record.body.length >= 4) type = record.body.readUInt32LE(0);
    else addText(found, record, TITLE_TYPES.has(type));
  }
  return found;
}

function addText(texts: SlideText[] | undefined, record: PowerPointRecord, title: boolean): void {
  if (record.type !== RECORD.textChars && record.type !== RECORD.textBytes) return;
  const text = record.body
    .toString(record.type === RECORD.textChars ? "utf16le" : "latin1")
    .replace(/[\r\v]/g, "\n")
    .trim();
  // A single asterisk is a placeholder for a number or date that the layout fills in.
  if (text !== "" && text !== "*") texts?.push({ title, text });
}
