import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DomainError } from "../../src/domain/errors.ts";
import { hybridSearch } from "../../src/search/hybrid.ts";
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
