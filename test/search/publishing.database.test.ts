import { afterAll, beforeAll, expect, test } from "vitest";
import { type Sql, inTenant } from "../../src/db/pool.ts";
import { findSegmentsToPurge } from "../../src/db/search/index/due-segments.ts";
import { mergeSegments, purgeSegment } from "../../src/search/index/segments.ts";
import { type FoxSpace, along, createFoxSpace } from "../support/stack/fox-space.ts";
import { createSpace, publishDocuments, republishDocument } from "../support/stack/search-space.ts";

let foxes: FoxSpace;
beforeAll(async () => {
  foxes = await createFoxSpace();
});
afterAll(() => foxes.drop());

test(
  "while a document is published a thousand times, each search sees one whole version of it",
  { timeout: 300_000 },
  async () => {
    const space = await createSpace(foxes.database.db, foxes.organization);
    const version = (number: number) => ({
      chunks: [0, 1].map((part) => ({
        text: `fox part ${part} of version ${number}`,
        vector: along(part, number / 2_000),
      })),
    });
    const [document] = await publishDocuments(foxes.database.db, space, [version(0)]);
    let runNum = document!.runNum;
    let isPublishing = true;
    const publisher = (async () => {
      for (let number = 1; number <= 1_000; number++)
        runNum = await republishDocument(
          foxes.database.db,
          space,
          { id: document!.id, runNum },
          version(number),
        );
    })().finally(() => {
      isPublishing = false;
    });
    const tenant = <T>(work: (sql: Sql) => Promise<T>): Promise<T> =>
      inTenant(foxes.database.db, space.organization, work);
    const tidier = (async () => {
      while (isPublishing) {
        for (const segment of await tenant((sql) => findSegmentsToPurge(sql, { spaceNum: space.space.num })))
          await tenant((sql) => purgeSegment(sql, segment));
        await tenant((sql) => mergeSegments(sql, space.organization.num, space.space.num));
      }
    })();
    const seen: string[][] = [];
    while (isPublishing) {
      const { results } = await foxes.search({ query: "fox" }, space);
      seen.push(results.map((hit) => `${hit.chunk_index} ${hit.text.split(" ").at(-1)}`).toSorted());
    }
    await Promise.all([publisher, tidier]);
    expect(seen.length).toBeGreaterThan(5);
    for (const hits of seen) {
      const number = hits[0]?.split(" ")[1];
      expect(hits).toEqual([`0 ${number}`, `1 ${number}`]);
    }
    expect(new Set(seen.map((hits) => hits[0])).size).toBeGreaterThan(1);
  },
);
