import { afterEach, beforeEach, expect, test } from "vitest";
import { createEmbeddingModel } from "../../src/models/embedding-model.ts";
import { type MergingEmbeddingModel, mergeEmbeddings } from "../../src/models/merge-embeddings.ts";
import { hashedEmbedding } from "../support/hashed-embedding.ts";
import { type ScriptedProvider, startScriptedProvider } from "../support/scripted-provider.ts";
import { until } from "../support/until.ts";

let provider: ScriptedProvider;
beforeEach(async () => void (provider = await startScriptedProvider({ embeddingMs: 40 })));
afterEach(() => provider.close());

async function merged(options: Parameters<typeof mergeEmbeddings>[1] = {}): Promise<MergingEmbeddingModel> {
  const model = await createEmbeddingModel({ baseUrl: provider.url, embeddingModel: "m", embeddingDimensions: 384 });
  return mergeEmbeddings(model, options);
}
const inputs = (): string[][] => provider.requests.map(({ body }) => body["input"]);
const texts = (name: string, count: number): string[] => Array.from({ length: count }, (_, index) => `${name}${index}`);
const near = (vector: Float32Array | undefined, text: string): void => {
  const expected = hashedEmbedding(text, 384);
  vector?.forEach((value, index) => expect(value).toBeCloseTo(expected[index]!, 5));
  expect(vector).toHaveLength(384);
};

test("callers of one moment share a request, and each gets its own vectors", async () => {
  const model = await merged();
  const [first, second] = await Promise.all([model.embed(["a", "b"], "passage"), model.embed(["c"], "passage")]);
  expect(inputs()).toEqual([["c", "a", "b"]]);
  near(first[1], "b");
  near(second[0], "c");
});

test("while requests are under way the next ones gather", async () => {
  const model = await merged({ maxInFlight: 1 });
  const first = model.embed(["first"], "passage");
  await until("the first request", () => provider.counts.embeddings === 1);
  await Promise.all([first, ...texts("t", 5).map((text) => model.embed([text], "passage"))]);
  expect(inputs()).toEqual([["first"], texts("t", 5)]);
});

test("work that somebody waits for goes before work in bulk", async () => {
  const model = await merged({ maxInFlight: 1, maxBatch: 2 });
  const bulk = model.forPriority("batch");
  const all = [bulk.embed(texts("bulk", 4), "passage")];
  await until("the first request", () => provider.counts.embeddings === 1);
  all.push(model.forPriority("now").embed(["urgent"], "passage"));
  await Promise.all(all);
  expect(inputs()).toEqual([["bulk0", "bulk1"], ["urgent"], ["bulk2", "bulk3"]]);
});

test("a large document shares its requests with a small one", async () => {
  const model = await merged({ maxInFlight: 1, maxBatch: 4 });
  const large = model.embed(texts("large", 9), "passage");
  const small = model.embed(["small"], "passage");
  near((await small)[0], "small");
  expect(inputs().slice(0, 2)).toEqual([texts("large", 4), ["small", "large4", "large5", "large6"]]);
  const vectors = await large;
  expect(vectors).toHaveLength(9);
  near(vectors[8], "large8");
});

test("questions and passages never share a request", async () => {
  const model = await merged();
  await Promise.all([model.embed(["p"], "passage"), model.embed(["q"], "query")]);
  expect(inputs()).toEqual([["p"], ["q"]]);
});

test("an abort of one caller leaves the others alone; that of the last one ends the request", async () => {
  provider.failEmbeddings({ hang: true }, 1);
  const model = await merged({ maxInFlight: 1 });
  const [one, two] = [new AbortController(), new AbortController()];
  const first = model.embed(["one"], "passage", one.signal);
  const second = model.embed(["two"], "passage", two.signal);
  await until("the request", () => provider.counts.embeddings === 1);
  const waiting = model.embed(["three"], "passage");
  one.abort();
  await expect(first).rejects.toMatchObject({ name: "AbortError" });
  expect(provider.counts.aborted).toBe(0);
  two.abort();
  await expect(second).rejects.toMatchObject({ name: "AbortError" });
  await until("the end of the request", () => provider.counts.aborted === 1);
  near((await waiting)[0], "three");
});

test("a caller that leaves the queue is not asked for", async () => {
  const model = await merged({ maxInFlight: 1 });
  const first = model.embed(["first"], "passage");
  await until("the first request", () => provider.counts.embeddings === 1);
  const abort = new AbortController();
  const left = model.embed(["left"], "passage", abort.signal);
  abort.abort();
  await expect(left).rejects.toMatchObject({ name: "AbortError" });
  await Promise.all([first, model.embed(["next"], "passage")]);
  expect(inputs()).toEqual([["first"], ["next"]]);
});

test("an outage reaches every caller of the request, and the next request is made", async () => {
  provider.failEmbeddings({ status: 429, headers: { "retry-after": "3" } }, 1);
  const model = await merged();
  const outcomes = await Promise.allSettled([model.embed(["a"], "passage"), model.embed(["b"], "passage")]);
  for (const outcome of outcomes) expect(outcome).toMatchObject({ status: "rejected", reason: { code: "provider_rate_limited", retryAfterSeconds: 3 } });
  near((await model.embed(["a"], "passage"))[0], "a");
});

test("where a merged request is rejected each caller gets its own answer", async () => {
  provider.failEmbeddings({ status: 400 }, 2);
  const model = await merged();
  const [first, second] = await Promise.allSettled([model.embed(["bad"], "passage"), model.embed(["good"], "passage")]);
  expect(first).toMatchObject({ status: "rejected", reason: { code: "rejected_by_provider" } });
  expect(second.status).toBe("fulfilled");
  expect(inputs()).toEqual([["bad", "good"], ["bad"], ["good"]]);
});
