/**
 * Compares BM25 with a reference implementation: stored rankings of bm25s (method lucene, k1 1.2, b 0.75)
 * over paragraphs of this project's decisions, with their terms. To make such a file: `npm run
 * bench:exactness -- --collection <folder> --python <python> --write <file>`.
 */
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inTenant } from "../../src/db/pool.ts";
import { readSearchScope } from "../../src/db/search/scope.ts";
import { findSegmentsToPurge } from "../../src/db/search/index/due-segments.ts";
import { mergeSegments, purgeSegment } from "../../src/search/index/segments.ts";
import { scoreSparse } from "../../src/search/bm25.ts";
import { createChunkSet } from "../../src/search/chunk-set.ts";
import { type TestDatabase, createTestDatabase } from "../support/servers/database.ts";
import {
  type SearchSpace,
  createOrganization,
  createSpace,
  publishDocuments,
  republishDocument,
} from "../support/stack/search-space.ts";

interface Reference {
  readonly documents: readonly string[];
  readonly queries: readonly string[];
  readonly rankings: readonly (readonly [place: number, score: number][])[];
}

let database: TestDatabase;
let target: SearchSpace;
let reference: Reference;
/** The place of each document in the reference, by its published run. */
const placeOf = new Map<number, number>();

const chunkOf = (place: number) => ({ text: "", terms: reference.documents[place]!.split(" ") });
const tenant = <T>(work: Parameters<typeof inTenant<T>>[2]): Promise<T> =>
  inTenant(database.db, target.organization, work);

beforeAll(async () => {
  reference = JSON.parse(
    await readFile(new URL("reference-rankings.json", import.meta.url), "utf8"),
  ) as Reference;
  database = await createTestDatabase();
  target = await createSpace(database.db, await createOrganization(database.db));
});
afterAll(() => database.drop());

async function rank(query: string): Promise<[place: number, score: number][]> {
  const words = [...Map.groupBy(query.split(" "), (term) => term)].map(([term, same]) => ({
    terms: [term],
    weight: same.length,
  }));
  return tenant(async (sql) => {
    const scope = await readSearchScope(sql, {
      space: target.space,
      filter: { documentIds: null, folderIds: null },
    });
    const best = (await scoreSparse(sql, scope, words)).best(
      { required: null, excluded: createChunkSet(0) },
      10,
    );
    return best.map((hit) => [placeOf.get(hit.run_num)!, hit.bm25]);
  });
}

async function mergeAll(): Promise<void> {
  let merged: number;
  do merged = await tenant((sql) => mergeSegments(sql, target.organization.num, target.space.num));
  while (merged > 0);
}

async function expectReference(): Promise<void> {
  for (const [at, query] of reference.queries.entries()) {
    const found = await rank(query);
    const wanted = reference.rankings[at]!;
    // Documents with equal scores are in the order of their runs, which are not those of the reference.
    expect(found.map(([, score]) => score.toFixed(9))).toEqual(wanted.map(([, score]) => score.toFixed(9)));
    const last = wanted.at(-1)?.[1] ?? 0;
    const clear = (ranking: readonly [number, number][]) =>
      ranking
        .filter(([, score]) => score > last + 1e-9)
        .map(([place, score]) => `${score.toFixed(9)} ${place}`);
    expect(clear(found).toSorted()).toEqual(clear(wanted).toSorted());
  }
}

test("the ten best chunks of every query are the reference's, also after merging and purging", async () => {
  expect(reference.queries.length).toBeGreaterThanOrEqual(40);
  const places = reference.documents.map((_, place) => place);
  for (let from = 0; from < places.length; from += 7) {
    const part = places.slice(from, from + 7);
    const written = await publishDocuments(
      database.db,
      target,
      // Every third document is published with other words first, and replaced.
      part.map((place) => ({
        chunks: [place % 3 === 0 ? { text: "", terms: ["en:one", "en:other"] } : chunkOf(place)],
      })),
    );
    for (const [at, document] of written.entries()) {
      const place = part[at]!;
      const runNum =
        place % 3 === 0
          ? await republishDocument(database.db, target, document, { chunks: [chunkOf(place)] })
          : document.runNum;
      if (place % 3 === 0)
        await tenant((sql) =>
          sql.query(
            `insert into space_statistics (organization_num, space_num, chunks, terms)
             values ($1, $2, -1, -2)`,
            [target.organization.num, target.space.num],
          ),
        );
      placeOf.set(runNum, place);
    }
  }
  await expectReference();
  await mergeAll();
  await expectReference();
  for (const segment of await tenant((sql) => findSegmentsToPurge(sql, "any")))
    await tenant((sql) => purgeSegment(sql, segment));
  await expectReference();
});
