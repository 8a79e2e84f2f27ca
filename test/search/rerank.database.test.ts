import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DomainError } from "../../src/domain/errors.ts";
import type { Reranker } from "../../src/models/rerank/types.ts";
import { hybridSearch } from "../support/search/hybrid-search.ts";
import { type FoxSpace, createFoxSpace } from "../support/stack/fox-space.ts";

let foxes: FoxSpace;
beforeAll(async () => {
  foxes = await createFoxSpace();
});
afterAll(() => foxes.drop());

describe("a reranker", () => {
  const withReranker = (
    rank: (query: string, texts: readonly string[]) => Promise<Array<number | null>>,
  ) => ({ ...foxes.deps(), reranker: { rank } });

  test("puts the hits in its order, of which the request then takes what it asked for", async () => {
    const byLength = withReranker(async (_, texts) => texts.map((text) => -text.length));
    const all = (await foxes.search({ query: "fox", limit: 100 })).results;
    const { results, warning } = await hybridSearch(byLength, foxes.target, {
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
    const all = (await foxes.search({ query: "fox", limit: 100 })).results;
    expect(all.length).toBeGreaterThan(3);
    const refused = all[1]!.text;
    const backwards = withReranker(async (_, texts) =>
      texts.map((text, at) => (text === refused ? null : at)),
    );
    const { results, warning } = await hybridSearch(backwards, foxes.target, { query: "fox", limit: 100 });
    const others = all.filter((hit) => hit.text !== refused).map((hit) => hit.text);
    expect(warning).toBeUndefined();
    expect(results.map((hit) => hit.text)).toEqual(others.toReversed().toSpliced(1, 0, refused));
    expect(results[1]!.metadata).not.toHaveProperty("rerank_score");
  });

  test("is left out by a request that says so, and is not asked", async () => {
    let asked = 0;
    const counting = withReranker(async (_, texts) => {
      asked += 1;
      return texts.map((text) => -text.length);
    });
    const request = { query: "fox", limit: 3 };
    const { results } = await hybridSearch(counting, foxes.target, { ...request, rerank: false });
    expect(results).toEqual((await foxes.search(request)).results);
    expect(asked).toBe(0);
  });

  test("that is away changes nothing, and the answer says so", async () => {
    const away = withReranker(() => Promise.reject(new DomainError("provider_timeout", "too slow")));
    const { results, warning } = await hybridSearch(away, foxes.target, { query: "fox", limit: 3 });
    expect(warning).toBe("rerank_unavailable");
    expect(results).toEqual((await foxes.search({ query: "fox", limit: 3 })).results);
  });
});

describe("the chat model as a reranker", () => {
  const byModel = (rank: Reranker["rank"], reranker?: Reranker) => ({
    ...foxes.deps(),
    ...(reranker === undefined ? {} : { reranker }),
    modelReranker: { rank },
  });
  const backwards: Reranker["rank"] = async (_, texts) => texts.map((_text, at) => at);
  const request = { query: "fox", limit: 3 } as const;

  test("is asked by those requests alone that name it, and then in place of the other one", async () => {
    const asked: string[] = [];
    const deps = byModel(
      async (query, texts) => {
        asked.push("model");
        return backwards(query, texts);
      },
      {
        async rank(query, texts) {
          asked.push("endpoint");
          return backwards(query, texts);
        },
      },
    );
    for (const rerank of [undefined, true, false, "model"] as const)
      await hybridSearch(deps, foxes.target, { ...request, rerank });
    expect(asked).toEqual(["endpoint", "endpoint", "model"]);
  });

  test("has its order, and the hits bring their neighbours", async () => {
    const all = (await foxes.search({ query: "fox", limit: 100 })).results;
    const deps = byModel(backwards);
    const { results, warning } = await hybridSearch(deps, foxes.target, {
      ...request,
      rerank: "model",
      context: 1,
    });
    expect(warning).toBeUndefined();
    expect(results.map((hit) => hit.text)).toEqual(
      all
        .toReversed()
        .slice(0, 3)
        .map((hit) => hit.text),
    );
    expect(results.every((hit) => hit.context !== undefined)).toBe(true);
  });

  test.each([
    ["no model is configured", undefined, "rerank_unavailable"],
    ["it is down", new DomainError("provider_unavailable", "down"), "rerank_unavailable"],
    ["it refuses", new DomainError("rejected_by_provider", "no"), "rerank_unavailable"],
    ["the books cannot be read", new DomainError("database_unavailable", "down"), "rerank_unavailable"],
    ["the budget is used up", new DomainError("token_budget_exceeded", "none left"), "rerank_over_budget"],
  ])("if %s, hits are in the order of their scores, and the answer says so", async (_, error, expected) => {
    const deps = error === undefined ? foxes.deps() : byModel(() => Promise.reject(error));
    const { results, warning } = await hybridSearch(deps, foxes.target, { ...request, rerank: "model" });
    expect(warning).toBe(expected);
    expect(results).toEqual((await foxes.search(request)).results);
  });

  test("a caller who leaves gets no answer in another order", async () => {
    const gone = new AbortController();
    const deps = byModel(async () => {
      gone.abort(new Error("The client has left."));
      throw new DomainError("provider_unavailable", "aborted");
    });
    const searched = hybridSearch(deps, foxes.target, { ...request, rerank: "model" }, gone.signal);
    await expect(searched).rejects.toThrow("The client has left.");
  });
});
