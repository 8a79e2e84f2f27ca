/** The parser of mails as they are sent: EML files. */

import PostalMime, { type Address, type Attachment } from "postal-mime";
import { DomainError } from "../../domain/errors.ts";
import { mailDocument, type Mail } from "./messages.ts";
import type { NestedFile, OpenSections } from "../nested.ts";
import { readInput, type Parser } from "../parser.ts";

export function emlWith(openSections: OpenSections): Parser {
  return {
    name: "eml",
    runsIn: "child",
    async parse(input) {
      const mail = await readMail(await readInput(input));
      return mailDocument(mail, { parserName: "eml", input, openSections });
    },
  };
}

async function readMail(bytes: Buffer): Promise<Mail> {
  try {
    const mail = await PostalMime.parse(bytes, { forceRfc822Attachments: true });
    return {
      subject: mail.subject ?? "",
      from: addresses(mail.from === undefined ? [] : [mail.from]),
      to: addresses(mail.to ?? []),
      cc: addresses(mail.cc ?? []),
      date: mail.date ?? "",
      bodies: [
        { format: "html", content: mail.html ?? "" },
        { format: "text", content: mail.text ?? "" },
      ],
      attachments: mail.attachments.filter(isDocument).map(nestedFile),
    };
  } catch (error) {
    throw new DomainError("corrupt", "The file is not a readable e-mail.", { cause: error });
  }
}

function addresses(list: readonly Address[]): string {
  return list
    .flatMap((entry) => entry.group ?? [entry])
    .map((entry) => (entry.name ? `${entry.name} <${entry.address ?? ""}>` : (entry.address ?? "")))
    .join(", ");
}

/** False for pictures that the body shows: they are part of its layout. */
function isDocument(attachment: Attachment): boolean {
  return !(attachment.related === true && attachment.mimeType.startsWith("image/"));
}

function nestedFile(attachment: Attachment, index: number): NestedFile {
  const name =
    attachment.filename ??
    (attachment.mimeType === "message/rfc822" ? `message-${index + 1}.eml` : `attachment-${index + 1}`);
  return {
    name,
    bytes:
      typeof attachment.content === "string"
        ? Buffer.from(attachment.content)
        : Buffer.from(attachment.content as ArrayBuffer),
  };
}
