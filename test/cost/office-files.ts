/**
 * Makes office files by hand, with markup that no library would write, and defines the shapes that such
 * markup can have.
 */
import { makeZip } from "../support/files/office.ts";
import { nested, numbered, repeated, type Shape } from "./shape.ts";

const nest = (...elements: string[]): Shape => {
  const closing = elements.toReversed().map((element) => `</${element.split(" ", 1)[0]}>`);
  return nested(elements.map((element) => `<${element}>`).join(""), closing.join(""));
};

const relations = (targets: readonly (readonly [id: string, kind: string, target: string])[]): string =>
  `<Relationships>${targets
    .map(([id, kind, target]) => `<Relationship Id="${id}" Type="http://x/${kind}" Target="${target}"/>`)
    .join("")}</Relationships>`;

interface DocxParts {
  readonly body: string;
  readonly styles?: string;
  readonly numbering?: string;
  readonly footnotes?: string;
}

export const docx = ({ body, styles = "", numbering = "", footnotes = "" }: DocxParts): Promise<Buffer> =>
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

export const DOCX_MARKUP: readonly Shape[] = [
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
  repeated(
    '<w:tr><w:tc><w:tcPr><w:gridSpan w:val="1000"/><w:vMerge/></w:tcPr><w:p/></w:tc></w:tr>',
    "<w:tbl>",
    "</w:tbl>",
  ),
  repeated(
    '<w:p><w:pPr><w:numPr><w:ilvl w:val="8"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>a</w:t>' +
      "</w:r></w:p>",
  ),
  repeated('<w:p><w:pPr><w:pStyle w:val="Heading6"/></w:pPr><w:r><w:t>a</w:t></w:r></w:p>'),
  repeated('<w:p><w:r><w:footnoteReference w:id="1"/></w:r></w:p>'),
  repeated('<w:r><w:commentReference w:id="1"/></w:r>', "<w:p>", "</w:p>"),
  repeated('<w:sectPr><w:headerReference w:id="r1"/></w:sectPr>'),
  repeated('<w:fldChar w:fldCharType="begin"/>', "<w:p><w:r>", "</w:r></w:p>"),
];

export const styleChain: Shape = numbered(
  "styles, each based on the one before",
  (index) =>
    `<w:style w:styleId="s${index}" w:type="paragraph"><w:basedOn w:val="s${Math.max(0, index - 1)}"/>` +
    "</w:style>",
);
export const styleRing: Shape = numbered(
  "styles based on the one behind",
  (index) => `<w:style w:styleId="s${index}" w:type="paragraph"><w:basedOn w:val="s${index + 1}"/></w:style>`,
);
export const styleUses = (styles: string): string => {
  const ids = [...styles.matchAll(/styleId="(s\d+)"/g)].map(([, id]) => id);
  return ids
    .map((id) => `<w:p><w:pPr><w:pStyle w:val="${id}"/></w:pPr><w:r><w:t>a</w:t></w:r></w:p>`)
    .join("");
};

export const pptx = (tree: string): Promise<Buffer> =>
  makeZip({
    "_rels/.rels": relations([["r1", "officeDocument", "ppt/presentation.xml"]]),
    "ppt/_rels/presentation.xml.rels": relations([["r1", "slide", "slides/slide1.xml"]]),
    "ppt/presentation.xml": '<p:presentation><p:sldIdLst><p:sldId r:id="r1"/></p:sldIdLst></p:presentation>',
    "ppt/slides/slide1.xml": `<p:sld><p:cSld><p:spTree>${tree}</p:spTree></p:cSld></p:sld>`,
  });
export const pptxShape = (paragraphs: string): string => `<p:sp><p:txBody>${paragraphs}</p:txBody></p:sp>`;

export const PPTX_MARKUP: readonly Shape[] = [
  nest("p:grpSp"),
  nest("mc:AlternateContent", "mc:Choice"),
  nest("p:sp", "p:txBody", "a:p"),
  nest("p:graphicFrame", "a:graphic", "a:graphicData", "a:tbl", "a:tr", "a:tc", "a:txBody"),
  repeated(pptxShape("<a:p><a:r><a:t>a</a:t></a:r></a:p>")),
  repeated(
    '<p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>a</a:t>' +
      "</a:r></a:p></p:txBody></p:sp>",
  ),
  repeated("<a:p><a:r><a:t>a</a:t></a:r></a:p>", "<p:sp><p:txBody>", "</p:txBody></p:sp>"),
  repeated("<a:r><a:t>a</a:t></a:r>", "<p:sp><p:txBody><a:p>", "</a:p></p:txBody></p:sp>"),
  repeated(
    "<a:tr><a:tc><a:txBody><a:p><a:r><a:t>a</a:t></a:r></a:p></a:txBody></a:tc></a:tr>",
    "<p:graphicFrame><a:graphic><a:graphicData><a:tbl>",
    "</a:tbl></a:graphicData></a:graphic></p:graphicFrame>",
  ),
];

