import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Sql, inTenant } from "../../src/db/pool.ts";
import { hideRun } from "../../src/db/search/hidden.ts";
import { findSegmentsToPurge } from "../../src/db/search/index/due-segments.ts";
import { mergeSegments, purgeSegment } from "../../src/db/search/index/segments.ts";
import { DomainError } from "../../src/domain/errors.ts";
import { newId } from "../../src/domain/ids.ts";
import { type SearchDeps, type SearchRequest, hybridSearch } from "../../src/search/hybrid.ts";
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

const DIMENSIONS = 8;
const model = { name: "test-model", dimensions: DIMENSIONS, fusion: { alpha: 0.4, bm25Saturation: 8 } };

/** A vector that points mostly along one axis. */
const along = (axis: number, rest = 0): Float32Array =>
  Float32Array.from({ length: DIMENSIONS }, (_, at) => (at === axis ? 1 : rest));

let database: TestDatabase;
let organization: Awaited<ReturnType<typeof createOrganization>>;
let target: SearchSpace;
let folders: { parent: string; child: string };
let documents: Record<"root" | "parent" | "child" | "wordsOnly", WrittenDocument>;

const deps = (embed: SearchDeps["queryEmbedding"]["embed"] = async () => along(0)): SearchDeps => ({
  db: database.db,
  queryEmbedding: { model, embed },
});
const search = (request: SearchRequest, scope: SearchSpace = target) => hybridSearch(deps(), scope, request);
const names = async (request: SearchRequest, scope: SearchSpace = target): Promise<string[]> =>
  (await search(request, scope)).results.map((hit) => hit.document_name).toSorted();

beforeAll(async () => {
  database = await createTestDatabase();
  organization = await createOrganization(database.db);
  target = await createSpace(database.db, organization);
  const parent = await createFolder(database.db, target, "Reports");
  folders = { parent, child: await createFolder(database.db, target, "2026", parent) };
  const [root, inParent, inChild, wordsOnly] = await publishDocuments(database.db, target, [
    {
      name: "root.txt",
      chunks: [
        { text: "The quick brown fox jumps over the lazy dog.", vector: along(0, 0.2) },
        { text: "Nothing of it here.", vector: along(1) },
      ],
    },
    {
      name: "parent.txt",
      folderId: parent,
      chunks: [{ text: "A fox is a small wild animal, and foxes are quick.", vector: along(2) }],
    },
    {
      name: "child.txt",
      folderId: folders.child,
      chunks: [{ text: "Dogs and foxes are relatives.", vector: along(0, 0.9) }],
    },
    { name: "words.txt", chunks: [{ text: "fox without a vector" }] },
  ]);
  documents = { root: root!, parent: inParent!, child: inChild!, wordsOnly: wordsOnly! };
});
afterAll(() => database.drop());

describe("a hit", () => {
  test("has all that the interface promises", async () => {
    const { results } = await search({ query: "lazy dogs" });
    expect(results[0]).toEqual({
      chunk_id: documents.root.chunkIds[0],
      document_id: documents.root.id,
      document_name: "root.txt",
      file_type: "TEXT",
      folder_path: null,
      chunk_index: 0,
      score: expect.any(Number),
      dense_score: expect.any(Number),
      sparse_score: expect.any(Number),
      text: "The quick brown fox jumps over the lazy dog.",
      metadata: {
        format: "text",
        page_start: null,
        page_end: null,
        highlights: [
          [35, 39],
          [40, 43],
        ],
      },
    });
    expect(results.find((hit) => hit.document_name === "child.txt")!.folder_path).toBe("Reports/2026");
  });

  test("has shares that add up, null where a side has nothing for it, in falling order", async () => {
    const { results, warning } = await search({ query: "fox", limit: 100 });
    expect(warning).toBeUndefined();
    expect(results.length).toBe(5);
    for (const hit of results) expect(hit.score).toBe((hit.dense_score ?? 0) + (hit.sparse_score ?? 0));
    expect(results.map((hit) => hit.score)).toEqual(
      results.map((hit) => hit.score).toSorted((one, other) => other - one),
    );
    expect(results.find((hit) => hit.text.startsWith("Nothing"))!.sparse_score).toBeNull();
    expect(results.find((hit) => hit.document_name === "words.txt")).toMatchObject({
      dense_score: null,
      sparse_score: expect.any(Number),
    });
    expect(results.find((hit) => hit.document_name === "parent.txt")!.dense_score).toBe(0);
  });

  test("keeps its score whatever else is found", async () => {
    const all = (await search({ query: "fox", limit: 100 })).results.find(
      (hit) => hit.document_name === "child.txt",
    );
    const alone = (await search({ query: "fox", document_ids: [documents.child.id] })).results;
    expect(alone).toEqual([all]);
  });
});

