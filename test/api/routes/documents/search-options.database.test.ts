/**
 * What a search may ask beside its query over HTTP: neighbours of its results, and the model as a reranker.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { compareSearches, searchDocuments } from "../../../../src/api/routes/documents/hybrid-search.ts";
import { createAuthenticator } from "../../../../src/auth/authenticate.ts";
import { DomainError } from "../../../../src/domain/errors.ts";
import type { Principal } from "../../../../src/domain/tenancy/principal.ts";
import type { Reranker } from "../../../../src/models/rerank/types.ts";
import {
  makeKey,
  makeOrganization,
  makeSpace,
  makeUser,
  TEST_PEPPER,
} from "../../../support/tenants/callers.ts";
import { createTestDatabase, type TestDatabase } from "../../../support/servers/database.ts";
import { publishDocuments, type WrittenDocument } from "../../../support/stack/search-space.ts";
import { startTinyApp, type TinyApp } from "../../../support/app/tiny-app.ts";

const vector = Float32Array.from([1, 0, 0, 0]);
const TEXTS = ["Otters sleep.", "Otters swim.", "Otters dive."];
const CHAT_TURNS_A_MINUTE = 5;

let database: TestDatabase;
let app: TinyApp;
let space: string;
let userId: string;
let organization: Awaited<ReturnType<typeof makeOrganization>>;
let document: WrittenDocument;
/** The key of each test is new, so that its budgets are. */
let key: string;
let rank: Reranker["rank"] | undefined;
let rankedFor: Principal[];

beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = database;
  organization = await makeOrganization(db);
  userId = await makeUser(db, organization);
  space = await makeSpace(db, organization, [[userId, "owner"]]);
  const { rows } = await db.owner.query<{ num: number }>("select num from spaces where id = $1", [space]);
  const target = { organization, space: { id: space, num: rows[0]!.num }, userId };
  const chunks = TEXTS.map((text) => ({ text, vector }));
  [document] = (await publishDocuments(db, target, [{ chunks }])) as [WrittenDocument];
  const model = { name: "test-model", dimensions: 4, fusion: { alpha: 0.4, bm25Saturation: 8 } };
  app = await startTinyApp([searchDocuments, compareSearches], {
    settings: { CHAT_RATE_LIMIT_RPM: String(CHAT_TURNS_A_MINUTE), USER_CHAT_RATE_LIMIT_RPM: "1000" },
    db,
    authenticator: createAuthenticator({ db, pepper: TEST_PEPPER }),
    queryEmbedding: { model, embed: async () => vector } as never,
    chat: {
      rerankerFor(principal: Principal) {
        rankedFor.push(principal);
        return rank && { rank };
      },
    } as never,
  });
});
afterAll(async () => {
  await app.close();
  await database.drop();
});
beforeEach(async () => {
  rankedFor = [];
  rank = async (_, texts) => texts.map((_text, at) => at);
  key = (await makeKey(database.db, organization, userId)).text;
});

// oxlint-disable-next-line typescript/no-explicit-any -- a test looks into whatever came
async function search(fields: object, path = ""): Promise<{ headers: Headers; status: number; body: any }> {
  const response = await fetch(`${app.url}/v1/data/hybrid-search${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(path === "" ? { query: "otters", space_id: space, ...fields } : fields),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

test("results bring as many neighbours as the request says, and none if it says nothing", async () => {
  for (const fields of [{}, { context: 0 }])
    expect((await search(fields)).body.results[0]).not.toHaveProperty("context");
  const { status, body } = await search({ query: "dive", limit: 1, context: 1 });
  expect(status).toBe(200);
  expect(body.results).toMatchObject([
    {
      chunk_id: document.chunkIds[2],
      context: { before: [{ chunk_id: document.chunkIds[1], chunk_index: 1, text: TEXTS[1] }], after: [] },
    },
  ]);
});

test.each([
  ["context", 4],
  ["context", -1],
  ["context", 1.5],
  ["context", "many"],
  ["context", null],
  ["rerank", "models"],
  ["rerank", 1],
  ["rerank", ["model"]],
  ["rerank", null],
])("%s: %j is refused by name", async (field, value) => {
  const { status, body } = await search({ [field]: value });
  expect(status).toBe(422);
  expect(body.detail.map((problem: { loc: string[] }) => problem.loc)).toEqual([["body", field]]);
});

test("a search that names the model is reranked for its caller, and counts as a chat turn too", async () => {
  const { headers, body } = await search({ rerank: "model" });
  const indexes = body.results.map((hit: { chunk_index: number }) => hit.chunk_index);
  const before = (await search({ rerank: false })).body.results;
  expect(indexes).toEqual(before.map((hit: { chunk_index: number }) => hit.chunk_index).toReversed());
  expect(rankedFor.map((principal) => principal.user.id)).toEqual([userId]);
  expect(headers.get("ratelimit-policy")).toContain("key-chat");
  expect(headers.get("ratelimit-remaining")).toBe(String(CHAT_TURNS_A_MINUTE - 1));
  expect(headers.get("warning")).toBeNull();
});

test("both sides of a comparison may be reranked, each counts, and a used-up minute is 429", async () => {
  const side = { query: "otters", space_id: space, rerank: "model", context: 1 };
  for (const left of [CHAT_TURNS_A_MINUTE - 2, CHAT_TURNS_A_MINUTE - 4]) {
    const { headers, body } = await search({ left: side, right: side }, "/compare");
    expect(headers.get("ratelimit-remaining")).toBe(String(left));
    expect([body.overlap, body.left.results[0].context.after.length]).toEqual([1, 0]);
  }
  expect((await search({ rerank: "model" })).status).toBe(200);
  const { status, body } = await search({ rerank: "model" });
  expect([status, body.error.code]).toEqual([429, "rate_limited"]);
  expect((await search({})).status).toBe(200);
});

test("without a chat model results are in the order of their scores, with a warning and no chat turn", async () => {
  rank = undefined;
  const { headers, body } = await search({ rerank: "model" });
  expect(body.results).toEqual((await search({})).body.results);
  expect(headers.get("warning")).toContain("The reranker is away");
  expect(headers.get("ratelimit-policy")).not.toContain("chat");
});

test("a month without tokens left is no reason to find nothing", async () => {
  rank = () => Promise.reject(new DomainError("token_budget_exceeded", "The budget is used up."));
  const { headers, status, body } = await search({ rerank: "model" });
  expect(status).toBe(200);
  expect(body.results).toEqual((await search({})).body.results);
  expect(headers.get("warning")).toContain("budget of tokens is used up");
});

test("a key that may only search may have its results reranked", async () => {
  key = (await makeKey(database.db, organization, userId, { capabilities: ["search"] })).text;
  const { status, body } = await search({ rerank: "model" });
  expect([status, body.results[0].metadata.rerank_score]).toEqual([200, 2]);
});
