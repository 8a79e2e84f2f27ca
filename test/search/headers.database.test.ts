/** Search with headers: titles and headings are found, and nothing of a hit shows them. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { inTenant } from "../../src/db/pool.ts";
import { eachPosting, unpackChunks } from "../../src/search/index/posting-blocks.ts";
import { LIST_ROW } from "../../src/db/search/index/postings.ts";
import { findOutdatedSegment, readSegmentTexts } from "../../src/db/search/index/reindex.ts";
import { rewriteSegment } from "../../src/search/index/reindex.ts";
import { readBlock } from "../../src/search/index/term-blocks.ts";
import { ANALYZER_VERSION } from "../../src/search/text/analyzer.ts";
import { chunkTerms } from "../../src/search/text/chunk-terms.ts";
import { type FoxSpace, along, createFoxSpace } from "../support/stack/fox-space.ts";
import { type SearchSpace, createSpace, publishDocuments } from "../support/stack/search-space.ts";

let foxes: FoxSpace;
let space: SearchSpace;

const HEADER = "Migration of storks\nResults";
const LATER = "They left in autumn and came back in spring.";

beforeAll(async () => {
  foxes = await createFoxSpace();
  space = await createSpace(foxes.database.db, foxes.organization);
  await publishDocuments(foxes.database.db, space, [
    {
      name: "storks.txt",
      chunks: [
        { header: "", text: "Migration of storks\nWe watched them for years.", vector: along(1) },
        { header: HEADER, text: LATER, vector: along(0, 0.2) },
      ],
    },
    { name: "old.txt", chunks: [{ text: `${LATER} So say storks.`, vector: along(0, 0.4) }] },
    { name: "swifts.txt", chunks: [{ header: "Swifts", text: "They left early.", vector: along(2) }] },
  ]);
});
afterAll(() => foxes.drop());

const search = async (query: string) => (await foxes.search({ query, limit: 100 }, space)).results;

test("a query for words of the title alone finds the chunks that do not say them", async () => {
  const hits = await search("migration results");
  const later = hits.find((hit) => hit.text === LATER)!;
  expect(later.sparse_score).toBeGreaterThan(0);
  expect(later.metadata.highlights).toEqual([]);
  expect(hits[0]).toBe(later);
  expect(JSON.stringify(hits)).not.toContain(HEADER.split("\n")[1]);
});

test("chunks of versions before 0.10.0 are in the same ranking", async () => {
  const hits = await search("storks in autumn");
  expect(hits.map((hit) => [hit.document_name, hit.chunk_index])).toEqual([
    ["storks.txt", 1],
    ["old.txt", 0],
    ["storks.txt", 0],
    ["swifts.txt", 0],
  ]);
  const shares = hits.map((hit) => hit.sparse_score);
  // The same words, once in the header and once in a text that is a little longer for them.
  expect(shares[0]! / shares[1]!).toBeCloseTo(1, 0);
  expect(shares[0]).toBeGreaterThan(shares[1]!);
  expect(hits.every((hit) => hit.score === (hit.dense_score ?? 0) + (hit.sparse_score ?? 0))).toBe(true);
});

test("a required phrase stands in the text; an excluded word excludes by the header too", async () => {
  const names = async (query: string): Promise<string[]> =>
    (await search(query)).map((hit) => `${hit.document_name} ${hit.chunk_index}`).toSorted();
  expect(await names('"migration of storks"')).toEqual(["storks.txt 0"]);
  expect(await names("left -storks")).toEqual(["swifts.txt 0"]);
  expect(await names('left -"migration of storks"')).toEqual(["old.txt 0", "storks.txt 1", "swifts.txt 0"]);
});

test("a header is in the language that it shows, else in that of its text", async () => {
  const found = async (header: string, text: string): Promise<number> => {
    const target = await createSpace(foxes.database.db, foxes.organization);
    await publishDocuments(foxes.database.db, target, [{ chunks: [{ header, text }] }]);
    return (await foxes.search({ query: "Haus" }, target)).results.length;
  };
  expect(
    await found("Die Häuser und die Straßen der Stadt", "They are old and there are many of them."),
  ).toBe(1);
  expect(await found("Alte Häuser", "Sie sind nicht für die Ewigkeit gebaut.")).toBe(1);
  expect(await found("Alte Häuser", "They are not built for the ages.")).toBe(0);
});

/** The counts of every term by chunk, and the length of every chunk. */
async function indexOf(target: SearchSpace): Promise<Map<string, number>> {
  const { rows } = await foxes.database.db.owner.query<{
    segment_num: number;
    first_term: string;
    data: Buffer;
  }>(
    `select segment_num, first_term, data
     from postings
     where space_num = $1
     order by segment_num, first_term`,
    [target.space.num],
  );
  const index = new Map<string, number>();
  for (const blocks of Map.groupBy(rows, (row) => row.segment_num).values()) {
    expect(blocks[0]!.first_term).toBe(LIST_ROW);
    const { runs, chunks, lengths } = unpackChunks(blocks[0]!.data);
    const nameOf = (place: number): string => `${runs[place]}/${chunks[place]}`;
    lengths.forEach((length, place) => index.set(nameOf(place), length));
    for (const { data } of blocks.slice(1))
      readBlock(data, (term, postings) =>
        eachPosting(postings, (place, count) => index.set(`${nameOf(place)} ${term}`, count)),
      );
  }
  return index;
}

test("indexed again from what is stored, the postings are the same", async () => {
  const before = await indexOf(space);
  expect(before.size).toBeGreaterThan(20);
  const totals = async () =>
    (
      await foxes.database.db.owner.query(
        `select sum(terms)::int as terms, sum(header_terms)::int as header_terms
         from posting_runs
         where space_num = $1`,
        [space.space.num],
      )
    ).rows[0];
  const counted = await totals();
  expect(counted.header_terms).toBeGreaterThan(0);
  const again = ANALYZER_VERSION + 1;
  await inTenant(foxes.database.db, space.organization, async (sql) => {
    const segmentNum = (await findOutdatedSegment(sql, space.space.num, again))!;
    const chunks = (await readSegmentTexts(sql, segmentNum)).map((chunk) => ({
      runNum: chunk.run_num,
      chunkIndex: chunk.chunk_index,
      ...chunkTerms(chunk),
    }));
    const target = { organizationNum: space.organization.num, spaceNum: space.space.num };
    expect(await rewriteSegment(sql, { ...target, segmentNum, analyzerVersion: again }, chunks)).toBe(true);
  });
  expect(await indexOf(space)).toEqual(before);
  expect(await totals()).toEqual(counted);
});
