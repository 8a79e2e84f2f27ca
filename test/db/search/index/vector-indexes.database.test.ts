/**
 * Vector indexes of large spaces: when they are built and dropped, and that search finds the same with them.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { inTenant } from "../../../../src/db/pool.ts";
import { type DenseCandidate, denseCandidates } from "../../../../src/db/search/embeddings.ts";
import { hideRun } from "../../../../src/db/search/hidden.ts";
import { type SearchScope, readSearchScope } from "../../../../src/db/search/scope.ts";
import { listSpacesToIndex, updateVectorIndexes } from "../../../../src/db/search/index/vector-indexes.ts";
import { type TestDatabase, createTestDatabase } from "../../../support/servers/database.ts";
import { until } from "../../../support/until.ts";
import { type SearchSpace, createOrganization, createSpace } from "../../../support/stack/search-space.ts";
import { addStatistics } from "../../../support/stack/statistics.ts";

/** Large vectors, because fewer of them are worth an index. */
const DIMENSIONS = 1_536;
const VECTORS = 5_200;
const A_RUN = 10;
const CLUSTERS = 40;

let database: TestDatabase;
let target: SearchSpace;
let modelNum: number;
const query = Float32Array.from({ length: DIMENSIONS }, (_, at) => Math.sin(at * 1.3));

/**
 * Inserts clustered vectors, computed in the database: each is the center of its cluster and a step away from
 * it.
 */
const insertVectors = (firstRun: number, count: number) =>
  database.db.owner.query(
    `with center as materialized (
       select c,
              array(
                select sin(c * 7.7 + i * (1 + c * 0.01))
                from generate_series(1, ${DIMENSIONS}) i
              )::halfvec as v
       from generate_series(0, ${CLUSTERS - 1}) c),
     step as materialized (
       select s,
              array(
                select (random() - 0.5) * 1.5
                from generate_series(1, ${DIMENSIONS})
                where s >= 0
              )::halfvec as v
       from generate_series(0, $5 / ${CLUSTERS}) s)
     insert into embeddings (organization_num, space_num, run_num, chunk_index, model_num, embedding)
     select $1, $2, $3 + n / ${A_RUN}, n % ${A_RUN}, $4, center.v + step.v
     from generate_series(0, $5 - 1) n
     join center on center.c = n % ${CLUSTERS}
     join step on step.s = n / ${CLUSTERS}`,
    [target.organization.num, target.space.num, firstRun, modelNum, count],
  );

const count = (chunks: number) =>
  inTenant(database.db, target.organization, (sql) =>
    addStatistics(sql, {
      organizationNum: target.organization.num,
      spaceNum: target.space.num,
      chunks,
      terms: chunks,
      embeddingModel: "large",
    }),
  );

const scopeOf = () =>
  inTenant(database.db, target.organization, (sql) =>
    readSearchScope(sql, { space: target.space, filter: { documentIds: null, folderIds: null } }),
  );
const nearest = (scope: SearchScope): Promise<DenseCandidate[]> =>
  inTenant(database.db, target.organization, (sql) =>
    denseCandidates(
      sql,
      scope,
      { required: null, excluded: [] },
      { query: { vector: query, modelNum, dimensions: DIMENSIONS }, limit: 100 },
    ),
  );

const unindexed = (scope: SearchScope): SearchScope => ({
  ...scope,
  models: scope.models.map((model) => ({ ...model, hasIndex: false })),
});

/** Returns the share of the ten nearest chunks that the search finds. */
async function recall(scope: SearchScope): Promise<number> {
  const exact = await nearest(unindexed(scope));
  const found = await nearest(scope);
  expect(found).toHaveLength(100);
  const names = new Set(found.slice(0, 10).map((hit) => `${hit.run_num}/${hit.chunk_index}`));
  return exact.slice(0, 10).filter((hit) => names.has(`${hit.run_num}/${hit.chunk_index}`)).length / 10;
}

const update = () => updateVectorIndexes(database.db, target.organization.num, target.space.num);
const isListed = async () =>
  (await listSpacesToIndex(database.db.system, 100)).some((space) => space.spaceNum === target.space.num);
const indexes = async () =>
  (await database.db.owner.query("select indexname from pg_indexes where indexname like 'embeddings_hnsw_%'"))
    .rows.length;

beforeAll(async () => {
  database = await createTestDatabase();
  target = await createSpace(database.db, await createOrganization(database.db));
  const { rows } = await database.db.owner.query<{ num: number }>(
    "insert into embedding_models (name, dimensions) values ('large', $1) returning num",
    [DIMENSIONS],
  );
  modelNum = rows[0]!.num;
});
afterAll(() => database.drop());

test(
  "a large space gets an index, finds with it what a scan finds, and loses it when it is small again",
  { timeout: 240_000 },
  async () => {
    await insertVectors(1, 1_000);
    await count(1_000);
    expect(await isListed()).toBe(false);
    expect([await update(), await indexes()]).toEqual([0, 0]);

    await insertVectors(1_001, VECTORS - 1_000);
    await count(VECTORS - 1_000);
    expect(await isListed()).toBe(true);
    expect([await update(), await indexes()]).toEqual([1, 1]);
    expect(await isListed()).toBe(false);
    const whole = await scopeOf();
    expect(whole.models[0]!.hasIndex).toBe(true);
    expect(await recall(whole)).toBeGreaterThanOrEqual(0.9);
    await until("the index was read", async () => {
      const { rows } = await database.db.owner.query(
        "select idx_scan::int as scans from pg_stat_user_indexes where indexrelname like 'embeddings_hnsw_%'",
      );
      return rows[0].scans > 0;
    });

    // A search narrowed to documents scans their vectors.
    const few = { ...whole, runs: [1, 1_001, 1_002] };
    expect(await nearest(few)).toHaveLength(30);

    // Half of it is reprocessed: the graph has new vectors and dead ones that vacuum has not removed.
    await database.db.owner.query("delete from embeddings where space_num = $1 and run_num < 1300", [
      target.space.num,
    ]);
    const left = (
      await database.db.owner.query("select count(*)::int as count from embeddings where space_num = $1", [
        target.space.num,
      ])
    ).rows[0].count;
    await insertVectors(5_000, VECTORS - left);
    expect(await recall(await scopeOf())).toBeGreaterThanOrEqual(0.9);

    // Nine of ten are hidden or deleted: everything that is left is found.
    await inTenant(database.db, target.organization, (sql) =>
      hideRun(sql, {
        organizationNum: target.organization.num,
        spaceNum: target.space.num,
        runNum: 5_000,
        reason: "deleted",
      }),
    );
    await database.db.owner.query(
      `delete from embeddings
       where space_num = $1
         and run_num <> 5000
         and run_num < (select max(run_num) - 50 from embeddings)`,
      [target.space.num],
    );
    await count(-VECTORS * 0.9);
    const small = await scopeOf();
    expect(small.models[0]!.hasIndex).toBe(true);
    const found = await nearest(small);
    expect(found).toEqual(await nearest(unindexed(small)));
    expect(found.some((hit) => hit.run_num === 5_000)).toBe(false);
    expect([await update(), await indexes()]).toEqual([1, 0]);
    expect((await scopeOf()).models[0]!.hasIndex).toBe(false);
    expect(await nearest(await scopeOf())).toEqual(found);
  },
);
