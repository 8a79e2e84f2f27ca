/** The parser of HTML pages. */

import { DomainError } from "../../domain/errors.ts";
import type { ExtractedMetadata } from "../../domain/text-unit.ts";
import { writeHtml } from "./html-units.ts";
import {
  attribute,
  childAt,
  descendantsNamed,
  parseMarkup,
  elementText,
  type MarkupElement,
} from "./markup-tree.ts";
import { described, isoDate } from "../metadata.ts";
import { readInput, type Parser } from "../parser.ts";
import { decodeText } from "../text/plain.ts";
import { createUnitWriter } from "../unit-writer.ts";

/** HTML declares its character set within these bytes. */
const DECLARED_WITHIN_BYTES = 1024;

export const html: Parser = {
  name: "html",
  runsIn: "child",
  async parse(input) {
    const root = parseMarkup(decodeHtml(await readInput(input)), "html");
    const writer = createUnitWriter();
    writeHtml(root, writer);
    if (writer.units.length === 0) throw new DomainError("no_text", "The page contains no text.");
    return {
      parser_name: html.name,
      units: writer.units,
      page_count: null,
      metadata: htmlMetadata(root),
      warnings: [],
    };
  },
};

/** Bytes as text: UTF-8, or the character set that the page declares. */
export function decodeHtml(bytes: Buffer): string {
  const opening = bytes.subarray(0, DECLARED_WITHIN_BYTES).toString("latin1");
  return decodeText(bytes, /(?:charset|encoding)\s*=\s*["']?([\w-]{2,40})/i.exec(opening)?.[1]);
}

function htmlMetadata(root: MarkupElement): ExtractedMetadata {
  const page = childAt(root, "html") ?? root;
  const head = childAt(page, "head") ?? page;
  const meta = new Map(
    descendantsNamed(head, "meta").map((tag) => [
      (attribute(tag, "name") ?? attribute(tag, "property") ?? "").toLowerCase(),
      attribute(tag, "content"),
    ]),
  );
  return described({
    title: elementText(descendantsNamed(head, "title")[0]) || meta.get("og:title"),
    author: meta.get("author") ?? meta.get("article:author"),
    language: attribute(page, "lang"),
    created_at: isoDate(meta.get("article:published_time") ?? meta.get("date")),
    modified_at: isoDate(meta.get("article:modified_time") ?? meta.get("last-modified")),
  });
}
