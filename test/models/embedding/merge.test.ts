import { afterEach, beforeEach, expect, test } from "vitest";
import { createEmbeddingModel } from "../../../src/models/embedding/embedding-model.ts";
import type { EmbeddingModel } from "../../../src/models/embedding/embedding-model.ts";
import { mergeEmbeddings } from "../../../src/models/embedding/merge.ts";
import { hashedEmbedding } from "../../support/provider/hashed-embedding.ts";
import { type ScriptedProvider, startScriptedProvider } from "../../support/provider/scripted-provider.ts";
import { until } from "../../support/until.ts";

let provider: ScriptedProvider;
beforeEach(async () => {
  provider = await startScriptedProvider({ embeddingMs: 40 });
});
afterEach(() => provider.close());

type Work = Partial<Parameters<ReturnType<typeof mergeEmbeddings>["forWork"]>[0]>;

async function merging(
  options: Parameters<typeof mergeEmbeddings>[1] = {},
): Promise<(work?: Work) => EmbeddingModel> {
  const model = mergeEmbeddings(
    await createEmbeddingModel({ baseUrl: provider.url, embeddingModel: "m", embeddingDimensions: 384 }),
    options,
  );
  return (work = {}) => model.forWork({ priority: "now", organizationId: "acme", userId: null, ...work });
}
/** The model as it works for one user of one organization. */
const merged = async (...options: Parameters<typeof merging>): Promise<EmbeddingModel> =>
  (await merging(...options))();
