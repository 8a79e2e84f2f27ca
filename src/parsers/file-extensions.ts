/** What the extension of a file's name says about its kind. */

import type { FileType } from "../domain/file-type.ts";

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

/** Extensions under which other kinds of text are common: a web page saved as .xls, a rich text as .doc. */
export const OLD_OFFICE_EXTENSIONS: Readonly<Record<string, FileType>> = {
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
    "js mjs cjs jsx ts mts cts tsx py pyi rb go rs java kt kts scala groovy c h cc cpp cxx hh hpp cs fs vb " +
    "swift m mm php pl pm lua r jl dart ex exs erl hs clj lisp scm ml sql sh bash zsh fish ps1 bat cmd css " +
    "scss sass less vue svelte proto graphql tf yaml yml toml ini cfg conf properties tex bib diff patch " +
    "asm s dockerfile makefile cmake gradle nix zig"
  ).split(" "),
);

/** The part after the last dot in lower case, without the dot; the whole name if it has none (`Makefile`). */
export function extensionOf(filename: string): string {
  const name = filename.slice(filename.lastIndexOf("/") + 1).toLowerCase();
  const dot = name.lastIndexOf(".");
  return dot < 0 ? name : name.slice(dot + 1);
}

/** Undefined if the extension says nothing. */
export function namedKind(extension: string): FileType | undefined {
  return (
    BINARY_EXTENSIONS[extension] ??
    OLD_OFFICE_EXTENSIONS[extension] ??
    TEXT_EXTENSIONS[extension] ??
    (CODE_EXTENSIONS.has(extension) ? "CODE" : undefined)
  );
}

/** Whether files of the kind are text, so that bytes outside of every character set cannot be one. */
export function isTextKind(fileType: FileType): boolean {
  return fileType === "CODE" || Object.values(TEXT_EXTENSIONS).includes(fileType);
}
