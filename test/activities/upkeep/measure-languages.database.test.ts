/** Index upkeep measures models on the vectors of a space: when, on which, and for whom. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { measureLanguages } from "../../../src/activities/upkeep/measure-languages.ts";
import { inTenant } from "../../../src/db/pool.ts";
import { deleteContainers } from "../../../src/db/deletions/purge.ts";
import { hideRun } from "../../../src/db/search/hidden.ts";
import {
  findModelsToMeasure,
  keepMeasured,
  listSpacesToMeasure,
} from "../../../src/db/search/index/language-fit.ts";
import { readSearchScope } from "../../../src/db/search/scope.ts";
import { type TestDatabase, createTestDatabase } from "../../support/servers/database.ts";
import {
  type SearchSpace,
  type WrittenDocument,
  createFolder,
  createOrganization,
  createSpace,
  publishDocuments,
} from "../../support/stack/search-space.ts";
import { addStatistics } from "../../support/stack/statistics.ts";

const MODEL = "test-model";
const LENGTH = 256;

let database: TestDatabase;
let target: SearchSpace;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  target = await createSpace(database.db, await createOrganization(database.db));
});

type Kind = "told" | "untold";
let made = 0;

/** Chunks of a document are near to each other and far from all others, or all are equally far. */
function chunksOf(kind: Kind, count: number) {
  const document = made++;
  return Array.from({ length: count }, (_, chunk) => ({
    text: `text ${document} ${chunk}`,
    vector: Float32Array.from({ length: LENGTH }, (__, at) => {
      if (kind === "untold") return at === (document * count + chunk) % LENGTH ? 1 : 0;
      return at === document % 200 ? 1 : Number(at === 200 + chunk) * 0.3;
    }),
  }));
}

/** Publishes documents with their runs, as the pipeline records them. */
async function publish(
  kind: Kind,
  documents: number,
  { chunks = 2, folderId = null, space = target, model = MODEL } = {} as {
    readonly chunks?: number;
    readonly folderId?: string | null;
    readonly space?: SearchSpace;
    readonly model?: string;
  },
): Promise<WrittenDocument[]> {
  const written = await publishDocuments(
    database.db,
    space,
    Array.from({ length: documents }, () => ({ folderId, chunks: chunksOf(kind, chunks) })),
    model,
  );
  await database.db.owner.query(
    `insert into pipeline_runs (
       id, num, organization_id, space_id, space_num, document_id, version, trigger, status, object_key,
       file_name, file_type, file_size, chunker_name, embedding_model, chunk_count)
     overriding system value
     select id, published_run_num, organization_id, space_id, space_num, id, 1, 'upload', 'completed', 'object',
            name, file_type, 1, 'page_based', $2, $3
     from documents
     where id = any($1::uuid[])`,
    [written.map(({ id }) => id), model, chunks],
  );
  return written;
}

const measure = (space = target) => measureLanguages(database.db, space.organization, space.space.num);
const isDue = async (space = target) =>
  (await listSpacesToMeasure(database.db.system, 1_000)).some((one) => one.spaceNum === space.space.num);
const kept = async (space = target) =>
  (
    await database.db.owner.query<{ auc: number | null; pairs: number; chunks_measured: number }>(
      "select auc, pairs, chunks_measured from language_fits where space_num = $1 order by model_num",
      [space.space.num],
    )
  ).rows;
const scopeFit = async (folderIds: string[] | null = null) =>
  inTenant(database.db, target.organization, async (sql) => {
    const filter = { documentIds: null, folderIds };
    const { models } = await readSearchScope(sql, { space: target.space, filter });
    return models.map(({ name, languageFit }) => ({ name, languageFit }));
  });
const hide = ({ runNum }: WrittenDocument) =>
  inTenant(database.db, target.organization, (sql) =>
    hideRun(sql, {
      organizationNum: target.organization.num,
      spaceNum: target.space.num,
      runNum,
      reason: "superseded",
    }),
  );

test("neighbours that the model puts together: the space's language is known, and a search is told so", async () => {
  await publish("told", 40);
  expect(await scopeFit()).toEqual([{ name: MODEL, languageFit: null }]);
  expect(await isDue()).toBe(true);
  expect(await measure()).toBe(1);
  expect(await kept()).toEqual([{ auc: 1, pairs: 40, chunks_measured: 80 }]);
  expect(await scopeFit()).toEqual([{ name: MODEL, languageFit: 1 }]);
  expect(await scopeFit([randomUUID()])).toEqual([{ name: MODEL, languageFit: 1 }]);
  expect(await isDue()).toBe(false);
  expect(await measure()).toBe(0);
});

test("vectors that tell nothing apart: the fit is 0", async () => {
  await publish("untold", 40);
  expect(await measure()).toBe(1);
  expect(await kept()).toEqual([{ auc: 0.5, pairs: 40, chunks_measured: 80 }]);
  expect(await scopeFit()).toEqual([{ name: MODEL, languageFit: 0 }]);
});