describe("a filter narrows and never widens", () => {
  test("by documents", async () => {
    expect(await names({ query: "fox", document_ids: [documents.parent.id, documents.child.id] })).toEqual([
      "child.txt",
      "parent.txt",
    ]);
    expect(await names({ query: "fox", document_ids: [] })).toEqual([]);
    expect(await names({ query: "fox", document_ids: [newId()] })).toEqual([]);
    expect((await names({ query: "fox", document_ids: null })).length).toBe(5);
    expect(
      await names({
        query: "fox",
        document_ids: [documents.child.id, ...Array.from({ length: 999 }, () => newId())],
      }),
    ).toEqual(["child.txt"]);
  });

  test("by folders with all below them", async () => {
    expect(await names({ query: "fox", folder_ids: [folders.parent] })).toEqual(["child.txt", "parent.txt"]);
    expect(await names({ query: "fox", folder_ids: [folders.child] })).toEqual(["child.txt"]);
    expect(await names({ query: "fox", folder_ids: [] })).toEqual([]);
    expect(
      await names({ query: "fox", folder_ids: [folders.child], document_ids: [documents.parent.id] }),
    ).toEqual([]);
  });

  test("by score and by chunks of a document", async () => {
    const { results } = await search({ query: "fox", limit: 100 });
    const bound = results[1]!.score;
    expect((await search({ query: "fox", min_score: bound })).results.length).toBe(2);
    expect(
      (await names({ query: "fox", max_chunks_per_document: 1 })).filter((name) => name === "root.txt")
        .length,
    ).toBe(1);
    expect((await search({ query: "fox", limit: 2 })).results).toEqual(results.slice(0, 2));
  });

  test("by documents and folders of elsewhere: nothing", async () => {
    const other = await createSpace(database.db, organization);
    const stranger = await createSpace(database.db, await createOrganization(database.db));
    for (const scope of [other, stranger]) {
      expect(await names({ query: "fox" }, scope)).toEqual([]);
      expect(await names({ query: "fox", document_ids: [documents.root.id] }, scope)).toEqual([]);
      expect(await names({ query: "fox", folder_ids: [folders.parent] }, scope)).toEqual([]);
    }
    expect(await names({ query: "fox" }, { ...stranger, space: target.space })).toEqual([]);
  });
});

test("what is hidden, deleted or in a deleted folder is not found", async () => {
  const space = await createSpace(database.db, organization);
  const folder = await createFolder(database.db, space, "Gone");
  const [hidden, deleted] = await publishDocuments(database.db, space, [
    { name: "hidden.txt", chunks: [{ text: "a fox", vector: along(0) }] },
    { name: "deleted.txt", chunks: [{ text: "a fox", vector: along(0) }] },
    { name: "in-folder.txt", folderId: folder, chunks: [{ text: "a fox", vector: along(0) }] },
    { name: "live.txt", chunks: [{ text: "a fox", vector: along(0) }] },
  ]);
  await inTenant(database.db, space.organization, async (sql) => {
    await hideRun(sql, {
      organizationNum: space.organization.num,
      spaceNum: space.space.num,
      runNum: hidden!.runNum,
      reason: "superseded",
    });
    await sql.query("update documents set deleted_at = now() where id = $1", [deleted!.id]);
    await sql.query("update folders set deleted_at = now() where id = $1", [folder]);
  });
  expect(await names({ query: "fox" }, space)).toEqual(["live.txt"]);
  expect(await names({ query: "fox", folder_ids: [folder] }, space)).toEqual([]);
});

describe("operators", () => {
  test("a phrase must be there word for word, an excluded word must not", async () => {
    expect(await names({ query: '"lazy dog"' })).toEqual(["root.txt"]);
    expect(await names({ query: '"dog lazy"' })).toEqual([]);
    expect(await names({ query: "fox -dog", limit: 100 })).toEqual(["parent.txt", "root.txt", "words.txt"]);
    expect(await names({ query: 'fox -"small wild"', limit: 100 })).not.toContain("parent.txt");
  });
});

test("without the query's vector the words answer alone, and the answer says so", async () => {
  const failing = deps(() => Promise.reject(new DomainError("provider_timeout", "too slow")));
  const { results, warning } = await hybridSearch(failing, target, { query: "fox" });
  expect(warning).toBe("dense_unavailable");
  expect(results.map((hit) => hit.document_name).toSorted()).toEqual([
    "child.txt",
    "parent.txt",
    "root.txt",
    "words.txt",
  ]);
  expect(results.every((hit) => hit.dense_score === null && hit.sparse_score === hit.score)).toBe(true);
});

test("an aborted search ends with the reason", async () => {
  const reason = new Error("went away");
  await expect(
    hybridSearch(
      deps(async (_text, _organizationId, signal) => Promise.reject(signal!.reason)),
      target,
      { query: "fox" },
      AbortSignal.abort(reason),
    ),
  ).rejects.toBe(reason);
});

test("a space without chunks has no results", async () => {
  expect(await names({ query: "fox" }, await createSpace(database.db, organization))).toEqual([]);
});

