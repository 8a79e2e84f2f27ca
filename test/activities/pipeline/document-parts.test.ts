/** The parts of a document together make the document, whichever of them were read before. */

import { describe, expect, test } from "vitest";
import {
  type Checkpoint,
  documentParts,
  onlyPart,
  type DocumentPart,
} from "../../../src/activities/pipeline/document-parts.ts";
import { type ParsedDocument, type TextUnit, unitsAsMarkdown } from "../../../src/domain/text-unit.ts";
import { createHeadingPath } from "../../../src/parsers/heading-path.ts";

const TOTAL = 230;
const SILENT = [51, 100];

/** Parses a document with a heading every 70 pages; a parser sees only the headings of its own pages. */
async function parse([first, last]: readonly [number, number]): Promise<ParsedDocument> {
  const path = createHeadingPath();
  const units: TextUnit[] = [];
  for (let page = first; page <= Math.min(last, TOTAL); page++) {
    if (page % 70 === 1)
      units.push({
        type: "heading",
        level: page === 71 ? 2 : 1,
        text: `Chapter at ${page}`,
        page,
        heading_path: path.enter(page === 71 ? 2 : 1, `Chapter at ${page}`),
      });
    units.push({ type: "paragraph", text: `Text of ${page}.`, page, heading_path: path.current() });
  }
  const left = first === SILENT[0];
  return {
    parser_name: "p",
    units: left ? [] : units,
    page_count: TOTAL,
    metadata: first === 1 ? { title: "T" } : {},
    warnings: left ? [{ pages: [51, 100], code: "timeout" }] : [],
  };
}

async function collect(from: Checkpoint | null): Promise<DocumentPart[]> {
  const parts: DocumentPart[] = [];
  for await (const part of documentParts(parse, from)) parts.push(part);
  return parts;
}

describe("parts", () => {
  test("hold every page once, under the headings of the parts before", async () => {
    const parts = await collect(null);
    const units = parts.flatMap((part) => part.document.units);
    expect(parts).toHaveLength(5);
    expect(new Set(units.map((unit) => unit.page)).size).toBe(TOTAL - 50);
    expect(parts.map((part) => part.title)).toEqual(parts.map(() => "T"));
    expect(units.find((unit) => unit.text === "Text of 130.")?.heading_path).toEqual(["Chapter at 1"]);
    expect(units.find((unit) => unit.text === "Text of 200.")?.heading_path).toEqual(["Chapter at 141"]);
    expect(parts.at(-1)).toMatchObject({
      next: null,
      document: { metadata: { title: "T" }, warnings: [{ pages: [51, 100], code: "timeout" }] },
    });
  });

  test("say where their units stand in the whole text", async () => {
    const units = (await collect(null)).flatMap((part) => part.document.units);
    const markdown = unitsAsMarkdown(units);
    for (const unit of units) expect(markdown.slice(unit.start, unit.end)).toBe(unit.text);
  });

  test("go on from any checkpoint as if nothing had been between", async () => {
    const whole = await collect(null);
    for (const [index, part] of whole.entries()) {
      if (part.next === null) continue;
      const rest = await collect(JSON.parse(JSON.stringify({ ...part.next, chunks: 7 })));
      expect(rest).toEqual(whole.slice(index + 1));
    }
  });

  test("a document without pages is one", async () => {
    const part = onlyPart(await parse([1, 30]));
    expect(part.next).toBeNull();
    expect(part.document.units[1]).toMatchObject({ text: "Text of 1.", start: 16, end: 26 });
  });
});

test("every part has the title that the first one found, and none if that found none", async () => {
  const untitled =
    (front: TextUnit[]) =>
    async (pages: readonly [number, number]): Promise<ParsedDocument> => {
      const parsed = await parse(pages);
      return { ...parsed, metadata: {}, units: pages[0] === 1 ? front : parsed.units };
    };
  const titles = async (front: TextUnit[]): Promise<string[]> => {
    const found: string[] = [];
    for await (const { title } of documentParts(untitled(front), null)) found.push(title);
    return found;
  };
  const words: TextUnit = { type: "paragraph", text: "Words.", page: 1, heading_path: [] };
  expect(new Set(await titles([words]))).toEqual(new Set([""]));
  expect(new Set(await titles([{ ...words, type: "heading", level: 1, text: "Foxes" }, words]))).toEqual(
    new Set(["Foxes"]),
  );
});
