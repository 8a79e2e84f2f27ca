/** What callers may send to search, and what never breaks it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { compareSearches, searchDocuments } from "../../../../src/api/routes/documents/hybrid-search.ts";
import { createAuthenticator } from "../../../../src/auth/authenticate.ts";
import { DomainError } from "../../../../src/domain/errors.ts";
import { newId } from "../../../../src/domain/ids.ts";
import {
  makeKey,
  makeOrganization,
  makeSpace,
  makeUser,
  TEST_PEPPER,
} from "../../../support/tenants/callers.ts";
import { createTestDatabase, type TestDatabase } from "../../../support/servers/database.ts";
import {
  type SearchSpace,
  type WrittenDocument,
  publishDocuments,
} from "../../../support/stack/search-space.ts";
import { startTinyApp, type TinyApp } from "../../../support/app/tiny-app.ts";

const DIMENSIONS = 4;
const vector = Float32Array.from([1, 0, 0, 0]);

let database: TestDatabase;
let app: TinyApp;
let key: string;
let space: string;
let empty: string;
let document: WrittenDocument;
let theirs: { space: string; document: string };
let isProviderAway = false;

/** A tenant with one space that holds one document about otters. */
async function makeTenant(): Promise<{
  key: string;
  space: string;
  empty: string;
  document: WrittenDocument;
}> {
  const { db } = database;
  const organization = await makeOrganization(db);
  const userId = await makeUser(db, organization);
  const [id, other] = [
    await makeSpace(db, organization, [[userId, "owner"]]),
    await makeSpace(db, organization, [[userId, "owner"]]),
  ];
  const { rows } = await db.owner.query<{ num: number }>("select num from spaces where id = $1", [id]);
  const target: SearchSpace = { organization, space: { id, num: rows[0]!.num }, userId };
  const [written] = await publishDocuments(db, target, [
    { name: "otters.txt", chunks: [{ text: "Otters sleep in the river.", vector }] },
  ]);
  return { key: (await makeKey(db, organization, userId)).text, space: id, empty: other, document: written! };
}

