/** Makes office documents to parse from text that the test knows, mostly by libraries that write them. */

import { buffer } from "node:stream/consumers";
import { utils, write, type BookType } from "@e965/xlsx";
import {
  CommentRangeEnd,
  CommentRangeStart,
  CommentReference,
  Document,
  Footer,
  FootnoteReferenceRun,
  Header,
  HeadingLevel,
  LevelFormat,
  Packer,
  Paragraph,
  Table,
  TableCell,
  TableRow,
  TextRun,
} from "docx";
import pptxgen from "pptxgenjs";
import { ZipFile } from "yazl";

const paragraph = (text: string): Paragraph => new Paragraph({ text });
const item = (text: string, reference: string, level = 0): Paragraph =>
  new Paragraph({ text, numbering: { reference, level } });
const cell = (text: string, columnSpan = 1): TableCell =>
  new TableCell({ children: [paragraph(text)], columnSpan });

/** Makes a Word document with headings, a paragraph with a comment and a footnote, lists, and a table. */
export async function makeDocx(): Promise<Buffer> {
  const document = new Document({
    title: "The plan",
    creator: "Ann",
    comments: { children: [{ id: 0, author: "Bo", children: [paragraph("Is this so?")] }] },
    footnotes: { 1: { children: [paragraph("A note at the foot.")] } },
    numbering: {
      config: [{ reference: "numbers", levels: [{ level: 0, format: LevelFormat.DECIMAL, text: "%1." }] }],
    },
    sections: [
      {
        headers: { default: new Header({ children: [paragraph("Confidential")] }) },
        footers: { default: new Footer({ children: [paragraph("Company footer")] }) },
        children: [
          new Paragraph({ text: "Plan", heading: HeadingLevel.HEADING_1 }),
          new Paragraph({
            children: [
              new CommentRangeStart(0),
              new TextRun("We build "),
              new TextRun({ text: "bold", bold: true }),
              new TextRun(" things."),
              new CommentRangeEnd(0),
              new TextRun({ children: [new CommentReference(0)] }),
              new FootnoteReferenceRun(1),
            ],
          }),
          new Paragraph({ text: "Steps", heading: HeadingLevel.HEADING_2 }),
          new Paragraph({ text: "first point", bullet: { level: 0 } }),
          new Paragraph({ text: "nested point", bullet: { level: 1 } }),
          item("one", "numbers"),
          item("two", "numbers"),
          new Table({
            rows: [
              new TableRow({ children: [cell("Name"), cell("Count"), cell("Price")] }),
              new TableRow({ children: [cell("Apple | Pear"), cell("3"), cell("1.50")] }),
              new TableRow({ children: [cell("Total", 2), cell("4.50")] }),
            ],
          }),
          paragraph("مرحبا بالعالم"),
          paragraph("数据库系统は速い。"),
        ],
      },
    ],
  });
  return Packer.toBuffer(document);
}

/**
 * Makes a presentation of two slides: one has a title with bullets, a table and notes, the other has no
 * title.
 */
export async function makePptx(): Promise<Buffer> {
  // The package's types describe its CommonJS build, in which the class is nested one level deeper.
  const deck = new (pptxgen as unknown as typeof pptxgen.default)();
  deck.title = "The deck";
  deck.author = "Ann";
  deck.defineSlideMaster({
    title: "TITLED",
    objects: [
      { placeholder: { options: { name: "title", type: "title", x: 1, y: 0.2, w: 8, h: 1 }, text: "" } },
    ],
  });
  const first = deck.addSlide({ masterName: "TITLED" });
  first.addText("Results", { placeholder: "title" });
  first.addText(
    ["up", "down"].map((text) => ({ text, options: { bullet: true, breakLine: true } })),
    { x: 1, y: 2, w: 4, h: 2 },
  );
  first.addTable([["Name", "Count"].map((text) => ({ text })), ["Apple", "3"].map((text) => ({ text }))], {
    x: 1,
    y: 4,
  });
  first.addNotes("Say it slowly.");
  deck.addSlide().addText("No title here.", { x: 1, y: 1, w: 5, h: 1 });
  return (await deck.write({ outputType: "nodebuffer" })) as Buffer;
}

