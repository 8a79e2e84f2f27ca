/** The only place that puts hostile text and markup into real files of the container formats. */
import { utils, write } from "@e965/xlsx";
import type { FileType } from "../../src/domain/file-type.ts";
import { makeDoc, makeMsg, makePpt, makeWord95 } from "../support/make-compound-files.ts";
import { makePdf, makeTiff } from "../support/make-documents.ts";
import { makeEpub, makeOdf, makeZip } from "../support/make-office-documents.ts";
import { nested, numbered, PLAIN_SHAPES, repeated, type Shape, TEXT_SHAPES } from "./shapes.ts";

export interface Carrier {
  /** Where in the file the shape stands. */
  readonly name: string;
  readonly shapes: readonly Shape[];
  /** Most UTF-16 units of a shape, where the file takes long to make. */
  readonly maxLength?: number;
  make(text: string): Uint8Array | Promise<Uint8Array>;
}

const escapeXml = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- XML has no way to write them
  text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;");
const lines = (text: string): string[] => text.split("\n");
const nest = (...elements: string[]): Shape => {
  const closing = elements.toReversed().map((element) => `</${element.split(" ", 1)[0]}>`);
  return nested(elements.map((element) => `<${element}>`).join(""), closing.join(""));
};

const relations = (targets: readonly (readonly [id: string, kind: string, target: string])[]): string =>
  `<Relationships>${targets.map(([id, kind, target]) => `<Relationship Id="${id}" Type="http://x/${kind}" Target="${target}"/>`).join("")}</Relationships>`;

interface DocxParts {
  readonly body: string;
  readonly styles?: string;
  readonly numbering?: string;
  readonly footnotes?: string;
}

const docx = ({ body, styles = "", numbering = "", footnotes = "" }: DocxParts): Promise<Buffer> =>
  makeZip({
    "_rels/.rels": relations([["r1", "officeDocument", "word/document.xml"]]),
    "word/_rels/document.xml.rels": relations([
      ["r1", "styles", "styles.xml"],
      ["r2", "numbering", "numbering.xml"],
      ["r3", "footnotes", "footnotes.xml"],
    ]),
    "word/document.xml": `<w:document xmlns:w="w"><w:body>${body}</w:body></w:document>`,
    "word/styles.xml": `<w:styles>${styles}</w:styles>`,
    "word/numbering.xml": `<w:numbering>${numbering}</w:numbering>`,
    "word/footnotes.xml": `<w:footnotes>${footnotes}</w:footnotes>`,
  });

const DOCX_MARKUP: readonly Shape[] = [
  nest("w:tbl", "w:tr", "w:tc"),
  nest("w:sdt", "w:sdtContent"),
  nest("w:p", "w:r", "w:pict", "w:txbxContent"),
  nest("w:ins"),
  nest("mc:AlternateContent", "mc:Choice"),
  nest("w:p"),
  repeated("<w:p>"),
  repeated("<w:p><w:r><w:t>a</w:t></w:r></w:p>"),
  repeated("<w:r><w:t>a</w:t></w:r>", "<w:p>", "</w:p>"),
  repeated("<w:r><w:rPr><w:b/></w:rPr><w:t> a </w:t></w:r><w:r><w:t>b</w:t></w:r>", "<w:p>", "</w:p>"),
  repeated("<w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc>", "<w:tbl><w:tr>", "</w:tr></w:tbl>"),
  repeated("<w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc></w:tr>", "<w:tbl>", "</w:tbl>"),
  repeated('<w:tr><w:tc><w:tcPr><w:gridSpan w:val="1000"/><w:vMerge/></w:tcPr><w:p/></w:tc></w:tr>', "<w:tbl>", "</w:tbl>"),
  repeated('<w:p><w:pPr><w:numPr><w:ilvl w:val="8"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>a</w:t></w:r></w:p>'),
  repeated('<w:p><w:pPr><w:pStyle w:val="Heading6"/></w:pPr><w:r><w:t>a</w:t></w:r></w:p>'),
  repeated('<w:p><w:r><w:footnoteReference w:id="1"/></w:r></w:p>'),
  repeated('<w:r><w:commentReference w:id="1"/></w:r>', "<w:p>", "</w:p>"),
  repeated('<w:sectPr><w:headerReference w:id="r1"/></w:sectPr>'),
  repeated('<w:fldChar w:fldCharType="begin"/>', "<w:p><w:r>", "</w:r></w:p>"),
];

