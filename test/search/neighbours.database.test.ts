/** What a hit brings of the chunks beside it: its own version's, within the caller's reach, bounded. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { readTenant } from "../../src/db/pool.ts";
import { NEIGHBOURS_MAX_CHARACTERS, readNeighbours } from "../../src/db/search/neighbours.ts";
import { searchSpaces } from "../../src/search/hybrid.ts";
import { withNeighbours } from "../../src/search/neighbours.ts";
import type { SearchHit, SearchRequest } from "../../src/search/request.ts";
import { type TestDatabase, createTestDatabase } from "../support/servers/database.ts";
import {
  type SearchSpace,
  type WrittenDocument,
  createFolder,
  createOrganization,
  createSpace,
  publishDocuments,
  republishDocument,
} from "../support/stack/search-space.ts";

const model = { name: "test-model", dimensions: 4, fusion: { alpha: 0.4, bm25Saturation: 8 } };
const vector = Float32Array.from([1, 0, 0, 0]);
const TEXTS = [
  "The first part.",
  "A second part.",
  "The heron nests here.",
  "A fourth part.",
  "The last part.",
];

let database: TestDatabase;
let here: SearchSpace;
let there: SearchSpace;
let document: WrittenDocument;

const ownSpace = async (): Promise<SearchSpace> =>
  createSpace(database.db, await createOrganization(database.db));
async function publish(target: SearchSpace, texts: readonly string[], folderId?: string) {
  const [written] = await publishDocuments(database.db, target, [
    { chunks: texts.map((text) => ({ text, vector })), ...(folderId === undefined ? {} : { folderId }) },
  ]);
  return written!;
}
async function search(request: SearchRequest, target = here, spaces = [target.space]): Promise<SearchHit[]> {
  const deps = { db: database.db, queryEmbedding: { model, embed: async () => vector } };
  return (await searchSpaces(deps, { organization: target.organization, spaces }, request)).results;
}
const hitAt = async (index: number, context: number): Promise<SearchHit> =>
  (await search({ query: "part heron", limit: 100, context, document_ids: [document.id] })).find(
    (hit) => hit.chunk_index === index,
  )!;
const indexes = ({ context }: SearchHit) => [
  context?.before.map((one) => one.chunk_index),
  context?.after.map((one) => one.chunk_index),
];

beforeAll(async () => {
  database = await createTestDatabase();
  here = await ownSpace();
  there = await ownSpace();
  document = await publish(here, TEXTS);
  // Its runs and indexes are like those of the other organization's document.
  await publish(there, TEXTS);
});
afterAll(() => database.drop());

test("a hit without neighbours asked for has no context", async () => {
  for (const context of [undefined, 0]) {
    const [hit] = await search({ query: "heron", limit: 1, context });
    expect(hit!.text).toBe(TEXTS[2]);
    expect(hit).not.toHaveProperty("context");
  }
});

test("neighbours stand in the document's order, with their ids and texts", async () => {
  const [hit] = await search({ query: "heron", limit: 1, context: 2 });
  const neighbour = (at: number) => ({ chunk_id: document.chunkIds[at], chunk_index: at, text: TEXTS[at] });
  expect(hit!.chunk_id).toBe(document.chunkIds[2]);
  expect(hit!.context).toEqual({
    before: [neighbour(0), neighbour(1)],
    after: [neighbour(3), neighbour(4)],
  });
});

test.each([
  [0, 1, [[], [1]]],
  [0, 3, [[], [1, 2, 3]]],
  [1, 3, [[0], [2, 3, 4]]],
  [4, 3, [[1, 2, 3], []]],
  [3, 1, [[2], [4]]],
])(
  "at the edges of a document there are fewer: chunk %i, %i on each side",
  async (index, context, expected) => {
    expect(indexes(await hitAt(index, context))).toEqual(expected);
  },
);

test("a document of one chunk has empty sides", async () => {
  const only = await publish(here, ["A lone otter."]);
  const [hit] = await search({ query: "otter", document_ids: [only.id], context: 3 });
  expect(hit!.context).toEqual({ before: [], after: [] });
});

test("neighbours are of the hit's own version", async () => {
  const written = await publish(here, ["An old kite.", "Beside the old kite."]);
  await republishDocument(database.db, here, written, {
    chunks: [
      { text: "Before the kite.", vector },
      { text: "A fresh kite.", vector },
    ],
  });
  const hits = await search({ query: "fresh", document_ids: [written.id], context: 3, limit: 1 });
  expect(hits.map((hit) => [hit.text, hit.context])).toEqual([
    ["A fresh kite.", { before: [expect.objectContaining({ text: "Before the kite." })], after: [] }],
  ]);
});

test("hits of several spaces bring their own neighbours, whatever narrows the search", async () => {
  const other = await createSpace(database.db, {
    ...here.organization,
    userId: here.userId,
  });
  const folder = await createFolder(database.db, other, "Birds");
  const written = await publish(other, ["A wren sings.", "Beside the wren."], folder);
  const request = { query: "wren heron", limit: 2, context: 1, max_chunks_per_document: 1 };
  const both = await search(request, here, [here.space, other.space]);
  expect(new Map(both.map((hit) => [hit.text, indexes(hit)]))).toEqual(
    new Map([
      ["A wren sings.", [[], [1]]],
      [TEXTS[2], [[1], [3]]],
    ]),
  );
  const narrowed = await search({ ...request, folder_ids: [folder] }, here, [here.space, other.space]);
  expect(narrowed.map((hit) => [hit.document_id, indexes(hit)])).toEqual([[written.id, [[], [1]]]]);
});

test("what is deleted or replaced between the search and its neighbours has none", async () => {
  const texts = ["A stork stands.", "Beside the stork."];
  const [deleted, replaced, kept] = [
    await publish(here, texts),
    await publish(here, texts),
    await publish(here, texts),
  ];
  const ids = [deleted.id, replaced.id, kept.id];
  const hits = await search({ query: "stands", document_ids: ids, max_chunks_per_document: 1 });
  expect(hits).toHaveLength(3);
  await database.db.owner.query("update documents set deleted_at = now() where id = $1", [deleted.id]);
  await republishDocument(database.db, here, replaced, { chunks: [{ text: "Other words.", vector }] });
  const found = await withNeighbours(database.db, { ...here, spaces: [here.space] }, hits, 1);
  const contexts = new Map(found.map((hit) => [hit.document_id, hit.context?.after.length]));
  expect(contexts).toEqual(
    new Map([
      [deleted.id, undefined],
      [replaced.id, undefined],
      [kept.id, 1],
    ]),
  );
});

test("nobody gets the neighbours of another organization or of a space out of reach", async () => {
  const hits = await search({ query: "heron", limit: 1 });
  const contextIn = async (target: SearchSpace, spaces: readonly SearchSpace["space"][]) =>
    (await withNeighbours(database.db, { organization: target.organization, spaces }, hits, 3))[0]!.context;
  expect(await contextIn(here, [here.space])).toBeDefined();
  expect(await contextIn(here, [])).toBeUndefined();
  expect(await contextIn(here, [there.space])).toBeUndefined();
  // The tenant's wall holds also where the space is named.
  expect(await contextIn(there, [here.space, there.space])).toBeUndefined();
});

test("all texts together are bounded, nearest first, and the first hits are served first", async () => {
  const long = "x".repeat(NEIGHBOURS_MAX_CHARACTERS / 4 + 1);
  const written = await publish(here, [long, "A gull.", "Another gull.", long, long]);
  const chunk = (at: number) => ({
    chunk_id: written.chunkIds[at]!,
    document_id: written.id,
    chunk_index: at,
  });
  const read = await readTenant(database.db, here.organization, (sql) =>
    readNeighbours(sql, [here.space.id], [chunk(2), chunk(1)], 2),
  );
  const shown = read.map((one) =>
    [one!.before, one!.after].map((side) => side.map((near) => near.chunk_index)),
  );
  expect(shown).toEqual([
    [
      [0, 1],
      [3, 4],
    ],
    [[], []],
  ]);
});
