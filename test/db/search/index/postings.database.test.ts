import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inTenant } from "../../../../src/db/pool.ts";
import { hideRun, unhideRun } from "../../../../src/db/search/hidden.ts";
import { countIndexedTerms } from "../../../../src/db/search/index/indexed-terms.ts";
import { insertPostings } from "../../../../src/db/search/index/postings.ts";
import { type SearchScope, readSearchScope } from "../../../../src/db/search/scope.ts";
import { findSegmentsToPurge, listSpacesToTend } from "../../../../src/db/search/index/due-segments.ts";
import { mergeSegments, purgeSegment } from "../../../../src/db/search/index/segments.ts";
import { addStatistics, foldStatistics } from "../../../../src/db/search/index/statistics.ts";
import { scoreSparse } from "../../../../src/search/bm25.ts";
import { createChunkSet } from "../../../../src/search/chunk-set.ts";
import { type TestDatabase, createTestDatabase } from "../../../support/servers/database.ts";
import { type SearchSpace, createOrganization, createSpace } from "../../../support/stack/search-space.ts";

let database: TestDatabase;
let organization: Awaited<ReturnType<typeof createOrganization>>;

beforeAll(async () => {
  database = await createTestDatabase();
  organization = await createOrganization(database.db);
});
afterAll(() => database.drop());

type Corpus = readonly string[][];

/** Runs are numbered over all spaces. */
let nextRun = 1;

/** BM25 (Lucene's variant) by the book, over live chunks only. */
function naiveBm25(corpus: Corpus, query: readonly string[]): number[] {
  const average = corpus.reduce((sum, terms) => sum + terms.length, 0) / corpus.length;
  const scores = corpus.map(() => 0);
  for (const term of new Set(query)) {
    const df = corpus.filter((terms) => terms.includes(term)).length;
    const idf =
      Math.log(1 + (corpus.length - df + 0.5) / (df + 0.5)) * query.filter((other) => other === term).length;
    corpus.forEach((terms, at) => {
      const tf = terms.filter((other) => other === term).length;
      if (tf > 0) scores[at]! += (idf * tf) / (tf + 1.2 * (1 - 0.75 + (0.75 * terms.length) / average));
    });
  }
  return scores;
}

const numbers = (target: SearchSpace) => ({
  organizationNum: target.organization.num,
  spaceNum: target.space.num,
});

const scopeOf = (target: SearchSpace): Promise<SearchScope> =>
  inTenant(database.db, target.organization, (sql) =>
    readSearchScope(sql, { space: target.space, filter: { documentIds: null, folderIds: null } }),
  );

interface Document {
  readonly runNum: number;
  readonly corpus: Corpus;
}

/** Indexes one document in a transaction of its own, as a publish does. */
async function index(target: SearchSpace, corpus: Corpus): Promise<Document> {
  const runNum = nextRun++;
  await inTenant(database.db, target.organization, async (sql) => {
    const chunks = corpus.map((terms, chunkIndex) => ({ runNum, chunkIndex, terms }));
    const terms = await insertPostings(sql, numbers(target), chunks, 1);
    await addStatistics(sql, { ...numbers(target), chunks: corpus.length, terms: terms.get(runNum) ?? 0 });
  });
  return { runNum, corpus };
}

async function hide(target: SearchSpace, { runNum, corpus }: Document): Promise<void> {
  await inTenant(database.db, target.organization, async (sql) => {
    await hideRun(sql, { ...numbers(target), runNum, reason: "superseded" });
    await addStatistics(sql, { ...numbers(target), chunks: -corpus.length, terms: -corpus.flat().length });
  });
}

async function rank(
  target: SearchSpace,
  query: readonly string[],
  limit = 100,
): Promise<{ name: string; bm25: number }[]> {
  const words = [...new Set(query)].map((term) => ({
    terms: [term],
    weight: query.filter((other) => other === term).length,
  }));
  const scope = await scopeOf(target);
  const scores = await inTenant(database.db, target.organization, (sql) => scoreSparse(sql, scope, words));
  return scores
    .best({ required: null, excluded: createChunkSet(0) }, limit)
    .map(({ run_num, chunk_index, bm25 }) => ({ name: `${run_num}/${chunk_index}`, bm25 }));
}

interface Ranked {
  readonly name: string;
  readonly bm25: number;
  readonly runNum: number;
  readonly at: number;
}

const byRunAndIndex = (one: Ranked, other: Ranked): number => one.runNum - other.runNum || one.at - other.at;

/** The ranking that these documents must have, ties by run and index. */
function expected(documents: readonly Document[], query: readonly string[]): Ranked[] {
  const scores = naiveBm25(
    documents.flatMap((document) => document.corpus),
    query,
  );
  const keys = documents.flatMap(({ runNum, corpus }) =>
    corpus.map((_, at) => ({ runNum, at, name: `${runNum}/${at}` })),
  );
  return keys
    .map((key, at) => ({ ...key, bm25: scores[at]! }))
    .filter((one) => one.bm25 > 0)
    .toSorted((one, other) => other.bm25 - one.bm25 || byRunAndIndex(one, other));
}

