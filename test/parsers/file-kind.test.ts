/** The kind of a file by its content, name and content type. */

import { expect, test } from "vitest";
import { DomainError } from "../../src/domain/errors.ts";
import { detectFileKind } from "../../src/parsers/file-kind.ts";
import { mayParseInWorker, parserFor } from "../../src/parsers/index.ts";
import { makePdf } from "../support/files/text.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489", "hex");
const OLE = Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(504)]);
const oleOf = (...streams: string[]): Buffer =>
  Buffer.concat([OLE, ...streams.map((name) => Buffer.from(name.padEnd(64, "\0"), "utf16le"))]);
const ZIP = Buffer.concat([
  Buffer.from("504b0304140000000000000000000000000000000000000000000500000061", "hex"),
  Buffer.from(".bin"),
  Buffer.alloc(64),
]);

test.each([
  ["a PDF under any name", makePdf([["x"]]), "notes.txt", undefined, "PDF"],
  [
    "a PDF with junk before it",
    Buffer.concat([Buffer.from([0, 1, 2]), makePdf([["x"]])]),
    "x",
    undefined,
    "PDF",
  ],
  ["text under a PDF's name", Buffer.from("no pdf"), "report.pdf", undefined, "PDF"],
  [
    "Markdown that speaks of PDF",
    Buffer.from("# About\n\n%PDF-1.7 is a header"),
    "about.md",
    undefined,
    "MARKDOWN",
  ],
  ["Markdown by content type", Buffer.from("# x"), "README", "text/markdown; charset=utf-8", "MARKDOWN"],
  ["text that begins like a bitmap", Buffer.from("BMW sold more cars."), "news.txt", undefined, "TEXT"],
  ["text with no name", Buffer.from("hello"), "", undefined, "TEXT"],
  ["text cut within a character", Buffer.from("Grüße").subarray(0, 3), "a.txt", undefined, "TEXT"],
  ["Latin-1 text", Buffer.from("Gr\xfc\xdfe", "latin1"), "a.txt", undefined, "TEXT"],
  ["UTF-16 text", Buffer.from("\uFEFFhello", "utf16le"), "a.txt", undefined, "TEXT"],
  ["text with a stray NUL", Buffer.from("a\0b"), "a.txt", undefined, "TEXT"],
  ["code", Buffer.from("let a = 1;"), "main.ts", undefined, "CODE"],
  ["CSV", Buffer.from("a,b\n1,2"), "t.csv", undefined, "CSV"],
  ["JSON without a name", Buffer.from('{"a": 1}'), "data", undefined, "JSON"],
  ["HTML saved as .xls", Buffer.from("<html><table>"), "t.xls", undefined, "HTML"],
  ["XML", Buffer.from('<?xml version="1.0"?><a/>'), "a", undefined, "XML"],
  ["rich text", Buffer.from("{\\rtf1 hello}"), "a.doc", undefined, "RTF"],
  ["a mail", Buffer.from("From: a@example.com\r\nSubject: Hi\r\n\r\nHello"), "mail", undefined, "EML"],
  ["an old Word file", OLE, "a.doc", undefined, "DOC"],
  ["a spreadsheet saved as .doc", oleOf("Workbook"), "a.doc", undefined, "XLS"],
  ["an old Word file with a spreadsheet in it", oleOf("Workbook", "WordDocument"), "a.doc", undefined, "DOC"],
  ["an old presentation without a name", oleOf("PowerPoint Document"), "x", undefined, "PPT"],
  ["a new document with a password", oleOf("WordDocument", "EncryptedPackage"), "a.docx", undefined, "DOCX"],
  ["an Outlook message", OLE, "a.msg", undefined, "MSG"],
  ["a ZIP", ZIP, "a.zip", undefined, "ZIP"],
  ["a binary workbook", ZIP, "a.xlsb", undefined, "XLSX"],
  ["an image", PNG, "a.jpg", undefined, "PNG"],
  [
    "an astronomer's picture, whose head is words",
    Buffer.from(`SIMPLE  =                    T${"BITPIX  =                    8".padEnd(80)}`),
    "a.fits",
    undefined,
    "OTHER",
  ],
  [
    "an astronomer's picture that is called text",
    Buffer.from("XTENSION= 'IMAGE   '"),
    "a.txt",
    undefined,
    "OTHER",
  ],
  ["a document of Pages, by its name", ZIP, "a.pages", undefined, "OTHER"],
  [
    "a document of Pages, by what it holds",
    Buffer.concat([ZIP, Buffer.from("Index/Document.iwa")]),
    "a.zip",
    undefined,
    "OTHER",
  ],
  [
    "a document of OpenOffice 1",
    Buffer.concat([ZIP.subarray(0, 30), Buffer.from("mimetypeapplication/vnd.sun.xml.writer")]),
    "a.sxw",
    undefined,
    "OTHER",
  ],
  ["bytes that nothing tells", Buffer.from([1, 2, 3, 0, 255, 254]), "a", undefined, "OTHER"],
  ["nothing, by its name", Buffer.alloc(0), "a.pdf", undefined, "PDF"],
])("%s", async (...[, head, filename, contentType, expected]) => {
  expect((await detectFileKind(head, filename, contentType)).fileType).toBe(expected);
});

test("a type that no parser reads is refused with its code", () => {
  expect(() => parserFor("OTHER")).toThrow(DomainError);
});

test("only small files of harmless parsers may be parsed by the worker itself", () => {
  expect([
    mayParseInWorker(parserFor("TEXT"), 1000),
    mayParseInWorker(parserFor("TEXT"), 50_000_000),
    mayParseInWorker(parserFor("PDF"), 1000),
  ]).toEqual([true, false, false]);
});