test("chunks in one language are found by a query's words in their own forms, in a space of many languages", async () => {
  const space = await createSpace(database.db, organization);
  const texts = {
    de: "Die Zahlungen wurden von der Bank nicht ausgeführt.",
    fr: "Les paiements ont été refusés par la banque.",
    zh: "银行没有执行付款。",
    ru: "Банк не провёл платежи за этот месяц.",
  };
  await publishDocuments(
    database.db,
    space,
    Object.entries(texts).map(([name, text]) => ({ name, chunks: [{ text }] })),
  );
  expect(await names({ query: "Zahlung" }, space)).toEqual(["de"]);
  expect(await names({ query: "paiement refusé" }, space)).toEqual(["fr"]);
  expect(await names({ query: "付款" }, space)).toEqual(["zh"]);
  expect(await names({ query: "платеж" }, space)).toEqual(["ru"]);
});

test("no query breaks the search", async () => {
  const queries = [
    "x",
    "?!…",
    "\0",
    "\ud800",
    "a\0b \udfff",
    "fox ".repeat(5_000),
    "-",
    '"',
    '"\0"',
    "ﷺ",
    "%_\\'",
    "🦊",
  ];
  for (const query of queries) await expect(search({ query })).resolves.toHaveProperty("results");
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary", maxLength: 200 }), async (query) => {
      await search({ query });
    }),
    { numRuns: 30 },
  );
});

test(
  "while a document is published a thousand times, a search sees one version of it, whole: never two, never none",
  { timeout: 300_000 },
  async () => {
    const space = await createSpace(database.db, organization);
    const version = (number: number) => ({
      chunks: [0, 1].map((part) => ({
        text: `fox part ${part} of version ${number}`,
        vector: along(part, number / 2_000),
      })),
    });
    const [document] = await publishDocuments(database.db, space, [version(0)]);
    let runNum = document!.runNum;
    let isPublishing = true;
    const publisher = (async () => {
      for (let number = 1; number <= 1_000; number++)
        runNum = await republishDocument(database.db, space, { id: document!.id, runNum }, version(number));
    })().finally(() => (isPublishing = false));
    const tenant = <T>(work: (sql: Sql) => Promise<T>): Promise<T> =>
      inTenant(database.db, space.organization, work);
    const tidier = (async () => {
      while (isPublishing) {
        for (const segment of await tenant((sql) => findSegmentsToPurge(sql, { spaceNum: space.space.num })))
          await tenant((sql) => purgeSegment(sql, segment));
        await tenant((sql) => mergeSegments(sql, space.organization.num, space.space.num));
      }
    })();
    const seen: string[][] = [];
    while (isPublishing)
      seen.push(
        (await search({ query: "fox" }, space)).results
          .map((hit) => `${hit.chunk_index} ${hit.text.split(" ").at(-1)}`)
          .toSorted(),
      );
    await Promise.all([publisher, tidier]);
    expect(seen.length).toBeGreaterThan(5);
    for (const hits of seen) {
      const number = hits[0]?.split(" ")[1];
      expect(hits).toEqual([`0 ${number}`, `1 ${number}`]);
    }
    expect(new Set(seen.map((hits) => hits[0])).size).toBeGreaterThan(1);
  },
);

test("many searches at once share the pool and all end", async () => {
  const answers = await Promise.all(Array.from({ length: 40 }, () => search({ query: "fox" })));
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
});

describe("a reranker", () => {
  const withReranker = (
    rank: (query: string, texts: readonly string[]) => Promise<Array<number | null>>,
  ) => ({ ...deps(), reranker: { rank } });

  test("puts the hits in its order, of which the request then takes what it asked for", async () => {
    const byLength = withReranker(async (_, texts) => texts.map((text) => -text.length));
    const all = (await search({ query: "fox", limit: 100 })).results;
    const { results, warning } = await hybridSearch(byLength, target, {
      query: "fox",
      limit: 2,
      max_chunks_per_document: 1,
    });
    expect(warning).toBeUndefined();
    const shortest = all.toSorted((one, other) => one.text.length - other.text.length);
    expect(results.map((hit) => hit.text)).toEqual([shortest[0]!.text, shortest[1]!.text]);
    expect(results[0]!.metadata["rerank_score"]).toBe(-shortest[0]!.text.length);
    expect(results[0]!.score).toBe(shortest[0]!.score);
  });

  test("leaves a hit that it refuses at its place, and puts the others in order around it", async () => {
    const all = (await search({ query: "fox", limit: 100 })).results;
    expect(all.length).toBeGreaterThan(3);
    const refused = all[1]!.text;
    const backwards = withReranker(async (_, texts) =>
      texts.map((text, at) => (text === refused ? null : at)),
    );
    const { results, warning } = await hybridSearch(backwards, target, { query: "fox", limit: 100 });
    const others = all.filter((hit) => hit.text !== refused).map((hit) => hit.text);
    expect(warning).toBeUndefined();
    expect(results.map((hit) => hit.text)).toEqual(others.toReversed().toSpliced(1, 0, refused));
    expect(results[1]!.metadata).not.toHaveProperty("rerank_score");
  });

  test("that is away changes nothing, and the answer says so", async () => {
    const away = withReranker(() => Promise.reject(new DomainError("provider_timeout", "too slow")));
    const { results, warning } = await hybridSearch(away, target, { query: "fox", limit: 3 });
    expect(warning).toBe("rerank_unavailable");
    expect(results).toEqual((await search({ query: "fox", limit: 3 })).results);
  });
});
