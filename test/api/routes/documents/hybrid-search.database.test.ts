/** What callers may send to search, and what never breaks it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { searchDocuments } from "../../../../src/api/routes/documents/hybrid-search.ts";
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
      fusion: { alpha: 0.4, bm25Saturation: 8 },
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
  app = await startTinyApp([searchDocuments], {
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
async function search(body: unknown): Promise<{ status: number; warning: string | null; body: any }> {
  const response = await fetch(`${app.url}/v1/data/hybrid-search`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, warning: response.headers.get("warning"), body: await response.json() };
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
