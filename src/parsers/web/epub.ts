/** The parser of EPUB books: the chapters in the order of the book's spine. */

import { posix } from "node:path";
import { DomainError } from "../../domain/errors.ts";
import type { ParseWarning } from "../../domain/text-unit.ts";
import { decodeHtml } from "./html.ts";
import { writeHtml } from "./html-units.ts";
import {
  attribute,
  childAt,
  childrenNamed,
  descendantsNamed,
  parseMarkup,
  elementText,
  type MarkupElement,
} from "./markup-tree.ts";
import { described, isoDate } from "../metadata.ts";
import { readXml } from "../office/ooxml.ts";
import { partName, readInput, type Parser } from "../parser.ts";
import { createUnitWriter } from "../unit-writer.ts";
import { openZip } from "../archives/zip-archive.ts";

export const epub: Parser = {
  name: "epub",
  runsIn: "child",
  async parse(input) {
    const zip = await openZip(await readInput(input));
    const container = await readXml(zip, "META-INF/container.xml");
    const path =
      attribute(childAt(container, "rootfiles", "rootfile"), "full-path") ??
      zip.names.find((name) => name.endsWith(".opf"));
    const book = await readXml(zip, path);
    if (path === undefined || book === undefined)
      throw new DomainError("corrupt", "The file is not a readable book.");
    const writer = createUnitWriter();
    const warnings: ParseWarning[] = [];
    for (const chapter of new Set(spine(book, posix.dirname(path)))) {
      const bytes = await zip.read(chapter);
      if (bytes === undefined) warnings.push({ pages: null, code: "part_missing" });
      else writeHtml(parseMarkup(decodeHtml(bytes), "xhtml"), writer, { part: partName(chapter) });
    }
    if (writer.units.length === 0) throw new DomainError("no_text", "The book contains no text.");
    return {
      parser_name: epub.name,
      units: writer.units,
      page_count: null,
      metadata: bookMetadata(book),
      warnings,
    };
  },
};

/** Paths of the chapters. Some books list their table of contents too; it is read like any chapter. */
function spine(book: MarkupElement, folder: string): string[] {
  const items = new Map(
    childrenNamed(childAt(book, "manifest"), "item").map((item) => [attribute(item, "id") ?? "", item]),
  );
  return childrenNamed(childAt(book, "spine"), "itemref").flatMap((reference) => {
    const item = items.get(attribute(reference, "idref") ?? "");
    const address = attribute(item, "href");
    const readable = /x?html|xml/.test(attribute(item, "media-type") ?? "html");
    return address === undefined || !readable
      ? []
      : [posix.join(folder, decoded(address.split("#", 1)[0] ?? ""))];
  });
}

function decoded(address: string): string {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}

function bookMetadata(book: MarkupElement): ReturnType<typeof described> {
  const metadata = childAt(book, "metadata");
  const values = (name: string): string[] =>
    metadata === undefined ? [] : descendantsNamed(metadata, name).map(elementText);
  const modified = childrenNamed(metadata, "meta").find(
    (meta) => attribute(meta, "property") === "dcterms:modified",
  );
  return described({
    title: values("title")[0],
    author: values("creator").join(", "),
    language: values("language")[0],
    created_at: isoDate(values("date")[0]),
    modified_at: isoDate(elementText(modified)),
  });
}
