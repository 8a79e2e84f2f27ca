import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inTenant } from "../../../src/db/pool.ts";
import { deleteSearchEntries, hideRun, unhideRun } from "../../../src/db/search/hidden.ts";
import { type WeightedTerm, insertPostings, sparseCandidates, sparseScores } from "../../../src/db/search/postings.ts";
import { type SearchScope, NO_CONDITIONS, readSearchScope } from "../../../src/db/search/scope.ts";
import { addStatistics, foldStatistics } from "../../../src/db/search/statistics.ts";
import { weighWords } from "../../../src/search/bm25.ts";
import { type TestDatabase, createTestDatabase } from "../../support/database.ts";
import { type SearchSpace, createOrganization, createSpace } from "../../support/search-space.ts";

let database: TestDatabase;
let organization: Awaited<ReturnType<typeof createOrganization>>;

beforeAll(async () => {
  database = await createTestDatabase();
  organization = await createOrganization(database.db);
});
afterAll(() => database.drop());

type Corpus = string[][];

/** BM25 (Lucene's variant) by the book, over live chunks only. */
function naiveBm25(corpus: Corpus, query: readonly string[]): Map<number, number> {
  const average = corpus.reduce((sum, terms) => sum + terms.length, 0) / corpus.length;
  const scores = new Map<number, number>();
  for (const term of new Set(query)) {
    const df = corpus.filter((terms) => terms.includes(term)).length;
    const idf = Math.log(1 + (corpus.length - df + 0.5) / (df + 0.5)) * query.filter((other) => other === term).length;
    corpus.forEach((terms, at) => {
      const tf = terms.filter((other) => other === term).length;
      if (tf > 0) scores.set(at, (scores.get(at) ?? 0) + (idf * tf) / (tf + 1.2 * (1 - 0.75 + (0.75 * terms.length) / average)));
    });
  }
  return scores;
}

const scopeOf = (target: SearchSpace): Promise<SearchScope> =>
  inTenant(database.db, target.organization, (sql) =>
    readSearchScope(sql, { space: target.space, filter: { documentIds: null, folderIds: null }, languages: [], modelName: "none" }),
  );

async function writeCorpus(target: SearchSpace, corpus: Corpus, firstRun: number): Promise<void> {
  await inTenant(database.db, target.organization, async (sql) => {
    const space = { organizationNum: target.organization.num, spaceNum: target.space.num };
    await insertPostings(
      sql,
      space,
      corpus.map((terms, at) => ({ runNum: firstRun + Math.floor(at / 3), chunkIndex: at % 3, terms })),
    );
    await addStatistics(sql, { ...space, chunks: corpus.length, terms: corpus.reduce((sum, terms) => sum + terms.length, 0) });
  });
}

async function rank(target: SearchSpace, query: readonly string[], limit = 100): Promise<{ at: number; bm25: number }[]> {
  const words = [...new Set(query)].map((term) => ({ terms: [term], weight: query.filter((other) => other === term).length }));
  const scope = await scopeOf(target);
  return inTenant(database.db, target.organization, async (sql) => {
    const terms: WeightedTerm[] = await weighWords(sql, scope, words);
    const found = await sparseCandidates(sql, scope, NO_CONDITIONS, { terms, limit });
    const again = await sparseScores(sql, scope, terms, found);
    expect(again.length).toBe(found.length);
    return found.map(({ run_num, chunk_index, bm25 }) => ({ at: (run_num - 1) * 3 + chunk_index, bm25 }));
  });
}

