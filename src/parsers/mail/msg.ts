/**
 * The parser of Outlook messages: MSG files.
 *
 * @see [MS-OXMSG]
 */

import { DomainError } from "../../domain/errors.ts";
import { openCompoundFile, type CompoundFile } from "../legacy/compound-file.ts";
import { unpackRtf } from "../legacy/compressed-rtf.ts";
import { decodeHtml } from "../web/html.ts";
import { mailDocument, type Mail } from "./messages.ts";
import type { NestedFile, OpenSections } from "../nested.ts";
import { readInput, type Parser } from "../parser.ts";
import { decodeText } from "../text/plain.ts";

/** Ids of properties, from [MS-OXPROPS]. */
const PROPERTY = {
  subject: "0037",
  senderName: "0C1A",
  senderAddress: "0C1F",
  senderSmtp: "5D01",
  displayTo: "0E04",
  displayCc: "0E03",
  body: "1000",
  rtfCompressed: "1009",
  html: "1013",
  headers: "007D",
  attachData: "3701",
  attachShortName: "3704",
  attachLongName: "3707",
  displayName: "3001",
} as const;

const TYPE = { unicode: "001F", ansi: "001E", binary: "0102", object: "000D" } as const;

const MAX_EMBEDDED_DEPTH = 3;

export function msgWith(openSections: OpenSections): Parser {
  return {
    name: "msg",
    runsIn: "child",
    async parse(input) {
      const file = openCompoundFile(await readInput(input));
      if (!file.paths.includes("__properties_version1.0"))
        throw new DomainError("corrupt", "The file is not a readable Outlook message.");
      return mailDocument(readMessage(file, "", 0), { parserName: "msg", input, openSections });
    },
  };
}

/** @param folder the message's path in the file, with a slash at its end; empty for the outermost. */
function readMessage(file: CompoundFile, folder: string, depth: number): Mail {
  const value = (id: string): string => text(file, folder, id);
  const address = value(PROPERTY.senderSmtp) || value(PROPERTY.senderAddress);
  const html = file.stream(`${folder}__substg1.0_${PROPERTY.html}${TYPE.binary}`);
  const rtf = file.stream(`${folder}__substg1.0_${PROPERTY.rtfCompressed}${TYPE.binary}`);
  return {
    subject: value(PROPERTY.subject),
    from: address.includes("@")
      ? `${value(PROPERTY.senderName)} <${address}>`.trim()
      : value(PROPERTY.senderName),
    to: value(PROPERTY.displayTo),
    cc: value(PROPERTY.displayCc),
    date: /^Date:\s*(\S.*)$/im.exec(value(PROPERTY.headers))?.[1]?.trim() ?? "",
    bodies: [
      { format: "html", content: html === undefined ? value(PROPERTY.html) : decodeHtml(html) },
      { format: "text", content: value(PROPERTY.body) },
      { format: "rtf", content: rtf === undefined ? "" : unpackRtf(rtf).toString("latin1") },
    ],
    attachments: attachmentFolders(file, folder).flatMap((path) => readAttachment(file, path, depth)),
  };
}

function text(file: CompoundFile, folder: string, id: string): string {
  const unicode = file.stream(`${folder}__substg1.0_${id}${TYPE.unicode}`);
  if (unicode !== undefined) return unicode.toString("utf16le").replaceAll("\0", "");
  const ansi = file.stream(`${folder}__substg1.0_${id}${TYPE.ansi}`);
  return ansi === undefined ? "" : decodeText(ansi);
}

function attachmentFolders(file: CompoundFile, folder: string): string[] {
  const found = file.paths.flatMap((path) => {
    if (!path.startsWith(folder)) return [];
    const [first = ""] = path.slice(folder.length).split("/", 1);
    return first.startsWith("__attach_version1.0_#") ? [`${folder}${first}/`] : [];
  });
  return [...new Set(found)];
}

/** The attached file. An attached message has none, so it is written as a mail of its own. */
function readAttachment(file: CompoundFile, folder: string, depth: number): NestedFile[] {
  const name =
    text(file, folder, PROPERTY.attachLongName) ||
    text(file, folder, PROPERTY.attachShortName) ||
    text(file, folder, PROPERTY.displayName) ||
    "attachment";
  const bytes = file.stream(`${folder}__substg1.0_${PROPERTY.attachData}${TYPE.binary}`);
  if (bytes !== undefined) return [{ name, bytes }];
  const embedded = `${folder}__substg1.0_${PROPERTY.attachData}${TYPE.object}/`;
  if (depth >= MAX_EMBEDDED_DEPTH || !file.paths.some((path) => path.startsWith(embedded))) return [];
  const mail = readMessage(file, embedded, depth + 1);
  return [{ name: `${mail.subject || name}.eml`, bytes: Buffer.from(asEml(mail)) }, ...mail.attachments];
}

function asEml(mail: Mail): string {
  const body = mail.bodies.find(({ content }) => content.trim() !== "");
  const line = (value: string): string => value.replace(/\s+/g, " ");
  const type = body?.format === "html" ? "text/html" : "text/plain";
  const head = [
    `Subject: ${line(mail.subject)}`,
    `From: ${line(mail.from)}`,
    `To: ${line(mail.to)}`,
    `Date: ${line(mail.date)}`,
    "MIME-Version: 1.0",
    `Content-Type: ${type}; charset=utf-8`,
    "Content-Transfer-Encoding: 8bit",
  ];
  return [...head, "", body?.content ?? ""].join("\r\n");
}