export const ODF_MARKUP: readonly Shape[] = [
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
    '<table:table-row table:number-rows-repeated="1000"><table:table-cell ' +
      'table:number-columns-repeated="1000"><text:p>a</text:p></table:table-cell></table:table-row>',
    "<table:table>",
    "</table:table>",
  ),
  repeated(
    '<table:table-cell table:number-columns-spanned="1000"><text:p>a</text:p></table:table-cell>',
    "<table:table><table:table-row>",
    "</table:table-row></table:table>",
  ),
  repeated("<text:list-item><text:p>a</text:p></text:list-item>", "<text:list>", "</text:list>"),
  repeated(
    "<text:note><text:note-body><text:p>a</text:p></text:note-body></text:note>",
    "<text:p>",
    "</text:p>",
  ),
];

const OPEN_XML = "http://schemas.openxmlformats.org";
const SPREADSHEET = `${OPEN_XML}/spreadsheetml/2006/main`;
const PACKAGE_RELATIONS = `${OPEN_XML}/package/2006/relationships`;
const DOCUMENT_RELATIONS = `${OPEN_XML}/officeDocument/2006/relationships`;

const spreadsheetPart = (path: string, kind: string): string =>
  `<Override PartName="/xl/${path}" ` +
  `ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.${kind}+xml"/>`;

const spreadsheetRelations = (
  ...targets: readonly (readonly [id: string, kind: string, target: string])[]
): string =>
  `<Relationships xmlns="${PACKAGE_RELATIONS}">${targets
    .map(
      ([id, kind, target]) =>
        `<Relationship Id="${id}" Type="${DOCUMENT_RELATIONS}/${kind}" Target="${target}"/>`,
    )
    .join("")}</Relationships>`;

export const xlsx = (rows: string, shared = ""): Promise<Buffer> =>
  makeZip({
    "[Content_Types].xml":
      `<Types xmlns="${OPEN_XML}/package/2006/content-types">` +
      '<Default Extension="xml" ContentType="application/xml"/>' +
      spreadsheetPart("workbook.xml", "sheet.main") +
      spreadsheetPart("worksheets/sheet1.xml", "worksheet") +
      spreadsheetPart("sharedStrings.xml", "sharedStrings") +
      "</Types>",
    "_rels/.rels": spreadsheetRelations(["rId1", "officeDocument", "xl/workbook.xml"]),
    "xl/_rels/workbook.xml.rels": spreadsheetRelations(
      ["rId1", "worksheet", "worksheets/sheet1.xml"],
      ["rId2", "sharedStrings", "sharedStrings.xml"],
    ),
    "xl/workbook.xml":
      `<workbook xmlns="${SPREADSHEET}" xmlns:r="${DOCUMENT_RELATIONS}">` +
      '<sheets><sheet name="A" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/worksheets/sheet1.xml":
      `<worksheet xmlns="${SPREADSHEET}">` + `<sheetData>${rows}</sheetData></worksheet>`,
    "xl/sharedStrings.xml": `<sst xmlns="${SPREADSHEET}"><si><t>shared</t></si>${shared}</sst>`,
  });

export const XLSX_MARKUP: readonly Shape[] = [
  nest("row", "c", "is", "t"),
  numbered("rows", (row) => `<row r="${row + 1}"><c r="A${row + 1}"><v>1</v></c></row>`),
  numbered(
    "rows of shared strings",
    (row) => `<row r="${row + 1}"><c r="A${row + 1}" t="s"><v>0</v></c></row>`,
  ),
  numbered(
    "cells far apart",
    (row) => `<row r="${row * 100 + 1}"><c r="XFD${row * 100 + 1}"><v>1</v></c></row>`,
  ),
  repeated('<row r="1"><c r="A1"><v>1</v></c></row>'),
  repeated('<c r="A1" t="inlineStr"><is><t>a</t></is></c>', '<row r="1">', "</row>"),
  repeated("<row"),
  repeated("<c><v>"),
  repeated("<f>A1</f>", '<row r="1"><c r="A1">', "</c></row>"),
];

export const ODS_MARKUP: readonly Shape[] = [
  repeated("<table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row>"),
  repeated(
    '<table:table-row table:number-rows-repeated="1000"><table:table-cell ' +
      'table:number-columns-repeated="100"><text:p>a</text:p></table:table-cell></table:table-row>',
  ),
  repeated(
    "<table:table-cell><text:p>a</text:p></table:table-cell>",
    "<table:table-row>",
    "</table:table-row>",
  ),
  nest("table:table-row-group"),
];

export const ods = (rows: string): Promise<Buffer> =>
  makeZip({
    mimetype: "application/vnd.oasis.opendocument.spreadsheet",
    "META-INF/manifest.xml":
      '<manifest:manifest><manifest:file-entry manifest:full-path="/" ' +
      'manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/></manifest:manifest>',
    "content.xml":
      "<office:document-content><office:body><office:spreadsheet>" +
      `<table:table table:name="A">${rows}</table:table>` +
      "</office:spreadsheet></office:body></office:document-content>",
  });
