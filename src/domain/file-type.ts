/** The file types that a document may have, with the media type of each. */

export const MEDIA_TYPES = {
  MARKDOWN: "text/markdown",
  TEXT: "text/plain",
  PDF: "application/pdf",
  DOCX: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  DOC: "application/msword",
  PPTX: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  PPT: "application/vnd.ms-powerpoint",
  XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  XLS: "application/vnd.ms-excel",
  CSV: "text/csv",
  TSV: "text/tab-separated-values",
  ODT: "application/vnd.oasis.opendocument.text",
  ODS: "application/vnd.oasis.opendocument.spreadsheet",
  ODP: "application/vnd.oasis.opendocument.presentation",
  RTF: "application/rtf",
  EPUB: "application/epub+zip",
  HTML: "text/html",
  EML: "message/rfc822",
  MSG: "application/vnd.ms-outlook",
  JSON: "application/json",
  XML: "application/xml",
  CODE: "text/plain",
  ZIP: "application/zip",
  PNG: "image/png",
  JPEG: "image/jpeg",
  TIFF: "image/tiff",
  OTHER: "application/octet-stream",
} as const satisfies Record<string, string>;

export type FileType = keyof typeof MEDIA_TYPES;

export const UNREADABLE: FileType = "OTHER";

export const FILE_TYPES = Object.keys(MEDIA_TYPES) as readonly FileType[];
