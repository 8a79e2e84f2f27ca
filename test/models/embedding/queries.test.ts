import { afterEach, beforeEach, expect, test } from "vitest";
import { createEmbeddingModel } from "../../../src/models/embedding/embedding-model.ts";
import { type QueryEmbeddings, cacheQueries } from "../../../src/models/embedding/queries.ts";
import { type ScriptedProvider, startScriptedProvider } from "../../support/provider/scripted-provider.ts";
import { until } from "../../support/until.ts";

let provider: ScriptedProvider;
beforeEach(async () => {
  provider = await startScriptedProvider({ embeddingMs: 20 });
});
afterEach(() => provider.close());

async function queries(options: Partial<Parameters<typeof cacheQueries>[1]> = {}): Promise<QueryEmbeddings> {
  const model = await createEmbeddingModel({
    baseUrl: provider.url,
    embeddingModel: "m",
    embeddingDimensions: 384,
  });
  return cacheQueries(model, { timeoutMs: 5_000, ...options });
}

test("asks once for a question that is asked again", async () => {
  const cache = await queries();
  const first = await cache.embed("what?", "acme");
  expect(await cache.embed("what?", "acme")).toBe(first);
  expect(provider.counts.texts).toBe(1);
});

test("equal questions of one moment are one, different ones share a request", async () => {
  const cache = await queries();
  await Promise.all(["a", "b", "a", "a"].map((text) => cache.embed(text, "acme")));
  expect(provider.requests.map(({ body }) => body["input"])).toEqual([["a", "b"]]);
});

test("forgets the question that was asked longest ago", async () => {
  const cache = await queries({ maxBytes: 2 * 384 * 4 + 10 });
  for (const text of ["a", "b", "a", "c", "a", "b"]) await cache.embed(text, "acme");
  expect(provider.requests.map(({ body }) => body["input"])).toEqual([["a"], ["b"], ["c"], ["b"]]);
});

test("counts the length of a question in what is kept", async () => {
  const cache = await queries({ maxBytes: 2 * 384 * 4 + 10 });
  for (const text of ["a", "long".repeat(10), "a"]) await cache.embed(text, "acme");
  expect(provider.counts.texts).toBe(3);
});

test("gives up when the time is up, and keeps what comes later", async () => {
  const cache = await queries({ timeoutMs: 5 });
  await expect(cache.embed("slow", "acme")).rejects.toMatchObject({ code: "provider_timeout" });
  await until("the late vector", async () => (await cache.embed("slow", "acme")).length === 384);
  expect(provider.counts.texts).toBe(1);
});

test("does not keep a failure", async () => {
  provider.failEmbeddings({ status: 500 }, 1);
  const cache = await queries();
  await expect(cache.embed("a", "acme")).rejects.toMatchObject({ code: "provider_unavailable" });
  expect(await cache.embed("a", "acme")).toHaveLength(384);
});

test("an abort leaves the others that ask the same alone", async () => {
  const cache = await queries();
  const abort = new AbortController();
  const first = cache.embed("a", "acme", abort.signal);
  const second = cache.embed("a", "acme");
  abort.abort();
  await expect(first).rejects.toMatchObject({ name: "AbortError" });
  expect(await second).toHaveLength(384);
});

test("two organizations ask the same question twice at one moment, and once when it is known", async () => {
  const cache = await queries();
  await Promise.all(["acme", "globex"].map((organization) => cache.embed("what?", organization)));
  expect(provider.requests.map(({ body }) => body["input"])).toEqual([["what?"], ["what?"]]);
  await cache.embed("what?", "initech");
  expect(provider.counts.texts).toBe(2);
});

test("a question that the provider refuses is an error, and no reason to wait", async () => {
  provider.poisonTexts((text) => (text === "!?" ? "zeros" : undefined));
  const cache = await queries();
  const [refused, other] = await Promise.allSettled([
    cache.embed("!?", "acme"),
    cache.embed("what?", "acme"),
  ]);
  expect(refused).toMatchObject({ status: "rejected", reason: { code: "rejected_by_provider" } });
  expect(other.status).toBe("fulfilled");
});