test("a space of few chunks is not measured; of one with few pairs that is noted", async () => {
  await publish("told", 16);
  expect(await isDue()).toBe(false);
  expect([await measure(), await kept()]).toEqual([0, []]);
  await publish("told", 15);
  expect(await isDue()).toBe(true);
  expect(await measure()).toBe(1);
  expect(await kept()).toEqual([{ auc: null, pairs: 31, chunks_measured: 62 }]);
  expect(await scopeFit()).toEqual([{ name: MODEL, languageFit: null }]);
  expect(await isDue()).toBe(false);
});

test("it is measured again when a quarter came or went, and forgotten when too little is left", async () => {
  await publish("told", 40);
  await measure();
  await publish("told", 9);
  expect(await isDue()).toBe(false);
  await publish("untold", 1);
  expect(await isDue()).toBe(true);
  await measure();
  expect(await kept()).toMatchObject([{ pairs: 50, chunks_measured: 100 }]);
  const count = (chunks: number) =>
    inTenant(database.db, target.organization, (sql) =>
      addStatistics(sql, {
        organizationNum: target.organization.num,
        spaceNum: target.space.num,
        chunks,
        terms: 0,
        embeddingModel: MODEL,
      }),
    );
  await count(-24);
  expect(await isDue()).toBe(false);
  await count(-1);
  expect(await isDue()).toBe(true);
  await measure();
  expect(await kept()).toMatchObject([{ chunks_measured: 75 }]);
  await count(-75);
  expect(await isDue()).toBe(true);
  expect([await measure(), await kept(), await isDue()]).toEqual([0, [], false]);
});

test("reads neither other spaces, nor other organizations, nor other models", async () => {
  const beside = await createSpace(database.db, { ...target.organization, userId: target.userId });
  const foreign = await createSpace(database.db, await createOrganization(database.db));
  await publish("told", 40);
  await publish("untold", 300, { space: beside });
  await publish("untold", 60, { space: foreign });
  await publish("untold", 300, { model: "other-model" });
  expect(await measure()).toBe(2);
  expect(await kept()).toEqual([
    { auc: 1, pairs: 40, chunks_measured: 80 },
    { auc: 0.5, pairs: 256, chunks_measured: 600 },
  ]);
  expect([await kept(beside), await kept(foreign)]).toEqual([[], []]);
  expect(await measureLanguages(database.db, foreign.organization, beside.space.num)).toBe(0);
  expect(await kept(beside)).toEqual([]);
});

test("leaves out what no search sees: hidden runs, deleted documents and deleted folders", async () => {
  const folder = await createFolder(database.db, target, "Deleted");
  await publish("told", 40);
  const hidden = await publish("untold", 10);
  const deleted = await publish("untold", 10);
  await publish("untold", 10, { folderId: folder });
  for (const one of hidden) await hide(one);
  await database.db.owner.query("update documents set deleted_at = now() where id = any($1::uuid[])", [
    deleted.map(({ id }) => id),
  ]);
  await database.db.owner.query("update folders set deleted_at = now() where id = $1", [folder]);
  await measure();
  expect(await kept()).toEqual([{ auc: 1, pairs: 40, chunks_measured: 140 }]);
});

test("chunks without a vector are left out", async () => {
  const written = await publish("told", 50);
  await database.db.owner.query("delete from embeddings where run_num = any($1::int[]) and chunk_index = 1", [
    written.slice(0, 10).map(({ runNum }) => runNum),
  ]);
  await measure();
  expect(await kept()).toMatchObject([{ auc: 1, pairs: 40 }]);
});

test("a large space costs no more than the sample", async () => {
  await publish("told", 3, { chunks: 40 });
  await publish("told", 300);
  await measure();
  const [row] = await kept();
  expect(row).toMatchObject({ pairs: 256, chunks_measured: 720 });
  expect(row!.auc).toBeGreaterThan(0.9);
});

test("two workers at once keep one measure, and a space that is deleted meanwhile gets none", async () => {
  await publish("told", 40);
  await Promise.all([measure(), measure()]);
  expect(await kept()).toHaveLength(1);
  await database.db.owner.query("delete from language_fits where space_num = $1", [target.space.num]);
  const within = <T>(work: Parameters<typeof inTenant<T>>[2]) =>
    inTenant(database.db, target.organization, work);
  const [model] = await within((sql) => findModelsToMeasure(sql, target.space.num));
  await database.db.owner.query("update spaces set deleted_at = now() where id = $1", [target.space.id]);
  const keep = within((sql) => keepMeasured(sql, target.organization.num, model!, { auc: 1, pairs: 40 }));
  expect([await keep, await kept(), await measure()]).toEqual([false, [], 0]);
});

test("the deletion of the space takes it along", async () => {
  const beside = await createSpace(database.db, { ...target.organization, userId: target.userId });
  await publish("told", 40);
  await publish("told", 40, { space: beside });
  await Promise.all([measure(), measure(beside)]);
  await inTenant(database.db, target.organization, (sql) =>
    deleteContainers(sql, { id: randomUUID(), kind: "space", target_id: target.space.id }),
  );
  expect([await kept(), await kept(beside)]).toMatchObject([[], [{ auc: 1 }]]);
});
