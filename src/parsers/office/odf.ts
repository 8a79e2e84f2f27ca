/** The parser of OpenDocument texts and presentations: ODT and ODP. */

import { DomainError } from "../../domain/errors.ts";
import type { ExtractedMetadata } from "../../domain/text-unit.ts";
import {
  attribute,
  childAt,
  childrenNamed,
  descendantsNamed,
  elementText,
  type MarkupElement,
} from "../web/markup-tree.ts";
import { described, isoDate } from "../metadata.ts";
import { MAX_REPEATED_CELLS, odfStyles, slideSpot, writeOdf, type OdfWalk } from "./odf-units.ts";
import { readXml } from "./ooxml.ts";
import { readInput, type Parser } from "../parser.ts";
import { createUnitWriter } from "../unit-writer.ts";
import { openZip, type ZipArchive } from "../archives/zip-archive.ts";

export const odf: Parser = {
  name: "odf",
  runsIn: "child",
  async parse(input) {
    const zip = await openZip(await readInput(input));
    const content = await readXml(zip, "content.xml");
    if (content === undefined)
      throw new DomainError("corrupt", "The file is not a readable OpenDocument file.");
    await assertOpen(zip);
    const common = await readXml(zip, "styles.xml");
    const walk: OdfWalk = {
      writer: createUnitWriter(),
      styles: odfStyles([common, content]),
      repeatsLeft: MAX_REPEATED_CELLS,
      slide: undefined,
    };
    const body = childAt(content, "body");
    const presentation = childAt(body, "presentation") ?? childAt(body, "drawing");
    writeRunning(walk, common, "header");
    if (presentation === undefined) writeOdf(walk, childAt(body, "text") ?? body);
    else childrenNamed(presentation, "page").forEach((slide, index) => writeSlide(walk, slide, index + 1));
    walk.writer.setSpot(undefined);
    writeRunning(walk, common, "footer");
    const { units } = walk.writer;
    if (
      !units.some(
        (unit) => unit.type !== "heading" || unit.page === null || unit.text !== `Slide ${unit.page}`,
      )
    )
      throw new DomainError("no_text", "The document contains no text.");
    const pages = presentation === undefined ? null : childrenNamed(presentation, "page").length;
    return {
      parser_name: odf.name,
      units,
      page_count: pages,
      metadata: odfMetadata(await readXml(zip, "meta.xml")),
      warnings: [],
    };
  },
};

async function assertOpen(zip: ZipArchive): Promise<void> {
  const manifest = await readXml(zip, "META-INF/manifest.xml");
  if (manifest !== undefined && descendantsNamed(manifest, "encryption-data").length > 0)
    throw new DomainError("encrypted", "The document is protected by a password.");
}

function writeRunning(walk: OdfWalk, common: MarkupElement | undefined, name: "header" | "footer"): void {
  const masters = childAt(common, "master-styles");
  for (const part of masters === undefined ? [] : descendantsNamed(masters, name)) {
    for (const paragraph of descendantsNamed(part, "p"))
      walk.writer.add("paragraph", elementText(paragraph), { repeats: true });
  }
}

function writeSlide(walk: OdfWalk, slide: MarkupElement, number: number): void {
  walk.writer.setPage(number);
  const isTitle = (frame: MarkupElement): boolean =>
    attribute(frame, "class") === "title" && attribute(frame, "placeholder") !== "true";
  const frames = childrenNamed(slide, "frame");
  const title = frames.find((frame) => isTitle(frame) && elementText(frame).trim() !== "");
  walk.slide = { slide: number };
  walk.writer.setSpot(title === undefined ? walk.slide : slideSpot(number, title));
  walk.writer.heading(
    1,
    title === undefined ? `Slide ${number}` : descendantsNamed(title, "p").map(elementText).join(" "),
  );
  writeOdf(walk, {
    ...slide,
    children: slide.children.filter(
      (child) => child !== title && (typeof child === "string" || child.name !== "notes"),
    ),
  });
  const notes = childAt(slide, "notes");
  const boxes =
    notes === undefined
      ? []
      : descendantsNamed(notes, "text-box").filter((box) => elementText(box).trim() !== "");
  if (boxes.length === 0) return;
  walk.slide = { slide: number, part: "notes" };
  walk.writer.setSpot(walk.slide);
  walk.writer.heading(2, "Notes");
  for (const box of boxes) writeOdf(walk, box);
}

function odfMetadata(meta: MarkupElement | undefined): ExtractedMetadata {
  const info = childAt(meta, "meta");
  const value = (name: string): string => elementText(childAt(info, name));
  return described({
    title: value("title"),
    author: value("initial-creator") || value("creator"),
    language: value("language"),
    created_at: isoDate(value("creation-date")),
    modified_at: isoDate(value("date")),
  });
}
