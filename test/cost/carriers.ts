/** Puts hostile text and markup into real files of the container formats. */
import { utils, write } from "@e965/xlsx";
import type { FileType } from "../../src/domain/file-type.ts";
import { makeDoc, makeMsg, makePpt, makeWord95 } from "../support/files/compound.ts";
import { makePdf, makeTiff } from "../support/files/text.ts";
import { makeEpub, makeOdf, makeZip } from "../support/files/office.ts";
import {
  docx,
  DOCX_MARKUP,
  ODF_MARKUP,
  ods,
  ODS_MARKUP,
  pptx,
  PPTX_MARKUP,
  pptxShape,
  styleChain,
  styleRing,
  styleUses,
  xlsx,
  XLSX_MARKUP,
} from "./office-files.ts";
import { HEADER_SHAPES, MAIL_MARKUP, RTF_MARKUP } from "./mail-and-rtf.ts";
import { numbered, repeated, type Shape } from "./shape.ts";
import { PLAIN_SHAPES, TEXT_SHAPES } from "./shapes.ts";

export interface Carrier {
  /** The place in the file at which the shape is put. */
  readonly name: string;
  readonly shapes: readonly Shape[];
  /** The maximum number of UTF-16 units of a shape, if the file takes long to make. */
  readonly maxLength?: number;
  make(text: string): Uint8Array | Promise<Uint8Array>;
}

// oxlint-disable-next-line no-control-regex -- XML has no way to write them
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g;
const escapeXml = (text: string): string =>
  text.toWellFormed().replace(NOT_IN_XML, "").replaceAll("&", "&amp;").replaceAll("<", "&lt;");
/** A third of the shapes, for containers that are most of the work: more would show nothing new. */
const FEW_SHAPES = PLAIN_SHAPES.filter((_, index) => index % 3 === 1);
const lines = (text: string): string[] => text.split("\n");

const mail = (head: string, body: string): Buffer =>
  Buffer.from(`From: a@b.example\r\nSubject: s\r\n${head}\r\n\r\n${body}`);

const PDF_SHAPES: readonly Shape[] = [...FEW_SHAPES, numbered("short lines", (index) => `line ${index}\n`)];

/** Makes pages of 60 lines of at most 90 characters. */
function pdfOf(text: string): Buffer {
  const drawn = lines(text).flatMap((line) => line.match(/[\s\S]{1,90}/g) ?? [""]);
  const pages = Array.from({ length: Math.ceil(drawn.length / 60) }, (_, page) =>
    drawn.slice(page * 60, page * 60 + 60),
  );
  return makePdf(pages);
}

const zipEntries: Shape = numbered("entries", (index) => `entry ${index}\n`);
/** A picture without text costs the same whatever its content, so only its size varies. */
const PICTURE_SHAPES: readonly Shape[] = [repeated("a"), repeated("\u0001")];

const epubChapters = (text: string): Promise<Buffer> => makeEpub(lines(text).map((line) => `<p>${line}</p>`));

const HTML_SHAPES = TEXT_SHAPES.filter(({ name }) => name.includes("<"));