/**
 * Makes a workbook of two sheets: one has a table with a caption, a date and a comment, the other has two
 * tables with an empty row between them.
 */
export function makeSheets(bookType: BookType): Buffer {
  const first = utils.aoa_to_sheet(
    [
      ["Stock"],
      ["Name", "Count", "Since"],
      ["Apple", 3, new Date(Date.UTC(2026, 0, 17))],
      ["Größe 数据", 1.5, null],
    ],
    { UTC: true },
  );
  if (bookType === "xlsx") first["A3"]!.c = [{ a: "Bo", t: "Count again" }];
  const second = utils.aoa_to_sheet([["a", "b"], [1, 2], [], ["c", "d"], [3, 4]]);
  const book = utils.book_new();
  utils.book_append_sheet(book, first, "Fruit");
  utils.book_append_sheet(book, second, "More");
  book.Props = { Title: "The stock", Author: "Ann" };
  return write(book, { type: "buffer", bookType, cellDates: true }) as Buffer;
}

/**
 * Makes an archive of these files. The first is stored uncompressed, as OpenDocument and EPUB demand of their
 * `mimetype`.
 */
export async function makeZip(files: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const zip = new ZipFile();
  Object.entries(files).forEach(([name, content], index) =>
    zip.addBuffer(
      Buffer.from(content as string),
      name,
      index > 0 ? { compressionLevel: 1 } : { compress: false },
    ),
  );
  zip.end();
  return buffer(zip.outputStream as unknown as AsyncIterable<Buffer>);
}

const ODF_NAMESPACES = ["office", "text", "table", "draw", "style", "presentation", "dc", "meta"]
  .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(" ");

/** @param body the markup inside `office:body`. */
export function makeOdf(kind: "text" | "presentation", body: string): Promise<Buffer> {
  const root = (name: string, inner: string): string =>
    `<?xml version="1.0" encoding="UTF-8"?><office:${name} ${ODF_NAMESPACES}>${inner}</office:${name}>`;
  return makeZip({
    mimetype: `application/vnd.oasis.opendocument.${kind}`,
    "content.xml": root(
      "document-content",
      '<office:automatic-styles><text:list-style style:name="L1"><text:list-level-style-number ' +
        'text:level="1"/></text:list-style></office:automatic-styles>' +
        `<office:body><office:${kind}>${body}</office:${kind}></office:body>`,
    ),
    "styles.xml": root(
      "document-styles",
      "<office:master-styles><style:master-page><style:header><text:p>Confidential</text:p>" +
        "</style:header></style:master-page></office:master-styles>",
    ),
    "meta.xml": root(
      "document-meta",
      "<office:meta><dc:title>The plan</dc:title><meta:initial-creator>Ann</meta:initial-creator>" +
        "</office:meta>",
    ),
  });
}

/** Makes a book whose chapters have these XHTML bodies. */
export function makeEpub(chapters: readonly string[]): Promise<Buffer> {
  const files = Object.fromEntries(
    chapters.map((body, index) => [
      `OEBPS/chapter ${index}.xhtml`,
      '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="x"/>' +
        `</head><body>${body}</body></html>`,
    ]),
  );
  return makeZip({
    mimetype: "application/epub+zip",
    "META-INF/container.xml":
      '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
    "OEBPS/book.opf":
      "<package><metadata><dc:title>The book</dc:title><dc:creator>Ann</dc:creator>" +
      "<dc:language>de</dc:language></metadata><manifest>" +
      chapters
        .map(
          (_, index) =>
            `<item id="c${index}" href="chapter%20${index}.xhtml" media-type="application/xhtml+xml"/>`,
        )
        .join("") +
      `</manifest><spine>${chapters.map((_, index) => `<itemref idref="c${index}"/>`).join("")}</spine>` +
      "</package>",
    ...files,
  });
}
