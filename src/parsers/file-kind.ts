/** Decides what kind of file an upload is: by its content, then its name, then the client's word. */

import { fileTypeFromBuffer } from "file-type";
import { MEDIA_TYPES, type FileType } from "../domain/file-type.ts";
import { extensionOf, isTextKind, namedKind } from "./file-extensions.ts";
import { isUtf8Start, looksLikeText, textKind } from "./text-kind.ts";

export interface FileKind {
  readonly fileType: FileType;
  readonly mediaType: string;
}

/** Bytes at the start of a file that {@link detectFileKind} looks at. */
export const FILE_KIND_HEAD_BYTES = 64 * 1024;

/** A PDF's header may begin anywhere in these bytes: readers accept junk before it. */
const PDF_HEADER_WITHIN_BYTES = 1024;

/** The kinds by the extension that the library file-type gives them. */
const SNIFFED: Readonly<Record<string, FileType>> = {
  pdf: "PDF",
  docx: "DOCX",
  docm: "DOCX",
  dotx: "DOCX",
  pptx: "PPTX",
  pptm: "PPTX",
  ppsx: "PPTX",
  xlsx: "XLSX",
  xlsm: "XLSX",
  odt: "ODT",
  ods: "ODS",
  odp: "ODP",
  rtf: "RTF",
  epub: "EPUB",
  zip: "ZIP",
  png: "PNG",
  apng: "PNG",
  jpg: "JPEG",
  tif: "TIFF",
  xml: "XML",
};

/** Containers whose first bytes may not tell what they hold: the file's name decides among these kinds. */
const REFINED_BY_NAME: Readonly<Record<string, ReadonlySet<FileType>>> = {
  zip: new Set<FileType>(["DOCX", "PPTX", "XLSX", "ODT", "ODS", "ODP", "EPUB"]),
  // A new Office document with a password is wrapped in a compound file, the container of the old formats.
  cfb: new Set<FileType>(["DOC", "PPT", "XLS", "MSG", "DOCX", "PPTX", "XLSX"]),
};

/**
 * The kind of a file. Never throws: an unknown file is `OTHER`, or `TEXT` if it can be read as text. A name
 * that promises a format whose signature the content lacks (a `.pdf` of plain text) keeps that kind, so that
 * its parser says what is wrong instead of the file passing as text.
 *
 * @param head The first {@link FILE_KIND_HEAD_BYTES} of the file, or all of it.
 */
export async function detectFileKind(
  head: Buffer,
  filename: string,
  contentType?: string,
): Promise<FileKind> {
  const start = head.subarray(0, FILE_KIND_HEAD_BYTES);
  const extension = extensionOf(filename);
  const named = namedKind(extension) ?? fromContentType(contentType);
  if (start.length === 0) return kind(named ?? "TEXT");
  if (start.subarray(0, 5).toString("latin1") === "%PDF-") return kind("PDF");
  const foreign = foreignMediaType(start, extension);
  if (foreign !== undefined) return { fileType: "OTHER", mediaType: foreign };
  const sniffed = await sniff(start);
  if (sniffed?.ext === "rtf") return kind("RTF");
  // Text goes before short signatures: a report that begins with "BM" is no bitmap.
  if (looksLikeText(start)) return kind(textKind(start, extension, named));
  return sniffed === undefined ? unsniffedKind(start, named) : sniffedKind(start, sniffed, named);
}

/** The media type of a format that no parser reads and that would be taken for another one. */
function foreignMediaType(start: Buffer, extension: string): string | undefined {
  const opening = start.subarray(0, FOREIGN_WITHIN_BYTES).toString("latin1");
  // FITS, a format of astronomical pictures: its header is text, in records of 80 characters.
  if (/^(?:SIMPLE {2}|XTENSION)= /.test(opening)) return "application/fits";
  if (!opening.startsWith("PK\x03\x04")) return undefined;
  const sun = /mimetype[^]{0,40}?(application\/vnd\.sun\.xml\.[\w.]{1,40})/.exec(opening)?.[1];
  if (sun !== undefined) return sun;
  const isApple = IWORK_PARTS.some((part) => start.includes(part));
  return isApple || IWORK_MEDIA_TYPES[extension] !== undefined
    ? (IWORK_MEDIA_TYPES[extension] ?? "application/vnd.apple.iwork")
    : undefined;
}

const FOREIGN_WITHIN_BYTES = 256;

/** Each archive of Pages, Keynote or Numbers holds one of these, in today's format and in that of 2009. */
export const IWORK_PARTS: readonly string[] = [
  "Index/Document.iwa",
  "Index/Presentation.iwa",
  "Index/Metadata.iwa",
  "index.apxl",
  "Index.zip",
];
const IWORK_MEDIA_TYPES: Readonly<Record<string, string>> = {
  pages: "application/vnd.apple.pages",
  key: "application/vnd.apple.keynote",
  numbers: "application/vnd.apple.numbers",
};

function unsniffedKind(start: Buffer, named: FileType | undefined): FileKind {
  if (start.subarray(0, PDF_HEADER_WITHIN_BYTES).includes("%PDF-")) return kind("PDF");
  return kind(named !== undefined && (!isTextKind(named) || isUtf8Start(start)) ? named : "OTHER");
}

function kind(fileType: FileType): FileKind {
  return { fileType, mediaType: MEDIA_TYPES[fileType] };
}

function fromContentType(contentType: string | undefined): FileType | undefined {
  const essence = contentType?.split(";", 1)[0]?.trim().toLowerCase();
  if (essence === undefined || essence === "application/octet-stream" || essence === "text/plain")
    return undefined;
  const known = Object.entries(MEDIA_TYPES).find(([, mediaType]) => mediaType === essence);
  return known?.[0] as FileType | undefined;
}

/** Undefined if file-type does not know it, or throws because the first bytes end in a structure. */
async function sniff(start: Buffer): Promise<{ ext: string; mime: string } | undefined> {
  try {
    return await fileTypeFromBuffer(start);
  } catch {
    return undefined;
  }
}

/** The streams of the old Office formats, most likely the outer document first: others may be inside it. */
const OLD_OFFICE_STREAMS: readonly (readonly [name: string, FileType])[] = [
  ["__properties_version1.0", "MSG"],
  ["WordDocument", "DOC"],
  ["PowerPoint Document", "PPT"],
  ["Workbook", "XLS"],
  ["Book", "XLS"],
];

const streamName = (name: string): Buffer => Buffer.from(`${name}\0`, "utf16le");

/** The kind of a compound file, by its directory; its name decides between several. */
function oldOfficeKind(start: Buffer, named: FileType | undefined): FileType | undefined {
  if (start.includes(streamName("EncryptedPackage"))) return undefined;
  const contained = OLD_OFFICE_STREAMS.filter(([name]) => start.includes(streamName(name))).map(
    ([, fileType]) => fileType,
  );
  return named !== undefined && contained.includes(named) ? named : contained[0];
}

function sniffedKind(
  start: Buffer,
  sniffed: { ext: string; mime: string },
  named: FileType | undefined,
): FileKind {
  const old = sniffed.ext === "cfb" ? oldOfficeKind(start, named) : undefined;
  if (old !== undefined) return kind(old);
  if (named !== undefined && REFINED_BY_NAME[sniffed.ext]?.has(named)) return kind(named);
  const fileType = SNIFFED[sniffed.ext];
  return fileType === undefined ? { fileType: "OTHER", mediaType: sniffed.mime } : kind(fileType);
}
