import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inTenant } from "../../src/db/pool.ts";
import { hideRun } from "../../src/db/search/hidden.ts";
import { DomainError } from "../../src/domain/errors.ts";
import { newId } from "../../src/domain/ids.ts";
import { hybridSearch } from "../support/search/hybrid-search.ts";
import { type FoxSpace, along, createFoxSpace } from "../support/stack/fox-space.ts";
import {
  createFolder,
  createOrganization,
  createSpace,
  publishDocuments,
} from "../support/stack/search-space.ts";

let foxes: FoxSpace;
beforeAll(async () => {
  foxes = await createFoxSpace();
});
afterAll(() => foxes.drop());

describe("a hit", () => {
  test("has all that the interface promises", async () => {
    const { results } = await foxes.search({ query: "lazy dogs" });
    expect(results[0]).toEqual({
      chunk_id: foxes.documents.root.chunkIds[0],
      document_id: foxes.documents.root.id,
      space_id: foxes.target.space.id,
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
      places: null,
    });
    expect(results.find((hit) => hit.document_name === "child.txt")!.folder_path).toBe("Reports/2026");
  });

  test("has shares that add up, null where a side has nothing for it, in falling order", async () => {
    const { results, warning } = await foxes.search({ query: "fox", limit: 100 });
    expect(warning).toBeUndefined();
    expect(results).toHaveLength(5);
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
    const all = (await foxes.search({ query: "fox", limit: 100 })).results.find(
      (hit) => hit.document_name === "child.txt",
    );
    const alone = (await foxes.search({ query: "fox", document_ids: [foxes.documents.child.id] })).results;
    expect(alone).toEqual([all]);
  });
});

describe("a model that does not know the language of a question", () => {
  const asked = async (fit: number, alpha?: number) => {
    const deps = foxes.deps();
    const model = { ...deps.queryEmbedding.model, fitOf: () => fit };
    return hybridSearch({ ...deps, queryEmbedding: { ...deps.queryEmbedding, model } }, foxes.target, {
      query: "fox",
      alpha,
    });
  };
  const most = ({ results }: Awaited<ReturnType<typeof asked>>) =>
    Math.max(...results.map((hit) => hit.dense_score ?? 0));

  test("has a share that falls with what it knows, and the answer says so", async () => {
    const [known, half, unknown] = [await asked(1), await asked(0.5), await asked(0)];
    expect(most(half)).toBeCloseTo(most(known) / 2, 9);
    expect(most(unknown)).toBeLessThan(most(known) / 20);
    expect([known, half, unknown].map((answer) => answer.warning)).toEqual([
      undefined,
      undefined,
      "language_unknown",
    ]);
    expect(unknown.results[0]!.text).toContain("fox");
  });

  test("keeps the share that the request gives it", async () => {
    const given = await asked(0, 0.4);
    expect(most(given)).toBeCloseTo(most(await asked(1)), 9);
    expect(given.warning).toBeUndefined();
  });
});

describe("a document that was cut between two words of a question", () => {
  test("stands before one that has one of them as often", async () => {
    const space = await createSpace(foxes.database.db, foxes.organization);
    const filler = "gravel granite basalt";
    await publishDocuments(foxes.database.db, space, [
      { name: "one.txt", chunks: [{ text: `walrus ${filler}` }, { text: `${filler} slate` }] },
      { name: "both.txt", chunks: [{ text: `walrus ${filler}` }, { text: `${filler} narwhal` }] },
      { name: "far.txt", chunks: [{ text: `narwhal ${filler}` }, { text: `${filler} slate` }] },
    ]);
    const { results } = await foxes.search({ query: "walrus narwhal" }, space);
    expect(results.slice(0, 2).map((hit) => hit.document_name)).toEqual(["both.txt", "both.txt"]);
    expect(results[0]!.score).toBeGreaterThan(results[2]!.score);
  });
});

describe("a filter narrows and never widens", () => {
  test("by documents", async () => {
    expect(
      await foxes.names({
        query: "fox",
        document_ids: [foxes.documents.parent.id, foxes.documents.child.id],
      }),
    ).toEqual(["child.txt", "parent.txt"]);
    expect(await foxes.names({ query: "fox", document_ids: [] })).toEqual([]);
    expect(await foxes.names({ query: "fox", document_ids: [newId()] })).toEqual([]);
    expect(await foxes.names({ query: "fox", document_ids: null })).toHaveLength(5);
    expect(
      await foxes.names({
        query: "fox",
        document_ids: [foxes.documents.child.id, ...Array.from({ length: 999 }, () => newId())],
      }),
    ).toEqual(["child.txt"]);
  });

  test("by folders with all below them", async () => {
    expect(await foxes.names({ query: "fox", folder_ids: [foxes.folders.parent] })).toEqual([
      "child.txt",
      "parent.txt",
    ]);
    expect(await foxes.names({ query: "fox", folder_ids: [foxes.folders.child] })).toEqual(["child.txt"]);
    expect(await foxes.names({ query: "fox", folder_ids: [] })).toEqual([]);
    expect(
      await foxes.names({
        query: "fox",
        folder_ids: [foxes.folders.child],
        document_ids: [foxes.documents.parent.id],
      }),
    ).toEqual([]);
  });

  test("by score and by chunks of a document", async () => {
    const { results } = await foxes.search({ query: "fox", limit: 100 });
    const bound = results[1]!.score;
    expect((await foxes.search({ query: "fox", min_score: bound })).results).toHaveLength(2);
    expect(
      (await foxes.names({ query: "fox", max_chunks_per_document: 1 })).filter((name) => name === "root.txt"),
    ).toHaveLength(1);
    expect((await foxes.search({ query: "fox", limit: 2 })).results).toEqual(results.slice(0, 2));
  });

  test("by documents and folders of elsewhere: nothing", async () => {
    const other = await createSpace(foxes.database.db, foxes.organization);
    const stranger = await createSpace(foxes.database.db, await createOrganization(foxes.database.db));
    for (const scope of [other, stranger]) {
      expect(await foxes.names({ query: "fox" }, scope)).toEqual([]);
      expect(await foxes.names({ query: "fox", document_ids: [foxes.documents.root.id] }, scope)).toEqual([]);
      expect(await foxes.names({ query: "fox", folder_ids: [foxes.folders.parent] }, scope)).toEqual([]);
    }
    expect(await foxes.names({ query: "fox" }, { ...stranger, space: foxes.target.space })).toEqual([]);
  });
});