const styleChain: Shape = numbered(
  "styles, each based on the one before",
  (index) => `<w:style w:styleId="s${index}" w:type="paragraph"><w:basedOn w:val="s${Math.max(0, index - 1)}"/></w:style>`,
);
const styleRing: Shape = numbered("styles based on the one behind", (index) => `<w:style w:styleId="s${index}" w:type="paragraph"><w:basedOn w:val="s${index + 1}"/></w:style>`);
const styleUses = (styles: string): string => {
  const ids = [...styles.matchAll(/styleId="(s\d+)"/g)].map(([, id]) => id);
  return ids.map((id) => `<w:p><w:pPr><w:pStyle w:val="${id}"/></w:pPr><w:r><w:t>a</w:t></w:r></w:p>`).join("");
};

const pptx = (tree: string): Promise<Buffer> =>
  makeZip({
    "_rels/.rels": relations([["r1", "officeDocument", "ppt/presentation.xml"]]),
    "ppt/_rels/presentation.xml.rels": relations([["r1", "slide", "slides/slide1.xml"]]),
    "ppt/presentation.xml": '<p:presentation><p:sldIdLst><p:sldId r:id="r1"/></p:sldIdLst></p:presentation>',
    "ppt/slides/slide1.xml": `<p:sld><p:cSld><p:spTree>${tree}</p:spTree></p:cSld></p:sld>`,
  });
const pptxShape = (paragraphs: string): string => `<p:sp><p:txBody>${paragraphs}</p:txBody></p:sp>`;

const PPTX_MARKUP: readonly Shape[] = [
  nest("p:grpSp"),
  nest("mc:AlternateContent", "mc:Choice"),
  nest("p:sp", "p:txBody", "a:p"),
  nest("p:graphicFrame", "a:graphic", "a:graphicData", "a:tbl", "a:tr", "a:tc", "a:txBody"),
  repeated(pptxShape("<a:p><a:r><a:t>a</a:t></a:r></a:p>")),
  repeated('<p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>a</a:t></a:r></a:p></p:txBody></p:sp>'),
  repeated("<a:p><a:r><a:t>a</a:t></a:r></a:p>", "<p:sp><p:txBody>", "</p:txBody></p:sp>"),
  repeated("<a:r><a:t>a</a:t></a:r>", "<p:sp><p:txBody><a:p>", "</a:p></p:txBody></p:sp>"),
  repeated(
    "<a:tr><a:tc><a:txBody><a:p><a:r><a:t>a</a:t></a:r></a:p></a:txBody></a:tc></a:tr>",
    "<p:graphicFrame><a:graphic><a:graphicData><a:tbl>",
    "</a:tbl></a:graphicData></a:graphic></p:graphicFrame>",
  ),
];

const ODF_MARKUP: readonly Shape[] = [
  nest("text:section"),
  nest("text:list", "text:list-item"),
  nest("table:table", "table:table-row", "table:table-cell"),
  nest("draw:frame", "draw:text-box"),
  nested("<text:p><text:span>", "</text:span></text:p>"),
  nested("<text:span>", "</text:span>", "<text:p>", "</text:p>"),
  repeated("<text:p>a</text:p>"),
  repeated("<text:span>a</text:span>", "<text:p>", "</text:p>"),
  repeated('<text:h text:outline-level="9">a</text:h>'),
  repeated('<text:s text:c="1000000"/>', "<text:p>a", "</text:p>"),
  repeated("<text:tab/><text:line-break/>", "<text:p>a", "</text:p>"),
  repeated(
    '<table:table-row table:number-rows-repeated="1000"><table:table-cell table:number-columns-repeated="1000"><text:p>a</text:p></table:table-cell></table:table-row>',
    "<table:table>",
    "</table:table>",
  ),
  repeated('<table:table-cell table:number-columns-spanned="1000"><text:p>a</text:p></table:table-cell>', "<table:table><table:table-row>", "</table:table-row></table:table>"),
  repeated("<text:list-item><text:p>a</text:p></text:list-item>", "<text:list>", "</text:list>"),
  repeated("<text:note><text:note-body><text:p>a</text:p></text:note-body></text:note>", "<text:p>", "</text:p>"),
];

