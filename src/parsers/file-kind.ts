/** The only place that decides what kind of file an upload is: by its content first, then by its name, then by what the client said. */

import { fileTypeFromBuffer } from "file-type";
import { MEDIA_TYPES, type FileType } from "../domain/file-type.ts";

export interface FileKind {
  readonly fileType: FileType;
  readonly mediaType: string;
}

/** Bytes of the start of a file that {@link detectFileKind} wants; more is not looked at. */
const FILE_KIND_HEAD_BYTES = 64 * 1024;

/** Where a PDF's header may stand: readers accept junk before it. */
const PDF_HEADER_WITHIN_BYTES = 1024;

const BINARY_EXTENSIONS: Readonly<Record<string, FileType>> = {
  pdf: "PDF",
  docx: "DOCX",
  pptx: "PPTX",
  xlsx: "XLSX",
  xlsb: "XLSX",
  odt: "ODT",
  ods: "ODS",
  odp: "ODP",
  epub: "EPUB",
  msg: "MSG",
  zip: "ZIP",
  png: "PNG",
  jpg: "JPEG",
  jpeg: "JPEG",
  tif: "TIFF",
  tiff: "TIFF",
};

/** Extensions under which text of another kind is common: a web page saved as .xls, a rich text as .doc. */
const OLD_OFFICE_EXTENSIONS: Readonly<Record<string, FileType>> = {
  doc: "DOC",
  dot: "DOC",
  ppt: "PPT",
  pps: "PPT",
  xls: "XLS",
};

const TEXT_EXTENSIONS: Readonly<Record<string, FileType>> = {
  md: "MARKDOWN",
  markdown: "MARKDOWN",
  mdown: "MARKDOWN",
  mkd: "MARKDOWN",
  mdx: "MARKDOWN",
  txt: "TEXT",
  text: "TEXT",
  log: "TEXT",
  rst: "TEXT",
  adoc: "TEXT",
  csv: "CSV",
  tsv: "TSV",
  tab: "TSV",
  rtf: "RTF",
  html: "HTML",
  htm: "HTML",
  xhtml: "HTML",
  eml: "EML",
  json: "JSON",
  jsonl: "JSON",
  ndjson: "JSON",
  geojson: "JSON",
  ipynb: "JSON",
  xml: "XML",
  rss: "XML",
  atom: "XML",
  svg: "XML",
};

const CODE_EXTENSIONS = new Set(
  (
    "js mjs cjs jsx ts mts cts tsx py pyi rb go rs java kt kts scala groovy c h cc cpp cxx hh hpp cs fs vb swift m mm php pl pm lua r jl " +
    "dart ex exs erl hs clj lisp scm ml sql sh bash zsh fish ps1 bat cmd css scss sass less vue svelte proto graphql tf yaml yml toml ini " +
    "cfg conf properties tex bib diff patch asm s dockerfile makefile cmake gradle nix zig"
  ).split(" "),
);

/** What file-type calls the kinds that we know. */
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

/** Archives whose start may be too short to tell what they hold: their name refines them. */
const REFINED_BY_NAME: Readonly<Record<string, ReadonlySet<FileType>>> = {
  zip: new Set<FileType>(["DOCX", "PPTX", "XLSX", "ODT", "ODS", "ODP", "EPUB"]),
  // With a password a new Office document is wrapped in the old ones' container.
  cfb: new Set<FileType>(["DOC", "PPT", "XLS", "MSG", "DOCX", "PPTX", "XLSX"]),
};

