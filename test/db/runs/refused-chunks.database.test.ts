/** Chunks that a model refuses: how publishing counts them and continues after them. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { embeddingModelNum } from "../../../src/db/runs/chunks.ts";
import { type Sql, inTenant } from "../../../src/db/pool.ts";
import {
  firstUnwritten,
  isRefusedWhole,
  markRefused,
  readRefused,
} from "../../../src/db/runs/refused-chunks.ts";
import { type TestDatabase, createTestDatabase } from "../../support/servers/database.ts";
import {
  type SearchSpace,
  createOrganization,
  createSpace,
  publishDocuments,
} from "../../support/stack/search-space.ts";

const CHUNKS = 1_030;
const MODEL = "test-model";
let database: TestDatabase;
let target: SearchSpace;
let runNum: number;
let modelNum: number;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const within = <T>(work: (sql: Sql) => Promise<T>): Promise<T> =>
  inTenant(database.db, target.organization, work);
const run = () => ({ spaceNum: target.space.num, runNum, modelNum });
const next = (): Promise<number> => within((sql) => firstUnwritten(sql, run()));
const refused = async () =>
  (await within((sql) => readRefused(sql, { ...run(), runNums: [runNum] }))).get(runNum);
const mark = (...indexes: number[]): Promise<void> =>
  within((sql) =>
    markRefused(
      sql,
      modelNum,
      indexes.map((chunkIndex) => ({ runNum, chunkIndex })),
    ),
  );
const withoutVectors = (from: number, to: number) =>
  within((sql) =>
    sql.query(
      "delete from embeddings where space_num = $1 and run_num = $2 and chunk_index between $3 and $4",
      [target.space.num, runNum, from, to],
    ),
  );
const between = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

beforeEach(async () => {
  target = await createSpace(database.db, await createOrganization(database.db));
  const chunks = between(1, CHUNKS).map((index) => ({
    text: `chunk ${index}`,
    vector: Float32Array.of(1, 0),
  }));
  [{ runNum } = { runNum: 0 }] = await publishDocuments(database.db, target, [{ chunks }], MODEL);
  modelNum = await within((sql) => embeddingModelNum(sql, MODEL, 2));
});

test("a run with all entries continues after its last chunk, refused chunks or not", async () => {
  expect(await next()).toBe(CHUNKS);
  await withoutVectors(510, 513);
  await mark(...between(510, 513));
  expect(await next()).toBe(CHUNKS);
  expect(await refused()).toEqual({ run_num: runNum, count: 4, named: between(510, 513) });
});

test("a run continues with the first batch that lacks a vector of a chunk that is not refused", async () => {
  await withoutVectors(600, CHUNKS);
  await mark(600);
  expect(await next()).toBe(512);
  await withoutVectors(3, 3);
  expect(await next()).toBe(0);
});

test("a batch of refused chunks is not complete until its terms are indexed", async () => {
  await withoutVectors(512, CHUNKS);
  await mark(...between(512, CHUNKS - 1));
  await within((sql) =>
    sql.query("delete from posting_runs where run_num = $1 and first_chunk >= 512", [runNum]),
  );
  expect(await next()).toBe(512);
});

test("refused chunks of the model are counted if they have no vector, and a hundred are named", async () => {
  await mark(7);
  expect(await refused()).toBeUndefined();
  await withoutVectors(0, 299);
  await mark(...between(0, 299));
  expect(await refused()).toEqual({ run_num: runNum, count: 300, named: between(0, 99) });
  const other = await within((sql) => embeddingModelNum(sql, "another-model", 2));
  expect(
    (await within((sql) => readRefused(sql, { ...run(), runNums: [runNum], modelNum: other }))).size,
  ).toBe(0);
});

test("a run is refused as a whole once every chunk is", async () => {
  const isWhole = () => within((sql) => isRefusedWhole(sql, runNum, modelNum));
  await mark(...between(1, CHUNKS - 1));
  expect(await isWhole()).toBe(false);
  await mark(0);
  expect(await isWhole()).toBe(true);
});