const xlsx = (rows: string, shared = ""): Promise<Buffer> =>
  makeZip({
    "[Content_Types].xml":
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/>' +
      '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>' +
      '<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>' +
      '<Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>',
    "_rels/.rels":
      '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/_rels/workbook.xml.rels":
      '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/>' +
      '<Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/></Relationships>',
    "xl/workbook.xml":
      '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="A" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/worksheets/sheet1.xml": `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${rows}</sheetData></worksheet>`,
    "xl/sharedStrings.xml": `<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>shared</t></si>${shared}</sst>`,
  });

const XLSX_MARKUP: readonly Shape[] = [
  nest("row", "c", "is", "t"),
  numbered("rows", (row) => `<row r="${row + 1}"><c r="A${row + 1}"><v>1</v></c></row>`),
  numbered("rows of shared strings", (row) => `<row r="${row + 1}"><c r="A${row + 1}" t="s"><v>0</v></c></row>`),
  numbered("cells far apart", (row) => `<row r="${row * 100 + 1}"><c r="XFD${row * 100 + 1}"><v>1</v></c></row>`),
  repeated('<row r="1"><c r="A1"><v>1</v></c></row>'),
  repeated('<c r="A1" t="inlineStr"><is><t>a</t></is></c>', '<row r="1">', "</row>"),
  repeated("<row"),
  repeated("<c><v>"),
  repeated("<f>A1</f>", '<row r="1"><c r="A1">', "</c></row>"),
];

const ODS_MARKUP: readonly Shape[] = [
  repeated("<table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row>"),
  repeated('<table:table-row table:number-rows-repeated="1000"><table:table-cell table:number-columns-repeated="100"><text:p>a</text:p></table:table-cell></table:table-row>'),
  repeated("<table:table-cell><text:p>a</text:p></table:table-cell>", "<table:table-row>", "</table:table-row>"),
  nest("table:table-row-group"),
];

const ods = (rows: string): Promise<Buffer> =>
  makeZip({
    mimetype: "application/vnd.oasis.opendocument.spreadsheet",
    "META-INF/manifest.xml":
      '<manifest:manifest><manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/></manifest:manifest>',
    "content.xml": `<office:document-content><office:body><office:spreadsheet><table:table table:name="A">${rows}</table:table></office:spreadsheet></office:body></office:document-content>`,
  });

const mail = (head: string, body: string): Buffer => Buffer.from(`From: a@b.example\r\nSubject: s\r\n${head}\r\n\r\n${body}`);