/** The carriers by file type; a type without an entry is read as text. */
export const CARRIERS: Partial<Record<FileType, readonly Carrier[]>> = {
  DOCX: [
    { name: "in its markup", shapes: DOCX_MARKUP, make: (body) => docx({ body }) },
    {
      name: "in its styles",
      shapes: [styleChain, styleRing],
      make: (styles) => docx({ styles, body: styleUses(styles) }),
    },
    {
      name: "in its text",
      shapes: FEW_SHAPES,
      make: (text) =>
        docx({
          body: lines(escapeXml(text))
            .map((line) => `<w:p><w:r><w:t>${line}</w:t></w:r></w:p>`)
            .join(""),
        }),
    },
  ],
  PPTX: [
    { name: "in its markup", shapes: PPTX_MARKUP, make: pptx },
    {
      name: "in its text",
      shapes: FEW_SHAPES,
      make: (text) =>
        pptx(
          pptxShape(
            lines(escapeXml(text))
              .map((line) => `<a:p><a:r><a:t>${line}</a:t></a:r></a:p>`)
              .join(""),
          ),
        ),
    },
  ],
  ODT: [
    { name: "in its markup", shapes: ODF_MARKUP, make: (body) => makeOdf("text", body) },
    {
      name: "in its text",
      shapes: FEW_SHAPES,
      make: (text) =>
        makeOdf(
          "text",
          lines(escapeXml(text))
            .map((line) => `<text:p>${line}</text:p>`)
            .join(""),
        ),
    },
  ],
  ODP: [
    {
      name: "in its markup",
      shapes: ODF_MARKUP,
      make: (body) => makeOdf("presentation", `<draw:page>${body}</draw:page>`),
    },
  ],
  XLSX: [
    { name: "in its rows", maxLength: 65_536, shapes: XLSX_MARKUP, make: (rows) => xlsx(rows) },
    {
      name: "in its shared strings",
      shapes: [repeated("<si><t>a</t></si>"), repeated("<r><t>a</t></r>", "<si>", "</si>"), repeated("<si>")],
      make: (shared) => xlsx('<row r="1"><c r="A1" t="s"><v>0</v></c></row>', shared),
    },
  ],
  XLS: [
    {
      name: "in its cells",
      shapes: PLAIN_SHAPES,
      maxLength: 16_384,
      make: (text) => write(bookOf(text), { type: "buffer", bookType: "biff8" }) as Buffer,
    },
  ],
  ODS: [{ name: "in its rows", shapes: ODS_MARKUP, make: ods }],
  EPUB: [
    { name: "in a chapter", shapes: HTML_SHAPES, make: (chapter) => makeEpub([chapter]) },
    {
      name: "in its chapters",
      maxLength: 32_768,
      shapes: [numbered("chapters", (index) => `chapter ${index} of this book that says little\n`)],
      make: epubChapters,
    },
  ],
  EML: [
    { name: "in its body", shapes: FEW_SHAPES, make: (text) => mail("Content-Type: text/plain", text) },
    {
      name: "in its HTML",
      shapes: HTML_SHAPES.filter((_, index) => index % 5 === 0),
      make: (text) => mail("Content-Type: text/html", text),
    },
    {
      name: "in its parts",
      shapes: MAIL_MARKUP,
      make: (text) => mail("Content-Type: multipart/mixed; boundary=b", `--b\r\n${text}`),
    },
    { name: "in its head", shapes: HEADER_SHAPES, make: (text) => mail(text.trimEnd(), "body") },
  ],
  MSG: [
    {
      name: "in its body",
      shapes: PLAIN_SHAPES,
      make: (text) => makeMsg({ "__substg1.0_0037001F": "S", "__substg1.0_1000001F": text }),
    },
    {
      name: "in its subject",
      shapes: PLAIN_SHAPES,
      make: (text) => makeMsg({ "__substg1.0_0037001F": text, "__substg1.0_1000001F": "body" }),
    },
  ],
  DOC: [
    {
      name: "in its text",
      shapes: FEW_SHAPES,
      make: (text) => makeDoc({ body: [text.replaceAll("\n", "\r")] }),
    },
    {
      name: "in the text of Word 95",
      shapes: PLAIN_SHAPES.filter(({ name }) => !/[^\p{ASCII}]/u.test(name)),
      make: (text) => makeWord95({ body: text.replaceAll("\n", "\r") }),
    },
  ],
  PPT: [
    {
      name: "in its text",
      shapes: FEW_SHAPES,
      make: (text) => makePpt([{ title: "t", body: text, shape: "s", notes: "n" }]),
    },
    {
      name: "in its slides",
      shapes: [numbered("slides", (index) => `slide ${index}\n`)],
      make: (text) => makePpt(lines(text).map((title) => ({ title, body: "b", shape: "s", notes: "n" }))),
    },
  ],
  PDF: [{ name: "in its text", maxLength: 65_536, shapes: PDF_SHAPES, make: pdfOf }],
  RTF: [
    { name: "behind its head", shapes: TEXT_SHAPES, make: (text) => Buffer.from(`{\\rtf1\\ansi ${text}}`) },
    { name: "in its markup", shapes: RTF_MARKUP, make: (text) => Buffer.from(`{\\rtf1\\ansi ${text}}`) },
  ],
  ZIP: [
    {
      name: "in its entries",
      maxLength: 32_768,
      shapes: [zipEntries],
      make: (text) => makeZip(Object.fromEntries(lines(text).map((line) => [`${line}.txt`, line]))),
    },
    {
      name: "in its names",
      shapes: [repeated("a/")],
      make: (text) => makeZip({ [`${text.slice(0, 60_000)}b.txt`]: "text" }),
    },
    {
      name: "in a note inside",
      shapes: TEXT_SHAPES.filter(({ name }) => name.startsWith("front matter") || name.includes("heading")),
      make: (text) => makeZip({ "a.md": text }),
    },
  ],
  PNG: [
    {
      name: "behind its head",
      shapes: PICTURE_SHAPES,
      make: (text) => Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.from(text)]),
    },
  ],
  JPEG: [
    {
      name: "behind its head",
      shapes: PICTURE_SHAPES,
      make: (text) => Buffer.concat([Buffer.from("ffd8ffe0", "hex"), Buffer.from(text)]),
    },
  ],
  TIFF: [
    {
      name: "as its pixels",
      shapes: PICTURE_SHAPES,
      make: (text) =>
        makeTiff({
          width: Math.max(1, Math.floor(text.length / 3)),
          height: 1,
          rgb: Buffer.from(text, "latin1"),
        }),
    },
  ],
};

function bookOf(text: string): ReturnType<typeof utils.book_new> {
  const book = utils.book_new();
  // This format allows 32,767 characters a cell and 65,536 rows a sheet.
  utils.book_append_sheet(
    book,
    utils.aoa_to_sheet(
      lines(text)
        .slice(0, 65_000)
        .map((line) => line.match(/[\s\S]{1,30000}/g) ?? [""]),
    ),
    "A",
  );
  return book;
}
