/** Tells text from other bytes, and which kind of text it is. */

import type { FileType } from "../domain/file-type.ts";
import { OLD_OFFICE_EXTENSIONS } from "./file-extensions.ts";

/** Tab, line feed, form feed, carriage return and escape. */
const TEXT_CONTROLS: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x1b]);

/** UTF-8, UTF-16 with a byte order mark, or bytes without NUL and unusual control characters. */
export function looksLikeText(start: Buffer): boolean {
  if (hasUtf16Mark(start)) return true;
  if (start.includes(0)) return false;
  if (isUtf8Start(start)) return true;
  return start.every((byte) => byte >= 0x20 || TEXT_CONTROLS.has(byte));
}

function hasUtf16Mark(start: Buffer): boolean {
  return (start[0] === 0xff && start[1] === 0xfe) || (start[0] === 0xfe && start[1] === 0xff);
}

/** Whether the bytes are UTF-8; a character that is cut at their end is accepted. */
export function isUtf8Start(start: Buffer): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(start, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** The kind of a text: by its name, or its beginning if the name says nothing or is an old Office one. */
export function textKind(start: Buffer, extension: string, named: FileType | undefined): FileType {
  const isOld = OLD_OFFICE_EXTENSIONS[extension] !== undefined;
  if (named !== undefined && !isOld) return named;
  const opening = start
    .subarray(0, 1024)
    .toString("latin1")
    .replace(/^\xef\xbb\xbf/, "")
    .trimStart()
    .toLowerCase();
  return (
    markupKind(opening) ?? (isOld ? oldOfficeText(extension, opening) : jsonKind(start, opening)) ?? "TEXT"
  );
}

function markupKind(opening: string): FileType | undefined {
  if (opening.startsWith("<!doctype html") || opening.startsWith("<html")) return "HTML";
  if (opening.startsWith("<?xml")) return opening.includes("<html") ? "HTML" : "XML";
  const headed = /^(?:return-path|received|message-id|mime-version|from|date): /.test(opening);
  return headed && /\n(?:from|to|subject|date|mime-version): /.test(opening) ? "EML" : undefined;
}

function oldOfficeText(extension: string, opening: string): FileType | undefined {
  return extension === "xls" && opening.includes("\t") ? "TSV" : undefined;
}

function jsonKind(start: Buffer, opening: string): FileType | undefined {
  return (opening.startsWith("{") || opening.startsWith("[")) && isWholeJson(start) ? "JSON" : undefined;
}

function isWholeJson(start: Buffer): boolean {
  try {
    JSON.parse(start.toString("utf8"));
    return true;
  } catch {
    return false;
  }
}