const multipartBoundaries: Shape = {
  name: "parts in parts",
  make(length) {
    const depth = Math.max(1, Math.floor(length / 80));
    return Array.from({ length: depth }, (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}\r\n`).join("");
  },
};

const MAIL_MARKUP: readonly Shape[] = [
  repeated("--b\r\n\r\na\r\n"),
  repeated("--b\r\n"),
  repeated("--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: a\r\n\r\n"),
  repeated("--b\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\nYWFh\r\n"),
  repeated("--b\r\nContent-Type: text/html\r\n\r\n<p>a</p>\r\n"),
  multipartBoundaries,
];

const HEADER_SHAPES: readonly Shape[] = [
  numbered("headers", (index) => `X-${index}: a\r\n`),
  repeated("To: a@b.example\r\n"),
  repeated(" a\r\n", "X-Folded: a\r\n"),
  repeated("a@b.example, ", "To: "),
  repeated("(", "To: "),
  repeated('"', "To: "),
  repeated("<", "To: "),
  repeated(":", "To: a"),
  repeated("a:b;", "To: "),
  repeated("=?utf-8?q?a?= ", "X: "),
  repeated("=?utf-8?b?YQ==?=", "Subject: "),
  numbered("parameters", (index) => `; name*${index}*=a`, "Content-Type: text/plain"),
];

const PDF_SHAPES: readonly Shape[] = [...PLAIN_SHAPES, numbered("short lines", (index) => `line ${index}\n`)];

/** Pages of 60 lines of at most 90 characters. */
function pdfOf(text: string): Buffer {
  const drawn = lines(text).flatMap((line) => line.match(/[\s\S]{1,90}/g) ?? [""]);
  const pages = Array.from({ length: Math.ceil(drawn.length / 60) }, (_, page) => drawn.slice(page * 60, page * 60 + 60));
  return makePdf(pages);
}

const RTF_MARKUP: readonly Shape[] = [
  nested("{", "}"),
  nested("{\\b ", "}"),
  nested("{\\*\\x ", "}"),
  repeated("{\\b a}"),
  repeated("{"),
  repeated("}"),
  repeated("\\par a"),
  repeated("\\'e9"),
  repeated("\\u8364?"),
  repeated("\\uc100\\u8364?"),
  repeated("\\trowd\\cell a\\row "),
  repeated("\\cell a", "\\trowd\\intbl ", "\\row "),
  repeated("{\\f1\\fcharset204 a;}", "{\\fonttbl", "}"),
  repeated("{\\s1 a;}", "{\\stylesheet", "}"),
  repeated("{\\footnote a}"),
  repeated("{\\pntext a}"),
  repeated("\\bin9 a"),
  repeated("\\f1 a\\f2 "),
  repeated("ffd8", "{\\pict ", "}"),
];

const zipEntries: Shape = numbered("entries", (index) => `entry ${index}\n`);
/** A picture without text costs the same whatever it holds: only its size can be made large. */
const PICTURE_SHAPES: readonly Shape[] = [repeated("a"), repeated("\u0001")];

const epubChapters = (text: string): Promise<Buffer> => makeEpub(lines(text).map((line) => `<p>${line}</p>`));

/** By file type; a type that is not here is read as text. */
export const CARRIERS: Partial<Record<FileType, readonly Carrier[]>> = {
  DOCX: [
    { name: "in its markup", shapes: DOCX_MARKUP, make: (body) => docx({ body }) },
    { name: "in its styles", shapes: [styleChain, styleRing], make: (styles) => docx({ styles, body: styleUses(styles) }) },
    {
      name: "in its text",
      shapes: PLAIN_SHAPES,
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
      shapes: PLAIN_SHAPES,
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
      shapes: PLAIN_SHAPES,
      make: (text) =>
        makeOdf(
          "text",
          lines(escapeXml(text))
            .map((line) => `<text:p>${line}</text:p>`)
            .join(""),
        ),
    },
  ],
  ODP: [{ name: "in its markup", shapes: ODF_MARKUP, make: (body) => makeOdf("presentation", `<draw:page>${body}</draw:page>`) }],
  XLSX: [
    { name: "in its rows", shapes: XLSX_MARKUP, make: (rows) => xlsx(rows) },
    {
      name: "in its shared strings",
      shapes: [repeated("<si><t>a</t></si>"), repeated("<r><t>a</t></r>", "<si>", "</si>"), repeated("<si>")],
      make: (shared) => xlsx('<row r="1"><c r="A1" t="s"><v>0</v></c></row>', shared),
    },
  ],
  XLS: [{ name: "in its cells", shapes: PLAIN_SHAPES, maxLength: 16_384, make: (text) => write(bookOf(text), { type: "buffer", bookType: "biff8" }) as Buffer }],
  ODS: [{ name: "in its rows", shapes: ODS_MARKUP, make: ods }],
  EPUB: [
    { name: "in a chapter", shapes: TEXT_SHAPES.filter(({ name }) => name.includes("<")), make: (chapter) => makeEpub([chapter]) },
    { name: "in its chapters", shapes: [numbered("chapters", (index) => `chapter ${index} of this book that says little\n`)], make: epubChapters },
  ],
  EML: [
    { name: "in its body", shapes: TEXT_SHAPES, make: (text) => mail("Content-Type: text/plain", text) },
    { name: "in its HTML", shapes: TEXT_SHAPES.filter(({ name }) => name.includes("<")), make: (text) => mail("Content-Type: text/html", text) },
    { name: "in its parts", shapes: MAIL_MARKUP, make: (text) => mail("Content-Type: multipart/mixed; boundary=b", `--b\r\n${text}`) },
    { name: "in its head", shapes: HEADER_SHAPES, make: (text) => mail(text.trimEnd(), "body") },
  ],
  MSG: [
    { name: "in its body", shapes: PLAIN_SHAPES, make: (text) => makeMsg({ "__substg1.0_0037001F": "S", "__substg1.0_1000001F": text }) },
    { name: "in its subject", shapes: PLAIN_SHAPES, make: (text) => makeMsg({ "__substg1.0_0037001F": text, "__substg1.0_1000001F": "body" }) },
  ],
  DOC: [
    { name: "in its text", shapes: PLAIN_SHAPES, make: (text) => makeDoc({ body: [text.replaceAll("\n", "\r")] }) },
    { name: "in the text of Word 95", shapes: PLAIN_SHAPES.filter(({ name }) => !/[^\p{ASCII}]/u.test(name)), make: (text) => makeWord95({ body: text.replaceAll("\n", "\r") }) },
  ],
  PPT: [
    { name: "in its text", shapes: PLAIN_SHAPES, make: (text) => makePpt([{ title: "t", body: text, shape: "s", notes: "n" }]) },
    {
      name: "in its slides",
      shapes: [numbered("slides", (index) => `slide ${index}\n`)],
      make: (text) => makePpt(lines(text).map((title) => ({ title, body: "b", shape: "s", notes: "n" }))),
    },
  ],
  PDF: [{ name: "in its text", shapes: PDF_SHAPES, make: pdfOf }],
  RTF: [
    { name: "behind its head", shapes: TEXT_SHAPES, make: (text) => Buffer.from(`{\\rtf1\\ansi ${text}}`) },
    { name: "in its markup", shapes: RTF_MARKUP, make: (text) => Buffer.from(`{\\rtf1\\ansi ${text}}`) },
  ],
  ZIP: [
    { name: "in its entries", shapes: [zipEntries], make: (text) => makeZip(Object.fromEntries(lines(text).map((line) => [`${line}.txt`, line]))) },
    { name: "in its names", shapes: [repeated("a/")], make: (text) => makeZip({ [`${text.slice(0, 60_000)}b.txt`]: "text" }) },
    { name: "in a note inside", shapes: TEXT_SHAPES.filter(({ name }) => name.startsWith("front matter") || name.includes("heading")), make: (text) => makeZip({ "a.md": text }) },
  ],
  PNG: [{ name: "behind its head", shapes: PICTURE_SHAPES, make: (text) => Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.from(text)]) }],
  JPEG: [{ name: "behind its head", shapes: PICTURE_SHAPES, make: (text) => Buffer.concat([Buffer.from("ffd8ffe0", "hex"), Buffer.from(text)]) }],
  TIFF: [
    { name: "as its pixels", shapes: PICTURE_SHAPES, make: (text) => makeTiff({ width: Math.max(1, Math.floor(text.length / 3)), height: 1, rgb: Buffer.from(text, "latin1") }) },
  ],
};

function bookOf(text: string): ReturnType<typeof utils.book_new> {
  const book = utils.book_new();
  // A cell of this format holds 32,767 characters, a sheet 65,536 rows.
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
