/** Postings: what search finds in them, and what indexing again changes. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inTenant } from "../../../src/db/pool.ts";
import { countIndexedTerms } from "../../../src/search/index/indexed-terms.ts";
import { insertPostings } from "../../../src/search/index/postings.ts";
import { foldStatistics } from "../../../src/db/search/index/statistics.ts";
import { type TestDatabase, createTestDatabase } from "../../support/servers/database.ts";
import {
  type IndexedDocument,
  expectRanking,
  hideDocument,
  indexDocument,
  newRunNum,
  numbersOf,
  rankChunks,
  scopeOf,
  someChunk,
  someTerm,
} from "../../support/stack/indexed-documents.ts";
import { createOrganization, createSpace } from "../../support/stack/search-space.ts";
import { addStatistics } from "../../support/stack/statistics.ts";

let database: TestDatabase;
let db: TestDatabase["db"];
let organization: Awaited<ReturnType<typeof createOrganization>>;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.db;
  organization = await createOrganization(db);
});
afterAll(() => database.drop());

/** Terms of a text, and of a header. */
const someFields = fc.tuple(someChunk, fc.array(someTerm, { maxLength: 4 }));
const someDocuments = fc.array(fc.array(someFields, { minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 10,
});

test("scores are those of BM25 with headers as a second field for any corpus, ties are in the order of run and index", async () => {
  await fc.assert(
    fc.asyncProperty(
      someDocuments,
      fc.array(someTerm, { minLength: 1, maxLength: 5 }),
      async (corpora, query) => {
        const target = await createSpace(db, organization);
        const documents: IndexedDocument[] = [];
        for (const chunks of corpora) {
          const [texts, headers] = [chunks.map(([terms]) => terms), chunks.map(([, terms]) => terms)];
          documents.push(await indexDocument(db, target, texts, headers));
        }
        await expectRanking(db, target, documents, query);
      },
    ),
    { numRuns: 20 },
  );
});

test("a hidden run is neither found nor counted until it is shown again", async () => {
  const target = await createSpace(db, organization);
  const first = await indexDocument(db, target, [["a", "b"], ["a"], ["c"]]);
  const second = await indexDocument(db, target, [["a", "a"]]);
  await hideDocument(db, target, second);
  await expectRanking(db, target, [first], ["a"]);
  await inTenant(db, target.organization, async (sql) => {
    await sql.query("delete from hidden_runs where run_num = $1", [second.runNum]);
    await addStatistics(sql, { ...numbersOf(target), chunks: 1, terms: 2 });
    await foldStatistics(sql, numbersOf(target).organizationNum, target.space.num);
  });
  await expectRanking(db, target, [first, second], ["a"]);
  expect(await scopeOf(db, target)).toMatchObject({ chunks: 4, terms: 6 });
});

test("postings of a space are invisible in other spaces and organizations", async () => {
  const target = await createSpace(db, organization);
  const stranger = await createSpace(db, await createOrganization(db));
  await indexDocument(db, target, [["a"]]);
  expect(await rankChunks(db, await createSpace(db, organization), ["a"], 100)).toEqual([]);
  expect(await rankChunks(db, { ...stranger, space: target.space }, ["a"], 100)).toEqual([]);
  expect(await scopeOf(db, { ...stranger, space: target.space })).toMatchObject({ chunks: 0, terms: 0 });
  await indexDocument(db, { ...target, organization: stranger.organization }, [["a"]]);
  expect(await rankChunks(db, target, ["a"], 100)).toHaveLength(1);
});

test("indexing a part of a run again changes nothing, even if two do it at the same time", async () => {
  const target = await createSpace(db, organization);
  const runNum = newRunNum();
  const write = (chunkIndex: number) =>
    inTenant(db, target.organization, (sql) =>
      insertPostings(
        sql,
        numbersOf(target),
        [{ runNum, chunkIndex, terms: ["a", "a", "b"], headerTerms: ["a", "c"] }],
        1,
      ),
    );
  const [one, other] = await Promise.all([write(0), write(0)]);
  expect((one.get(runNum) ?? 0) + (other.get(runNum) ?? 0)).toBe(3);
  await write(512);
  const { rows: segments } = await db.owner.query<{ num: number }>(
    "select num from posting_segments where space_num = $1",
    [target.space.num],
  );
  const terms = await countIndexedTerms(
    db.owner,
    segments.map((segment) => segment.num),
  );
  expect(terms).toEqual(new Map([[runNum, 6]]));
});
