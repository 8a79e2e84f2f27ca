/** Pages that crash their parser do not affect other pages. */

import { afterAll, beforeAll, expect, test } from "vitest";
import type { ParsedDocument } from "../../src/domain/text-unit.ts";
import { createParserPool, type ParserPool } from "../../src/parsers/process/child-process.ts";
import { parsePages } from "../../src/parsers/page-range.ts";

let pool: ParserPool;

beforeAll(() => {
  pool = createParserPool({
    size: 1,
    entry: new URL("../support/processes/misbehaving-child.ts", import.meta.url),
  });
});

afterAll(() => pool.close());

const parse = (killer: string, pages: readonly [number, number]): Promise<ParsedDocument> =>
  parsePages(pool, { fileType: "PDF", bytes: Buffer.from(`pages:${killer}`) }, pages, {});

test("a range that ends the first parser is read by the second", async () => {
  expect(await parse("55", [1, 50])).toMatchObject({ parser_name: "first", warnings: [] });
  const parsed = await parse("55", [51, 60]);
  expect(parsed).toMatchObject({ parser_name: "second", warnings: [] });
  expect(parsed.units.map((unit) => unit.page)).toEqual([51, 52, 53, 54, 55, 56, 57, 58, 59, 60]);
});

test("a range that ends both is left out with a warning, and adjacent pages are complete", async () => {
  expect(await parse("55 both", [51, 100])).toMatchObject({
    units: [],
    page_count: 60,
    warnings: [{ pages: [51, 60], code: "worker_crashed" }],
  });
  expect((await parse("55 both", [1, 50])).units).toHaveLength(50);
});

test("a document that consists of one such range fails with its code", async () => {
  await expect(parse("1 both", [1, 100])).rejects.toMatchObject({ code: "worker_crashed" });
});
