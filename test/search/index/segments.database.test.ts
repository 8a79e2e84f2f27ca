/** Segments of the inverted index: how they are merged and purged, and that rankings never change by it. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inTenant } from "../../../src/db/pool.ts";
import { findSegmentsToPurge, listDueSpaces } from "../../../src/db/search/index/due-segments.ts";
import { isMergeDue } from "../../../src/db/search/index/segments.ts";
import { mergeSegments, purgeSegment } from "../../../src/search/index/segments.ts";
import { type TestDatabase, createTestDatabase } from "../../support/servers/database.ts";
import {
  type IndexedDocument,
  expectRanking,
  hideDocument,
  indexDocument,
  rankChunks,
  someChunk,
  someTerm,
} from "../../support/stack/indexed-documents.ts";
import { type SearchSpace, createOrganization, createSpace } from "../../support/stack/search-space.ts";

let database: TestDatabase;
let db: TestDatabase["db"];
let organization: Awaited<ReturnType<typeof createOrganization>>;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.db;
  organization = await createOrganization(db);
});
afterAll(() => database.drop());

const merge = (target: SearchSpace): Promise<number> =>
  inTenant(db, target.organization, (sql) => mergeSegments(sql, organization.num, target.space.num));
const purge = async (target: SearchSpace, reason: "any" | { spaceNum: number }): Promise<number> => {
  const segments = await inTenant(db, target.organization, (sql) => findSegmentsToPurge(sql, reason));
  for (const segment of segments)
    expect(await inTenant(db, target.organization, (sql) => purgeSegment(sql, segment))).toBe(false);
  return segments.length;
};
const rows = async (target: SearchSpace, table: string): Promise<number> =>
  (
    await db.owner.query(`select count(*)::int as count from ${table} where space_num = $1`, [
      target.space.num,
    ])
  ).rows[0].count;

test(
  "segments give the same ranking whatever was indexed, hidden, merged and purged, in any order",
  { timeout: 240_000 },
  async () => {
    const step = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          kind: fc.constant("index" as const),
          corpus: fc.array(someChunk, { minLength: 1, maxLength: 3 }),
        }),
      },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant("hide" as const), which: fc.nat() }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("merge" as const, "purge" as const) }) },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 12, maxLength: 40 }),
        fc.array(someTerm, { minLength: 1, maxLength: 4 }),
        async (steps, query) => {
          const target = await createSpace(db, organization);
          const live: IndexedDocument[] = [];
          for (const one of steps) {
            if (one.kind === "index")
              live.push(
                await indexDocument(
                  db,
                  target,
                  one.corpus,
                  one.corpus.map((terms) => terms.slice(-2)),
                ),
              );
            else if (one.kind === "hide")
              for (const document of live.splice(one.which % Math.max(1, live.length), 1))
                await hideDocument(db, target, document);
            else if (one.kind === "merge") await merge(target);
            else await purge(target, "any");
            if (one.kind !== "index") await expectRanking(db, target, live, query);
          }
          await expectRanking(db, target, live, query);
          await purge(target, "any");
          expect(await rows(target, "hidden_runs")).toBe(0);
          expect(await rows(target, "posting_runs")).toBe(live.length);
          await expectRanking(db, target, live, query);
        },
      ),
      { numRuns: 12 },
    );
  },
);

test("four segments are merged into one, which has the postings of all", async () => {
  const target = await createSpace(db, organization);
  const documents: IndexedDocument[] = [];
  for (let at = 0; at < 3; at++) documents.push(await indexDocument(db, target, [["a", `only${at}`]]));
  expect(await merge(target)).toBe(0);
  documents.push(await indexDocument(db, target, [["a", "b"]]));
  expect((await listDueSpaces(db.system, 1, 1_000)).map((due) => due.spaceNum)).toContain(target.space.num);
  expect(await merge(target)).toBe(4);
  expect(await rows(target, "posting_segments")).toBe(1);
  // One block of terms, and the list of chunks.
  expect(await rows(target, "postings")).toBe(2);
  expect((await listDueSpaces(db.system, 1, 1_000)).map((due) => due.spaceNum)).not.toContain(
    target.space.num,
  );
  await expectRanking(db, target, documents, ["a", "only2"]);
});

test("a segment is purged once a tenth of its postings is dead, and dropped when all are", async () => {
  const target = await createSpace(db, organization);
  const documents: IndexedDocument[] = [];
  for (let at = 0; at < 16; at++) documents.push(await indexDocument(db, target, [["a", `only${at}`]]));
  let merged = await merge(target);
  while (merged > 0) merged = await merge(target);
  await hideDocument(db, target, documents[0]!);
  expect(await purge(target, { spaceNum: target.space.num })).toBe(0);
  await hideDocument(db, target, documents[1]!);
  expect(await purge(target, { spaceNum: target.space.num })).toBe(1);
  expect(await rows(target, "hidden_runs")).toBe(0);
  const left = await db.owner.query("select data from postings where space_num = $1", [target.space.num]);
  expect(Buffer.concat(left.rows.map((row) => row.data)).toString("latin1")).not.toMatch(/only[01]\b/);
  await expectRanking(db, target, documents.slice(2), ["a", "only5"]);
  for (const document of documents.slice(2)) await hideDocument(db, target, document);
  await purge(target, "any");
  for (const table of ["postings", "posting_runs", "posting_segments", "hidden_runs"])
    expect(await rows(target, table)).toBe(0);
});

test("merging and purging skip segments that another transaction has locked, without waiting", async () => {
  const target = await createSpace(db, organization);
  const documents: IndexedDocument[] = [];
  for (let at = 0; at < 4; at++) documents.push(await indexDocument(db, target, [["a"]]));
  await hideDocument(db, target, documents[0]!);
  const [segment] = await inTenant(db, target.organization, (sql) => findSegmentsToPurge(sql, "any"));
  await inTenant(db, target.organization, async (sql) => {
    await sql.query("select from posting_segments where space_num = $1 for update", [target.space.num]);
    expect(await merge(target)).toBe(0);
    expect(await inTenant(db, target.organization, (other) => purgeSegment(other, segment!))).toBe(true);
    documents.push(await indexDocument(db, target, [["a", "b"]]));
  });
  expect(await merge(target)).toBe(5);
  await expectRanking(db, target, documents.slice(1), ["a", "b"]);
});

test("segments that two transactions had a part of each are merged by who waits for them", async () => {
  const target = await createSpace(db, organization);
  const documents: IndexedDocument[] = [];
  for (let at = 0; at < 4; at++) documents.push(await indexDocument(db, target, [["a"]]));
  const { organization: tenant, space } = target;
  const awaited = await inTenant(db, tenant, async (sql) => {
    await sql.query("select from posting_segments where space_num = $1 order by num limit 1 for update", [
      space.num,
    ]);
    expect(await merge(target)).toBe(0);
    expect(await inTenant(db, tenant, (other) => isMergeDue(other, space.num))).toBe(true);
    return {
      merged: inTenant(db, tenant, (other) => mergeSegments(other, tenant.num, space.num, "awaited")),
    };
  });
  expect(await awaited.merged).toBe(4);
  expect(await inTenant(db, tenant, (sql) => isMergeDue(sql, space.num))).toBe(false);
});

test("every search sees whole documents while segments are written, merged and purged", async () => {
  const target = await createSpace(db, organization);
  let isWriting = true;
  const live: IndexedDocument[] = [];
  const writer = (async () => {
    for (let at = 0; at < 120; at++) {
      live.push(await indexDocument(db, target, [["a", "same"], ["a"]]));
      if (at % 3 === 2) await hideDocument(db, target, live.splice(at % live.length, 1)[0]!);
    }
  })().finally(() => (isWriting = false));
  const tidy = (async () => {
    while (isWriting) {
      await merge(target);
      await purge(target, "any");
    }
  })();
  while (isWriting) {
    const found = await rankChunks(db, target, ["a"], 1_000);
    const runs = Map.groupBy(found, (one) => one.name.split("/")[0]);
    for (const ofRun of runs.values()) expect(ofRun).toHaveLength(2);
  }
  await Promise.all([writer, tidy]);
  await expectRanking(db, target, live, ["a", "same"]);
});