/**
 * The kind of a file. Never throws; a file that nothing tells is `OTHER`, or `TEXT` where it reads as text.
 * A name that promises a format with a signature which the content lacks (a `.pdf` of plain text) keeps that kind, so that its parser
 * says what is wrong instead of the file passing as text.
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

/** Formats that nobody reads here and that would pass for another: their media types. */
function foreignMediaType(start: Buffer, extension: string): string | undefined {
  const opening = start.subarray(0, FOREIGN_WITHIN_BYTES).toString("latin1");
  // FITS, in which astronomers keep pictures: its head is lines of 80 characters without an end.
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

/** Files of Pages, Keynote and Numbers: one of these is in each of their archives, of today and of 2009. */
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

/** Kinds that bytes outside every character set cannot be; stray NULs in text are forgiven. */
function isTextKind(fileType: FileType): boolean {
  return fileType === "CODE" || Object.values(TEXT_EXTENSIONS).includes(fileType);
}

function kind(fileType: FileType): FileKind {
  return { fileType, mediaType: MEDIA_TYPES[fileType] };
}

function extensionOf(filename: string): string {
  const name = filename.slice(filename.lastIndexOf("/") + 1).toLowerCase();
  const dot = name.lastIndexOf(".");
  return dot < 0 ? name : name.slice(dot + 1);
}

function namedKind(extension: string): FileType | undefined {
  return (
    BINARY_EXTENSIONS[extension] ??
    OLD_OFFICE_EXTENSIONS[extension] ??
    TEXT_EXTENSIONS[extension] ??
    (CODE_EXTENSIONS.has(extension) ? "CODE" : undefined)
  );
}

function fromContentType(contentType: string | undefined): FileType | undefined {
  const essence = contentType?.split(";", 1)[0]?.trim().toLowerCase();
  if (essence === undefined || essence === "application/octet-stream" || essence === "text/plain")
    return undefined;
  const known = Object.entries(MEDIA_TYPES).find(([, mediaType]) => mediaType === essence);
  return known?.[0] as FileType | undefined;
}

/** A start that ends in the middle of a structure makes file-type throw; that is no answer, not a failure. */
async function sniff(start: Buffer): Promise<{ ext: string; mime: string } | undefined> {
  try {
    return await fileTypeFromBuffer(start);
  } catch {
    return undefined;
  }
}

/** The streams of the old Office formats, the likelier outer one first: others may be embedded in it. */
const OLD_OFFICE_STREAMS: readonly (readonly [name: string, FileType])[] = [
  ["__properties_version1.0", "MSG"],
  ["WordDocument", "DOC"],
  ["PowerPoint Document", "PPT"],
  ["Workbook", "XLS"],
  ["Book", "XLS"],
];

const streamName = (name: string): Buffer => Buffer.from(`${name}\0`, "utf16le");

/** What a compound file holds, where its directory is in its start; a spreadsheet that was named .doc is one all the same. */
function oldOfficeKind(start: Buffer, named: FileType | undefined): FileType | undefined {
  if (start.includes(streamName("EncryptedPackage"))) return undefined;
  const held = OLD_OFFICE_STREAMS.filter(([name]) => start.includes(streamName(name))).map(
    ([, fileType]) => fileType,
  );
  return named !== undefined && held.includes(named) ? named : held[0];
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

/** UTF-8 or UTF-16 with its mark; or bytes without NUL whose control characters are those that text has. */
function looksLikeText(start: Buffer): boolean {
  if (hasUtf16Mark(start)) return true;
  if (start.includes(0)) return false;
  if (isUtf8Start(start)) return true;
  let control = 0;
  for (const byte of start)
    if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d && byte !== 0x1b)
      control++;
  return control === 0;
}

function hasUtf16Mark(start: Buffer): boolean {
  return (start[0] === 0xff && start[1] === 0xfe) || (start[0] === 0xfe && start[1] === 0xff);
}

/** Streaming, so that a character cut at the end of the start does not count against it. */
function isUtf8Start(start: Buffer): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(start, { stream: true });
    return true;
  } catch {
    return false;
  }
}

function textKind(start: Buffer, extension: string, named: FileType | undefined): FileType {
  const old = OLD_OFFICE_EXTENSIONS[extension] !== undefined;
  if (named !== undefined && !old) return named;
  const opening = start
    .subarray(0, 1024)
    .toString("latin1")
    .replace(/^\xef\xbb\xbf/, "")
    .trimStart()
    .toLowerCase();
  return (
    markupKind(opening) ?? (old ? oldOfficeText(extension, opening) : jsonKind(start, opening)) ?? "TEXT"
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