/** Sums of the same numbers in another order differ in their last bits, so that what is a tie by the book may be none here. */
async function expectRanking(
  target: SearchSpace,
  documents: readonly Document[],
  query: readonly string[],
): Promise<void> {
  const [found, all] = [await rank(target, query), expected(documents, query)];
  expect(found).toHaveLength(Math.min(all.length, 100));
  const byName = new Map(all.map((one) => [one.name, one]));
  expect(new Set(found.map((one) => one.name)).size).toBe(found.length);
  for (const [at, { name, bm25 }] of found.entries()) {
    expect(bm25).toBeCloseTo(all[at]!.bm25, 9);
    expect(bm25).toBeCloseTo(byName.get(name)!.bm25, 9);
    const before = found[at - 1];
    if (before?.bm25 === bm25)
      expect(byRunAndIndex(byName.get(before.name)!, byName.get(name)!)).toBeLessThan(0);
    else if (before !== undefined) expect(before.bm25).toBeGreaterThan(bm25);
  }
}

const merge = (target: SearchSpace): Promise<number> =>
  inTenant(database.db, target.organization, (sql) => mergeSegments(sql, organization.num, target.space.num));
const purge = async (target: SearchSpace, reason: "any" | { spaceNum: number }): Promise<number> => {
  const segments = await inTenant(database.db, target.organization, (sql) =>
    findSegmentsToPurge(sql, reason),
  );
  for (const segment of segments)
    expect(await inTenant(database.db, target.organization, (sql) => purgeSegment(sql, segment))).toBe(false);
  return segments.length;
};
const rows = async (target: SearchSpace, table: string): Promise<number> =>
  (
    await database.db.owner.query(`select count(*)::int as count from ${table} where space_num = $1`, [
      target.space.num,
    ])
  ).rows[0].count;

const term = fc.constantFrom("a", "b", "c", "d", "de:haus", "en:run", "ü", "中文", "x y");
const chunk = fc.array(term, { minLength: 1, maxLength: 12 });
const documentsOf = (most: number) =>
  fc.array(fc.array(chunk, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: most });

test("BM25 is that of the book on any corpus, ties by run and index", async () => {
  await fc.assert(
    fc.asyncProperty(
      documentsOf(10),
      fc.array(term, { minLength: 1, maxLength: 5 }),
      async (corpora, query) => {
        const target = await createSpace(database.db, organization);
        const documents: Document[] = [];
        for (const corpus of corpora) documents.push(await index(target, corpus));
        await expectRanking(target, documents, query);
      },
    ),
    { numRuns: 20 },
  );
});