beforeAll(async () => {
  database = await createTestDatabase();
  ({ key, space, empty, document } = await makeTenant());
  const stranger = await makeTenant();
  theirs = { space: stranger.space, document: stranger.document.id };
  const queryEmbedding = {
    model: {
      name: "test-model",
      dimensions: DIMENSIONS,
      fusion: { alpha: 0.4 },
      maxTokens: 256,
      embed: async () => [vector],
      countTokens: () => 1,
      tokenOffsets: () => [],
      close: async () => {},
    },
    embed: async () => {
      if (isProviderAway) throw new DomainError("provider_timeout", "too slow");
      return vector;
    },
    another: async () => null,
    close: async () => {},
  };
  const authenticator = createAuthenticator({ db: database.db, pepper: TEST_PEPPER });
  app = await startTinyApp([searchDocuments, compareSearches], {
    db: database.db,
    authenticator,
    queryEmbedding,
  });
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

// oxlint-disable-next-line typescript/no-explicit-any -- a test looks into whatever came
type Answer = { status: number; warning: string | null; remaining: number; body: any };

async function search(body: unknown, path = "/v1/data/hybrid-search"): Promise<Answer> {
  const response = await fetch(`${app.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return {
    status: response.status,
    warning: response.headers.get("warning"),
    remaining: Number(response.headers.get("ratelimit-remaining")),
    body: await response.json(),
  };
}

test.each([
  ["empty", ""],
  ["only white space", " \n\t "],
  ["with a NUL", "otters\0 sleep"],
  ["of 20,000 characters", "otters ".repeat(3_000).slice(0, 20_000)],
])("a query %s is refused by name", async (_, query) => {
  const { status, body } = await search({ query, space_id: space });
  expect(status).toBe(422);
  expect(JSON.stringify(body)).toContain("query");
});

test.each([
  ["one letter", "o"],
  ["as long as may be", "otters ".repeat(1_171).slice(0, 8_192)],
  ["punctuation alone", "?!… — *** ()"],
  ["quotes that do not close", '"otters sleep'],
  ["nothing but exclusions", "-otters -river"],
  ["SQL's own signs", "'; drop table chunks; -- %_\\"],
])("a query of %s is answered", async (_, query) => {
  expect((await search({ query, space_id: space })).status).toBe(200);
});

test("lone surrogates do not break it", async () => {
  expect([200, 400, 422]).toContain(
    (await search(`{"query": "otters \\ud800", "space_id": "${space}"}`)).status,
  );
});

test("a thousand document ids are taken, and one more is refused", async () => {
  const ids = Array.from({ length: 999 }, () => newId());
  const found = async (document_ids: readonly string[], space_id = space) =>
    (await search({ query: "otters", space_id, document_ids })).body.total_results;
  expect(await found([...ids, document.id])).toBe(1);
  expect(await found([...ids, theirs.document])).toBe(0);
  expect(
    (await search({ query: "otters", space_id: space, document_ids: [...ids, newId(), newId()] })).status,
  ).toBe(422);
  expect((await search({ query: "otters", space_id: space, document_ids: ["otters"] })).status).toBe(422);
});

test("a space that is out of reach, unknown or empty has no results, and is no error", async () => {
  for (const space_id of [theirs.space, newId(), empty]) {
    expect(await search({ query: "otters", space_id, document_ids: null })).toMatchObject({
      status: 200,
      body: { space_id, total_results: 0, results: [] },
    });
  }
});

test("of several spaces those out of reach, unknown or empty are as empty ones", async () => {
  const { status, body } = await search({
    query: "otters",
    space_ids: [theirs.space, space, newId(), empty, space],
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({ total_results: 1, results: [{ document_id: document.id, space_id: space }] });
  const none = await search({ query: "otters", space_ids: [theirs.space, newId()] });
  expect(none).toMatchObject({ status: 200, body: { total_results: 0, results: [] } });
});

const SOME = "01900000-0000-7000-8000-00000000abcd";

test.each([
  ["no space", {}, "missing", ["space_id"]],
  ["null as its space", { space_id: null }, "missing", ["space_id"]],
  ["no space of many", { space_ids: [] }, "too_short", ["space_ids"]],
  ["21 spaces", { space_ids: Array.from({ length: 21 }, newId) }, "too_long", ["space_ids"]],
  ["a space and spaces", { space_id: SOME, space_ids: [SOME] }, "value_error", ["space_ids"]],
  ["an unknown filter", { space_id: SOME, filters: { color: 1 } }, "value_error", ["filters", "color"]],
  [
    "a filter of the wrong type",
    { space_id: SOME, filters: { file_size__lt: "big" } },
    "value_error",
    ["filters", "file_size__lt"],
  ],
  ["a document that is no id", { space_id: SOME, document_id: "otters" }, "uuid_parsing", ["document_id"]],
  [
    "a document and documents",
    { space_id: SOME, document_id: SOME, document_ids: [] },
    "value_error",
    ["document_ids"],
  ],
  [
    "a folder and folders",
    { space_id: SOME, folder_id: SOME, folder_ids: [] },
    "value_error",
    ["folder_ids"],
  ],
])("%s is refused at its place", async (_, narrowing, type, path) => {
  const { status, body } = await search({ query: "otters", ...narrowing });
  expect([status, body.detail[0].type, body.detail[0].loc]).toEqual([422, type, ["body", ...path]]);
});

test("document_id, folder_id and filters narrow it", async () => {
  const found = async (narrowing: object) =>
    (await search({ query: "otters", space_id: space, ...narrowing })).body.total_results;
  expect(await found({ document_id: document.id, document_ids: null })).toBe(1);
  expect(await found({ document_id: newId() })).toBe(0);
  expect(await found({ folder_id: newId() })).toBe(0);
  expect(await found({ filters: { file_type: "TEXT" } })).toBe(1);
  expect(await found({ filters: { file_type: "PDF" } })).toBe(0);
  expect(await found({ filters: { "doc_metadata.year__gt": 2000 } })).toBe(0);
});

test("a field that it does not know is refused with the one that is meant, and not passed over", async () => {
  const { status, body } = await search({ query: "otters", space_id: space, document_idd: newId() });
  expect([status, body.detail]).toMatchObject([
    422,
    [
      {
        type: "extra_forbidden",
        loc: ["body", "document_idd"],
        msg: "Extra inputs are not permitted; did you mean document_id?",
      },
    ],
  ]);
});

test("if the query cannot be embedded in time, results are by words, with a Warning", async () => {
  expect(await search({ query: "sleeping otters", space_id: space })).toMatchObject({
    warning: null,
    body: { results: [{ dense_score: expect.any(Number) }] },
  });
  isProviderAway = true;
  const { status, warning, body } = await search({ query: "otters in a river", space_id: space });
  isProviderAway = false;
  expect(status).toBe(200);
  expect(warning).toContain("words alone");
  expect(body.results).toMatchObject([
    {
      dense_score: null,
      sparse_score: expect.any(Number),
      metadata: {
        highlights: [
          [0, 6],
          [20, 25],
        ],
      },
    },
  ]);
});

const compare = (left: object, right: object): Promise<Answer> =>
  search({ left, right }, "/v1/data/hybrid-search/compare");

test("two searches are answered side by side, with what changed between them", async () => {
  const otters = { query: "otters", space_id: space };
  const { status, body } = await compare(otters, { ...otters, document_ids: [] });
  expect(status).toBe(200);
  expect(body.left).toEqual((await search(otters)).body);
  expect(body.right).toMatchObject({ query: "otters", total_results: 0, results: [] });
  const [hit] = body.left.results;
  expect(body.changes).toEqual([
    {
      chunk_id: hit.chunk_id,
      document_id: document.id,
      left_rank: 1,
      right_rank: null,
      left_score: hit.score,
      right_score: null,
      change: "only_left",
    },
  ]);
  expect(body.overlap).toBe(0);
  expect([body.left_ms >= 0, body.right_ms >= 0]).toEqual([true, true]);
  const alike = await compare(otters, { ...otters, rerank: false });
  expect(alike.body).toMatchObject({ overlap: 1, changes: [{ change: "same", right_rank: 1 }] });
});

test("a side that looks into another's space finds nothing there", async () => {
  const { body } = await compare(
    { query: "otters", space_id: theirs.space },
    { query: "otters", space_ids: [space, theirs.space] },
  );
  expect(body.left.results).toEqual([]);
  expect(body.changes).toMatchObject([{ document_id: document.id, change: "only_right" }]);
});

test("a comparison counts as two requests", async () => {
  const otters = { query: "otters", space_id: space };
  const before = (await search(otters)).remaining;
  expect((await compare(otters, otters)).remaining).toBe(before - 2);
});

test("what is wrong with a side is named at its place", async () => {
  const { status, body } = await compare({ query: "otters", space_id: space }, { query: "otters" });
  expect([status, body.detail[0].loc]).toEqual([422, ["body", "right", "space_id"]]);
});
