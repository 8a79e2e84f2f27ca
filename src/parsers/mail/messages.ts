/** Writes a mail as text units: its head, its body, and its attachments as sections. */

import { DomainError } from "../../domain/errors.ts";
import type { ParsedDocument } from "../../domain/text-unit.ts";
import { writeHtml } from "../web/html-units.ts";
import { parseMarkup } from "../web/markup-tree.ts";
import { described, isoDate } from "../metadata.ts";
import type { NestedFile, OpenSections } from "../nested.ts";
import { partName, type ParseInput } from "../parser.ts";
import { writeRtf } from "../legacy/rtf.ts";
import { createUnitWriter, type UnitWriter } from "../unit-writer.ts";

export interface Mail {
  readonly subject: string;
  readonly from: string;
  readonly to: string;
  readonly cc: string;
  /** As it is written in the mail, or ISO 8601. */
  readonly date: string;
  /** In order of preference: the first one with text is read. */
  readonly bodies: readonly { readonly format: "html" | "text" | "rtf"; readonly content: string }[];
  readonly attachments: readonly NestedFile[];
}

export interface MailSource {
  readonly parserName: string;
  readonly input: ParseInput;
  readonly openSections: OpenSections;
}

/** Throws `no_text` if there is neither subject, body nor readable attachment. */
export async function mailDocument(
  mail: Mail,
  { parserName, input, openSections }: MailSource,
): Promise<ParsedDocument> {
  const writer = createUnitWriter();
  writer.setSpot({ part: "headers" });
  writer.heading(1, mail.subject);
  const head = Object.entries({ From: mail.from, To: mail.to, Cc: mail.cc, Date: mail.date }).filter(
    ([, value]) => value.trim() !== "",
  );
  writer.add("paragraph", head.map(([name, value]) => `${name}: ${value}`).join("\n"));
  writeBody(writer, mail);
  const sections = openSections(input, writer, 2);
  for (const [index, file] of mail.attachments.entries())
    await sections.add(file, partName(`attachment ${index + 1}: ${file.name}`));
  if (writer.units.length === 0) throw new DomainError("no_text", "The e-mail contains no text.");
  const metadata = described({
    title: mail.subject,
    author: mail.from,
    language: undefined,
    created_at: isoDate(mail.date),
    modified_at: undefined,
  });
  return {
    parser_name: parserName,
    units: writer.units,
    page_count: null,
    metadata,
    warnings: sections.warnings,
  };
}

/** Writes the first body with text. Its headings are one level below the subject. */
function writeBody(writer: UnitWriter, mail: Mail): void {
  const before = writer.units.length;
  for (const { format, content } of mail.bodies) {
    writer.setSpot({ part: format });
    if (format === "html")
      writeHtml(parseMarkup(content, "html"), writer, { headingOffset: 1, part: format });
    else if (format === "rtf") writeRtf(content, writer);
    else
      for (const paragraph of content.split(/\r?\n[^\S\n]*(?:\r?\n[^\S\n]*)+/))
        writer.add("paragraph", paragraph.replaceAll("\r\n", "\n"));
    if (writer.units.length > before) return;
  }
}