test("what is hidden, deleted or in a deleted folder is not found", async () => {
  const space = await createSpace(foxes.database.db, foxes.organization);
  const folder = await createFolder(foxes.database.db, space, "Gone");
  const [hidden, deleted] = await publishDocuments(foxes.database.db, space, [
    { name: "hidden.txt", chunks: [{ text: "a fox", vector: along(0) }] },
    { name: "deleted.txt", chunks: [{ text: "a fox", vector: along(0) }] },
    { name: "in-folder.txt", folderId: folder, chunks: [{ text: "a fox", vector: along(0) }] },
    { name: "live.txt", chunks: [{ text: "a fox", vector: along(0) }] },
  ]);
  await inTenant(foxes.database.db, space.organization, async (sql) => {
    await hideRun(sql, {
      organizationNum: space.organization.num,
      spaceNum: space.space.num,
      runNum: hidden!.runNum,
      reason: "superseded",
    });
    await sql.query("update documents set deleted_at = now() where id = $1", [deleted!.id]);
    await sql.query("update folders set deleted_at = now() where id = $1", [folder]);
  });
  expect(await foxes.names({ query: "fox" }, space)).toEqual(["live.txt"]);
  expect(await foxes.names({ query: "fox", folder_ids: [folder] }, space)).toEqual([]);
});

describe("operators", () => {
  test("a phrase must be there word for word, an excluded word must not", async () => {
    expect(await foxes.names({ query: '"lazy dog"' })).toEqual(["root.txt"]);
    expect(await foxes.names({ query: '"dog lazy"' })).toEqual([]);
    expect(await foxes.names({ query: "fox -dog", limit: 100 })).toEqual([
      "parent.txt",
      "root.txt",
      "words.txt",
    ]);
    expect(await foxes.names({ query: 'fox -"small wild"', limit: 100 })).not.toContain("parent.txt");
  });
});

test("without the query's vector the words answer alone, and the answer says so", async () => {
  const failing = foxes.deps(() => Promise.reject(new DomainError("provider_timeout", "too slow")));
  const { results, warning } = await hybridSearch(failing, foxes.target, { query: "fox" });
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
      foxes.deps(async (_text, _organizationId, signal) => Promise.reject(signal!.reason)),
      foxes.target,
      { query: "fox" },
      AbortSignal.abort(reason),
    ),
  ).rejects.toBe(reason);
});

test("a space without chunks has no results", async () => {
  expect(
    await foxes.names({ query: "fox" }, await createSpace(foxes.database.db, foxes.organization)),
  ).toEqual([]);
});

test("in a space of many languages, a query finds chunks with other forms of its words", async () => {
  const space = await createSpace(foxes.database.db, foxes.organization);
  const texts = {
    de: "Die Zahlungen wurden von der Bank nicht ausgeführt.",
    fr: "Les paiements ont été refusés par la banque.",
    zh: "银行没有执行付款。",
    ru: "Банк не провёл платежи за этот месяц.",
  };
  await publishDocuments(
    foxes.database.db,
    space,
    Object.entries(texts).map(([name, text]) => ({ name, chunks: [{ text }] })),
  );
  expect(await foxes.names({ query: "Zahlung" }, space)).toEqual(["de"]);
  expect(await foxes.names({ query: "paiement refusé" }, space)).toEqual(["fr"]);
  expect(await foxes.names({ query: "付款" }, space)).toEqual(["zh"]);
  expect(await foxes.names({ query: "платеж" }, space)).toEqual(["ru"]);
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
  for (const query of queries) await expect(foxes.search({ query })).resolves.toHaveProperty("results");
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary", maxLength: 200 }), async (query) => {
      await foxes.search({ query });
    }),
    { numRuns: 30 },
  );
});

test("many searches at once share the pool and all end", async () => {
  const answers = await Promise.all(Array.from({ length: 40 }, () => foxes.search({ query: "fox" })));
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
});