const inputs = (): string[][] => provider.requests.map(({ body }) => body["input"]);
const texts = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${name}${index}`);
const near = (vector: Float32Array | null | undefined, text: string): void => {
  const expected = hashedEmbedding(text, 384);
  vector?.forEach((value, index) => expect(value).toBeCloseTo(expected[index]!, 5));
  expect(vector).toHaveLength(384);
};

test("callers of one moment share a request, and each gets its own vectors", async () => {
  const model = await merged();
  const [first, second] = await Promise.all([
    model.embed(["a", "b"], "passage"),
    model.embed(["c"], "passage"),
  ]);
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
  const model = await merging({ maxInFlight: 1, maxBatch: 2 });
  const bulk = model({ priority: "batch" });
  const all = [bulk.embed(texts("bulk", 4), "passage")];
  await until("the first request", () => provider.counts.embeddings === 1);
  all.push(model().embed(["urgent"], "passage"));
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
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({
      status: "rejected",
      reason: { code: "provider_rate_limited", retryAfterSeconds: 3 },
    });
  near((await model.embed(["a"], "passage"))[0], "a");
});

/** The number, from 0, of the first request with the text. */
const flightOf = (text: string): number => inputs().findIndex((request) => request.includes(text));

test("a single text of another organization is in the next request, however many texts wait", async () => {
  const model = await merging({ maxInFlight: 1, maxBatch: 16, maxInFlightOfAll: 1 });
  const large = new AbortController();
  const many = model({ organizationId: "acme" })
    .embed(texts("many", 3_600), "passage", large.signal)
    .catch(() => undefined);
  await until("the first request", () => provider.counts.embeddings === 1);
  near((await model({ organizationId: "globex" }).embed(["single"], "passage"))[0], "single");
  expect(inputs()[1]).toEqual(["single"]);
  large.abort();
  await many;
});

test("requests of different organizations are never merged, and organizations take turns", async () => {
  const model = await merging({ maxInFlight: 1, maxBatch: 2, maxInFlightOfAll: 1 });
  const [one, two] = [model({ organizationId: "one" }), model({ organizationId: "two" })];
  const first = model({ organizationId: "three" }).embed(["first"], "passage");
  await until("the first request", () => provider.counts.embeddings === 1);
  await Promise.all([
    first,
    one.embed(texts("a", 6), "passage"),
    two.embed(texts("b", 4), "passage"),
    one.embed(["c"], "passage"),
  ]);
  expect(inputs()).toEqual([
    ["first"],
    ["c", "a0"],
    ["b0", "b1"],
    ["a1", "a2"],
    ["b2", "b3"],
    ["a3", "a4"],
    ["a5"],
  ]);
});

test("an organization that always has something new does not keep another from its turn", async () => {
  const model = await merging({ maxInFlight: 1, maxBatch: 2, maxInFlightOfAll: 1 });
  const large = model({ organizationId: "large" }).embed(texts("large", 8), "passage");
  const small = model({ organizationId: "small" });
  // Each comes while the one before is under way, so the large one has always waited longer.
  for (let sent = 1; sent <= 4; sent++) {
    await until("a request of the other", () => provider.counts.embeddings >= 2 * sent - 1);
    await small.embed([`small${sent}`], "passage");
  }
  await large;
  expect(flightOf("large6")).toBeLessThanOrEqual(7);
});

test("users of one organization share each request, and take turns where it is too small", async () => {
  const model = await merging({ maxInFlight: 1, maxBatch: 1 });
  const [ann, bob] = [model({ userId: "ann" }), model({ userId: "bob" })];
  await Promise.all([
    ann.embed(texts("ann", 3), "passage"),
    ann.embed(texts("more", 2), "passage"),
    bob.embed(texts("bob", 3), "passage"),
  ]);
  const users = inputs().map(([text]) => (text!.startsWith("bob") ? "bob" : "ann"));
  expect(users.slice(0, 6)).toEqual(["ann", "bob", "ann", "bob", "ann", "bob"]);

  provider.requests.length = 0;
  const wide = await merging({ maxInFlight: 1, maxBatch: 8 });
  const first = wide({ userId: "eve" }).embed(["first"], "passage");
  await until("the first request", () => inputs().length === 1);
  await Promise.all([
    first,
    wide({ userId: "ann" }).embed(texts("a", 20), "passage"),
    wide({ userId: "bob" }).embed(texts("b", 20), "passage"),
  ]);
  expect(inputs()[1]).toEqual([...texts("a", 4), ...texts("b", 4)]);
});

test("small work passes large work of the same user, by the size of the whole work", async () => {
  const model = await merging({ maxInFlight: 1, maxBatch: 4 });
  const first = model().embed(["first"], "passage");
  await until("the first request", () => provider.counts.embeddings === 1);
  await Promise.all([
    first,
    model({ size: 5_000 }).embed(texts("large", 4), "passage"),
    model({ size: 6 }).embed(texts("small", 6), "passage"),
  ]);
  expect(inputs().slice(1)).toEqual([
    texts("small", 4),
    ["small4", "small5", "large0", "large1"],
    ["large2", "large3"],
  ]);
});

test("large work gets a request in four under endless small work", async () => {
  const model = await merging({ maxInFlight: 1, maxBatch: 2 });
  let isOver = false;
  let sent = 0;
  const flood = async (): Promise<void> => {
    while (!isOver) await model({ size: 1 }).embed([`small${sent++}`], "passage");
  };
  const floods = Array.from({ length: 6 }, flood);
  await until("the flood", () => provider.counts.embeddings >= 2);
  const before = provider.counts.embeddings;
  await model({ size: 8 }).embed(texts("large", 8), "passage");
  isOver = true;
  await Promise.all(floods);
  const withLarge = inputs().flatMap((request, at) =>
    request.some((text) => text.startsWith("large")) ? [at] : [],
  );
  expect(withLarge).toHaveLength(4);
  expect(withLarge[3]! - before).toBeLessThanOrEqual(17);
  expect(withLarge.slice(1).map((at, before) => at - withLarge[before]!)).toEqual([4, 4, 4]);
});

test("work in bulk gets a request in eight under endless work that somebody waits for", async () => {
  const model = await merging({ maxInFlight: 1, maxBatch: 1 });
  let isOver = false;
  const flood = async (name: string): Promise<void> => {
    for (let sent = 0; !isOver; sent++) await model().embed([`${name}${sent}`], "passage");
  };
  const floods = ["x", "y", "z"].map(flood);
  await until("the flood", () => provider.counts.embeddings >= 2);
  await model({ priority: "batch" }).embed(texts("bulk", 3), "passage");
  isOver = true;
  await Promise.all(floods);
  expect(flightOf("bulk1") - flightOf("bulk0")).toBe(8);
  expect(flightOf("bulk2") - flightOf("bulk1")).toBe(8);
});
