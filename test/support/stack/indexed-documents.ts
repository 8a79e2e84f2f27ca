/** Indexes documents by their terms alone, and checks rankings against BM25 as it is defined. */
import fc from "fast-check";
import { expect } from "vitest";
import { type Database, inTenant } from "../../../src/db/pool.ts";
import { hideRun } from "../../../src/db/search/hidden.ts";
import { HEADER_WEIGHT, insertPostings } from "../../../src/search/index/postings.ts";
import { type SearchScope, readSearchScope } from "../../../src/db/search/scope.ts";
import { scoreSparse } from "../../../src/search/bm25.ts";
import { createChunkSet } from "../../../src/search/chunk-set.ts";
import type { SearchSpace } from "./search-space.ts";
import { addStatistics } from "./statistics.ts";

/** Chunks of a ranking that are compared. */
const LIMIT = 100;

/** The terms of a document's chunks. */
export type Corpus = readonly string[][];

/** Runs are numbered over all spaces of a database. */
let nextRun = 1;

export function newRunNum(): number {
  const runNum = nextRun;
  nextRun += 1;
  return runNum;
}

/** The terms of a text and of its headers. */
interface Text {
  readonly terms: readonly string[];
  readonly header: readonly string[];
}

const countIn = (terms: readonly string[], term: string): number =>
  terms.filter((other) => other === term).length;

/**
 * Computes BM25 (Lucene's variant) of texts from its definition. Terms of headers count like those of texts,
 * and not for the length (BM25F with b 0 for headers). How rare a term is, `counted` says.
 */
function naiveBm25(texts: readonly Text[], query: readonly string[], counted: readonly Text[]): number[] {
  const average = texts.reduce((sum, { terms }) => sum + terms.length, 0) / texts.length;
  const scores = texts.map(() => 0);
  for (const term of new Set(query)) {
    const tfOf = ({ terms, header }: Text): number =>
      countIn(terms, term) + HEADER_WEIGHT * countIn(header, term);
    const df = counted.filter((text) => tfOf(text) > 0).length;
    const idf = Math.log(1 + (counted.length - df + 0.5) / (df + 0.5)) * countIn(query, term);
    for (const [at, text] of texts.entries()) {
      const tf = tfOf(text);
      if (tf > 0) scores[at]! += (idf * tf) / (tf + 1.2 * (1 - 0.75 + (0.75 * text.terms.length) / average));
    }
  }
  return scores;
}

export const numbersOf = (target: SearchSpace) => ({
  organizationNum: target.organization.num,
  spaceNum: target.space.num,
});

export const scopeOf = (db: Database, target: SearchSpace): Promise<SearchScope> =>
  inTenant(db, target.organization, (sql) =>
    readSearchScope(sql, { space: target.space, filter: { documentIds: null, folderIds: null } }),
  );

export interface IndexedDocument {
  readonly runNum: number;
  readonly corpus: Corpus;
  /** The terms of the chunks' headers. */
  readonly headers: Corpus;
}

/** Indexes one document in a transaction of its own, as publishing does. */
export async function indexDocument(
  db: Database,
  target: SearchSpace,
  corpus: Corpus,
  headers: Corpus = corpus.map(() => []),
): Promise<IndexedDocument> {
  const runNum = newRunNum();
  await inTenant(db, target.organization, async (sql) => {
    const chunks = corpus.map((terms, chunkIndex) => ({
      runNum,
      chunkIndex,
      terms,
      headerTerms: headers[chunkIndex]!,
    }));
    const terms = await insertPostings(sql, numbersOf(target), chunks, 1);
    await addStatistics(sql, { ...numbersOf(target), chunks: corpus.length, terms: terms.get(runNum) ?? 0 });
  });
  return { runNum, corpus, headers };
}

/** Hides a document and takes it out of the statistics, as replacing it does. */
export async function hideDocument(
  db: Database,
  target: SearchSpace,
  { runNum, corpus }: IndexedDocument,
): Promise<void> {
  await inTenant(db, target.organization, async (sql) => {
    await hideRun(sql, { ...numbersOf(target), runNum, reason: "superseded" });
    await addStatistics(sql, { ...numbersOf(target), chunks: -corpus.length, terms: -corpus.flat().length });
  });
}

/** Returns the `limit` best chunks of the space, named `run/index`, with their scores. */
export async function rankChunks(
  db: Database,
  target: SearchSpace,
  query: readonly string[],
  limit: number,
): Promise<{ name: string; bm25: number }[]> {
  const words = [...new Set(query)].map((term) => ({
    terms: [term],
    weight: query.filter((other) => other === term).length,
  }));
  const scope = await scopeOf(db, target);
  const scores = await inTenant(db, target.organization, (sql) => scoreSparse(sql, scope, words));
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

/** The mean of each chunk's BM25 and that of its passage, of the same eight chunks of its document. */
function naiveScores(documents: readonly IndexedDocument[], query: readonly string[]): number[] {
  const chunks: Text[] = [];
  const passages: { terms: string[]; header: string[] }[] = [];
  const passageOf: number[] = [];
  for (const { corpus, headers } of documents) {
    for (const [at, terms] of corpus.entries()) {
      chunks.push({ terms, header: headers[at]! });
      if (at % 8 === 0) passages.push({ terms: [], header: [] });
      passages.at(-1)!.terms.push(...terms);
      passages.at(-1)!.header.push(...headers[at]!);
      passageOf.push(passages.length - 1);
    }
  }
  const ofPassages = naiveBm25(passages, query, chunks);
  return naiveBm25(chunks, query, chunks).map((own, at) =>
    own === 0 ? 0 : (own + ofPassages[passageOf[at]!]!) / 2,
  );
}

/** Returns the ranking that this gives the documents, ties by run and index. */
function expected(documents: readonly IndexedDocument[], query: readonly string[]): Ranked[] {
  const scores = naiveScores(documents, query);
  const keys = documents.flatMap(({ runNum, corpus }) =>
    corpus.map((_, at) => ({ runNum, at, name: `${runNum}/${at}` })),
  );
  return keys
    .map((key, at) => ({ ...key, bm25: scores[at]! }))
    .filter((one) => one.bm25 > 0)
    .toSorted((one, other) => other.bm25 - one.bm25 || byRunAndIndex(one, other));
}

/**
 * Expects the ranking that BM25 gives the documents. Sums of the same numbers in another order differ in
 * their last bits, so a tie by the definition need not be one here.
 */
export async function expectRanking(
  db: Database,
  target: SearchSpace,
  documents: readonly IndexedDocument[],
  query: readonly string[],
): Promise<void> {
  const found = await rankChunks(db, target, query, LIMIT);
  const all = expected(documents, query);
  expect(found).toHaveLength(Math.min(all.length, LIMIT));
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

/** Terms of several lengths, scripts and languages. */
export const someTerm = fc.constantFrom("a", "b", "c", "d", "de:haus", "en:run", "ü", "中文", "x y");
export const someChunk = fc.array(someTerm, { minLength: 1, maxLength: 12 });