describe("segments", () => {
  test(
    "give the same ranking whatever was indexed, hidden, merged and purged, in any order",
    { timeout: 240_000 },
    async () => {
      const step = fc.oneof(
        {
          weight: 6,
          arbitrary: fc.record({
            kind: fc.constant("index" as const),
            corpus: fc.array(chunk, { minLength: 1, maxLength: 3 }),
          }),
        },
        { weight: 2, arbitrary: fc.record({ kind: fc.constant("hide" as const), which: fc.nat() }) },
        { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("merge" as const, "purge" as const) }) },
      );
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 12, maxLength: 40 }),
          fc.array(term, { minLength: 1, maxLength: 4 }),
          async (steps, query) => {
            const target = await createSpace(database.db, organization);
            const live: Document[] = [];
            for (const one of steps) {
              if (one.kind === "index") live.push(await index(target, one.corpus));
              else if (one.kind === "hide")
                for (const document of live.splice(one.which % Math.max(1, live.length), 1))
                  await hide(target, document);
              else if (one.kind === "merge") await merge(target);
              else await purge(target, "any");
              if (one.kind !== "index") await expectRanking(target, live, query);
            }
            await expectRanking(target, live, query);
            await purge(target, "any");
            expect(await rows(target, "hidden_runs")).toBe(0);
            expect(await rows(target, "posting_runs")).toBe(live.length);
            await expectRanking(target, live, query);
          },
        ),
        { numRuns: 12 },
      );
    },
  );

  test("are merged four at a time into one, which holds all of them", async () => {
    const target = await createSpace(database.db, organization);
    const documents: Document[] = [];
    for (let at = 0; at < 3; at++) documents.push(await index(target, [["a", `only${at}`]]));
    expect(await merge(target)).toBe(0);
    documents.push(await index(target, [["a", "b"]]));
    expect((await listSpacesToTend(database.db.system, 1, 1_000)).map((due) => due.spaceNum)).toContain(
      target.space.num,
    );
    expect(await merge(target)).toBe(4);
    expect(await rows(target, "posting_segments")).toBe(1);
    // One block of terms, and the list of chunks.
    expect(await rows(target, "postings")).toBe(2);
    expect((await listSpacesToTend(database.db.system, 1, 1_000)).map((due) => due.spaceNum)).not.toContain(
      target.space.num,
    );
    await expectRanking(target, documents, ["a", "only2"]);
  });

  test("are purged once a tenth of them is dead, and dropped when all is", async () => {
    const target = await createSpace(database.db, organization);
    const documents: Document[] = [];
    for (let at = 0; at < 16; at++) documents.push(await index(target, [["a", `only${at}`]]));
    while ((await merge(target)) > 0);
    await hide(target, documents[0]!);
    expect(await purge(target, { spaceNum: target.space.num })).toBe(0);
    await hide(target, documents[1]!);
    expect(await purge(target, { spaceNum: target.space.num })).toBe(1);
    expect(await rows(target, "hidden_runs")).toBe(0);
    const left = await database.db.owner.query("select data from postings where space_num = $1", [
      target.space.num,
    ]);
    expect(Buffer.concat(left.rows.map((row) => row.data)).toString("latin1")).not.toMatch(/only[01]\b/);
    await expectRanking(target, documents.slice(2), ["a", "only5"]);
    for (const document of documents.slice(2)) await hide(target, document);
    await purge(target, "any");
    for (const table of ["postings", "posting_runs", "posting_segments", "hidden_runs"])
      expect(await rows(target, table)).toBe(0);
  });

  test("that one transaction has in hand are passed over by another, and nobody waits", async () => {
    const target = await createSpace(database.db, organization);
    const documents: Document[] = [];
    for (let at = 0; at < 4; at++) documents.push(await index(target, [["a"]]));
    await hide(target, documents[0]!);
    const [segment] = await inTenant(database.db, target.organization, (sql) =>
      findSegmentsToPurge(sql, "any"),
    );
    await inTenant(database.db, target.organization, async (sql) => {
      await sql.query("select from posting_segments where space_num = $1 for update", [target.space.num]);
      expect(await merge(target)).toBe(0);
      expect(await inTenant(database.db, target.organization, (other) => purgeSegment(other, segment!))).toBe(
        true,
      );
      documents.push(await index(target, [["a", "b"]]));
    });
    expect(await merge(target)).toBe(5);
    await expectRanking(target, documents.slice(1), ["a", "b"]);
  });

  test("are merged, purged and searched at once with publishing, and every search sees whole documents", async () => {
    const target = await createSpace(database.db, organization);
    let isWriting = true;
    const live: Document[] = [];
    const writer = (async () => {
      for (let at = 0; at < 120; at++) {
        live.push(await index(target, [["a", "same"], ["a"]]));
        if (at % 3 === 2) await hide(target, live.splice(at % live.length, 1)[0]!);
      }
    })().finally(() => (isWriting = false));
    const tidy = (async () => {
      while (isWriting) {
        await merge(target);
        await purge(target, "any");
      }
    })();
    while (isWriting) {
      const found = await rank(target, ["a"], 1_000);
      const runs = Map.groupBy(found, (one) => one.name.split("/")[0]);
      for (const ofRun of runs.values()) expect(ofRun.length).toBe(2);
    }
    await Promise.all([writer, tidy]);
    await expectRanking(target, live, ["a", "same"]);
  });
});

test("a hidden run is neither found nor counted, and comes back", async () => {
  const target = await createSpace(database.db, organization);
  const first = await index(target, [["a", "b"], ["a"], ["c"]]);
  const second = await index(target, [["a", "a"]]);
  await hide(target, second);
  await expectRanking(target, [first], ["a"]);
  await inTenant(database.db, target.organization, async (sql) => {
    await unhideRun(sql, { ...numbers(target), runNum: second.runNum });
    await addStatistics(sql, { ...numbers(target), chunks: 1, terms: 2 });
    await foldStatistics(sql, numbers(target).organizationNum, target.space.num);
  });
  await expectRanking(target, [first, second], ["a"]);
  expect(await scopeOf(target)).toMatchObject({ chunks: 4, terms: 6 });
});

test("entries of one space or organization are invisible in another, whatever number is asked for", async () => {
  const target = await createSpace(database.db, organization);
  const stranger = await createSpace(database.db, await createOrganization(database.db));
  await index(target, [["a"]]);
  expect(await rank(await createSpace(database.db, organization), ["a"])).toEqual([]);
  expect(await rank({ ...stranger, space: target.space }, ["a"])).toEqual([]);
  expect(await scopeOf({ ...stranger, space: target.space })).toMatchObject({ chunks: 0, terms: 0 });
  await index({ ...target, organization: stranger.organization }, [["a"]]);
  expect((await rank(target, ["a"])).length).toBe(1);
});

test("indexing a part of a run again changes nothing, also where two do it at once", async () => {
  const target = await createSpace(database.db, organization);
  const runNum = nextRun++;
  const write = (chunkIndex: number) =>
    inTenant(database.db, target.organization, (sql) =>
      insertPostings(sql, numbers(target), [{ runNum, chunkIndex, terms: ["a", "a", "b"] }], 1),
    );
  const [one, other] = await Promise.all([write(0), write(0)]);
  expect((one.get(runNum) ?? 0) + (other.get(runNum) ?? 0)).toBe(3);
  await write(512);
  const { rows: segments } = await database.db.owner.query<{ num: number }>(
    "select num from posting_segments where space_num = $1",
    [target.space.num],
  );
  const terms = await countIndexedTerms(
    database.db.owner,
    segments.map((segment) => segment.num),
  );
  expect(terms).toEqual(new Map([[runNum, 6]]));
});