test("BM25 is that of the book on any corpus, ties by run and index", async () => {
  const term = fc.constantFrom("a", "b", "c", "d", "de:haus", "en:run", "ü", "中文", "x y");
  const corpora = fc.array(fc.array(term, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 25 });
  await fc.assert(
    fc.asyncProperty(corpora, fc.array(term, { minLength: 1, maxLength: 5 }), async (corpus, query) => {
      const target = await createSpace(database.db, organization);
      await writeCorpus(target, corpus, 1);
      const expected = naiveBm25(corpus, query);
      const found = await rank(target, query);
      expect(found.length).toBe(Math.min(100, expected.size));
      for (const { at, bm25 } of found) expect(bm25).toBeCloseTo(expected.get(at)!, 9);
      for (const [place, one] of found.entries()) {
        const next = found[place + 1] ?? { bm25: -1, at: Infinity };
        expect(one.bm25 > next.bm25 || one.at < next.at || Math.abs(one.bm25 - next.bm25) < 1e-9).toBe(true);
      }
    }),
    { numRuns: 25 },
  );
});

test("a hidden run is neither found nor counted, and comes back", async () => {
  const target = await createSpace(database.db, organization);
  await writeCorpus(target, [["a", "b"], ["a"], ["c"], ["a", "a"]], 1);
  const run = { organizationNum: target.organization.num, spaceNum: target.space.num, runNum: 2 };
  await inTenant(database.db, target.organization, async (sql) => {
    await hideRun(sql, { ...run, reason: "superseded" });
    await addStatistics(sql, { ...run, chunks: -1, terms: -2 });
  });
  const expected = naiveBm25([["a", "b"], ["a"], ["c"]], ["a"]);
  const found = await rank(target, ["a"]);
  expect(found.map(({ at }) => at)).toEqual([1, 0]);
  for (const { at, bm25 } of found) expect(bm25).toBeCloseTo(expected.get(at)!, 9);
  await inTenant(database.db, target.organization, async (sql) => {
    await unhideRun(sql, run);
    await addStatistics(sql, { ...run, chunks: 1, terms: 2 });
    await foldStatistics(sql, run.organizationNum, run.spaceNum);
  });
  expect((await rank(target, ["a"])).length).toBe(3);
  expect(await scopeOf(target)).toMatchObject({ chunks: 4, terms: 6 });
});

test("a run is deleted in steps that say whether anything is left", async () => {
  const target = await createSpace(database.db, organization);
  await writeCorpus(target, [["a", "b"], ["a", "c"], ["a"], ["b"]], 1);
  const step = (): Promise<boolean> => inTenant(database.db, target.organization, (sql) => deleteSearchEntries(sql, { spaceNum: target.space.num, runNum: 1, limit: 3 }));
  expect([await step(), await step()]).toEqual([true, false]);
  expect((await rank(target, ["a", "b"])).map(({ at }) => at)).toEqual([3]);
});

test("entries of one space or organization are invisible in another, whatever number is asked for", async () => {
  const target = await createSpace(database.db, organization);
  const stranger = await createSpace(database.db, await createOrganization(database.db));
  await writeCorpus(target, [["a"]], 1);
  expect(await rank(await createSpace(database.db, organization), ["a"])).toEqual([]);
  expect(await rank({ ...stranger, space: target.space }, ["a"])).toEqual([]);
  expect(await scopeOf({ ...stranger, space: target.space })).toMatchObject({ chunks: 0, terms: 0 });
  await expect(
    writeCorpus({ ...target, organization: { ...target.organization, id: stranger.organization.id, num: stranger.organization.num } }, [["a"]], 9),
  ).resolves.toBeUndefined();
  expect((await rank(target, ["a"])).length).toBe(1);
});

test("writing postings again changes nothing", async () => {
  const target = await createSpace(database.db, organization);
  const write = () =>
    inTenant(database.db, target.organization, (sql) =>
      insertPostings(sql, { organizationNum: target.organization.num, spaceNum: target.space.num }, [{ runNum: 1, chunkIndex: 0, terms: ["a", "a", "b"] }]),
    );
  await write();
  await write();
  const { rows } = await database.db.owner.query("select term, term_count, chunk_length from postings where space_num = $1 order by term", [target.space.num]);
  expect(rows).toEqual([
    { term: "a", term_count: 2, chunk_length: 3 },
    { term: "b", term_count: 1, chunk_length: 3 },
  ]);
});
