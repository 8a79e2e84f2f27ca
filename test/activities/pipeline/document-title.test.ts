/** The title of a document, and that no other line is taken for one. */
import { expect, test } from "vitest";
import { titleOf } from "../../../src/activities/pipeline/document-title.ts";
import type { ParsedDocument, TextUnit } from "../../../src/domain/text-unit.ts";
import { text } from "../../../src/parsers/text/plain.ts";
import { markdown } from "../../../src/parsers/text/markdown.ts";

const unit = (type: TextUnit["type"], content: string): TextUnit => ({
  type,
  text: content,
  page: null,
  heading_path: [],
  ...(type === "heading" ? { level: 1 } : {}),
});

const documentOf = (units: TextUnit[], title?: string): ParsedDocument => ({
  parser_name: "docx",
  units,
  page_count: null,
  metadata: title === undefined ? {} : { title },
  warnings: [],
});

const plainTitle = async (content: string): Promise<string> =>
  titleOf(await text.parse({ fileType: "TEXT", bytes: Buffer.from(content), name: "a.txt" }));

const WORDS = "the quick brown fox jumps over the lazy dog and rests";
const ABSTRACT = `${WORDS}. `.repeat(20).trim();

test("what the document says itself goes before its headings", () => {
  const units = [unit("paragraph", "1 May"), unit("heading", "Report of May"), unit("paragraph", WORDS)];
  expect(titleOf(documentOf(units, "  The\n report "))).toBe("The report");
  expect(titleOf(documentOf(units))).toBe("Report of May");
});

test("the name of a file and a program's own words are no title", () => {
  const units = [unit("heading", "Foxes"), unit("paragraph", WORDS)];
  for (const none of [
    "Microsoft Word - fox.doc",
    "fox.PDF",
    "paper.dvi",
    "Untitled-1",
    "PowerPoint Presentation",
  ])
    expect([none, titleOf(documentOf(units, none))]).toEqual([none, "Foxes"]);
  for (const title of ["Version 2.0", "Introduction to Node.js", "Untitled poems of a fox"])
    expect(titleOf(documentOf(units, title))).toBe(title);
});

test("a heading far from the front and a running header are no title", () => {
  const far = [...Array.from({ length: 12 }, () => unit("paragraph", WORDS)), unit("heading", "Appendix")];
  expect(titleOf(documentOf(far))).toBe("");
  const running = [{ ...unit("heading", "Confidential"), repeats: true }, unit("heading", "Foxes")];
  expect(titleOf(documentOf(running))).toBe("Foxes");
});

test("the heading of the first of several sections is no title, unless it is of the highest level", () => {
  const sections = (level: number) =>
    ["Foxes", "Hares"].flatMap((name) => [{ ...unit("heading", name), level }, unit("paragraph", WORDS)]);
  expect(titleOf(documentOf(sections(2)))).toBe("");
  expect(titleOf(documentOf(sections(2).slice(0, 3)))).toBe("");
  expect(titleOf(documentOf(sections(2).slice(0, 2)))).toBe("Foxes");
  expect(titleOf(documentOf(sections(1)))).toBe("Foxes");
  expect(titleOf(documentOf([unit("heading", "Sheet1"), unit("paragraph", WORDS)]))).toBe("");
});

test("the first line of plain text is none, as nothing marks it as one", async () => {
  expect(await plainTitle(`A survey of foxes\n${ABSTRACT}`)).toBe("");
  expect(await plainTitle(`A survey of foxes\n\n${ABSTRACT}`)).toBe("");
});

test("a title in front matter or the first heading of Markdown", async () => {
  const parse = (content: string) =>
    markdown.parse({ fileType: "MARKDOWN", bytes: Buffer.from(content), name: "a.md" });
  expect(titleOf(await parse(`---\ntitle: Foxes\n---\n\n# Other\n\n${WORDS}`))).toBe("Foxes");
  expect(titleOf(await parse(`# Other\n\n${WORDS}`))).toBe("Other");
});
