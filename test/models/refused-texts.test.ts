/** Finds texts that a provider refuses, and embeds the other texts of their requests. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { type EmbeddingModel, createEmbeddingModel } from "../../src/models/embedding/embedding-model.ts";
import { mergeEmbeddings } from "../../src/models/embedding/merge.ts";
import type { Poison } from "../support/provider/poisoned-embeddings.ts";
import { type ScriptedProvider, startScriptedProvider } from "../support/provider/scripted-provider.ts";
import { until } from "../support/until.ts";

let provider: ScriptedProvider;
beforeEach(async () => {
  provider = await startScriptedProvider({ embeddingMs: 5 });
});
afterEach(() => provider.close());

type Options = Parameters<typeof mergeEmbeddings>[1];

async function merging(
  options: Options = {},
): Promise<(organizationId?: string, userId?: string) => EmbeddingModel> {
  const model = mergeEmbeddings(
    await createEmbeddingModel({ baseUrl: provider.url, embeddingModel: "m", embeddingDimensions: 384 }),
    options,
  );
  return (organizationId = "acme", userId = "ann") =>
    model.forWork({ priority: "now", organizationId, userId });
}
const texts = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${name}${index}`);
const inputs = (): string[][] => provider.requests.map(({ body }) => body["input"]);
const poison = (kind: Poison): void =>
  provider.poisonTexts((text) => (text.includes("poison") ? kind : undefined));
/** The positions of texts without a vector. */
const refusedAt = (vectors: readonly (Float32Array | null)[]): number[] =>
  vectors.flatMap((vector, at) => (vector === null ? [at] : []));

test.each<[string, Poison]>([
  ["400", { status: 400 }],
  ["413", { status: 413 }],
  ["422", { status: 422 }],
  ["zeros", "zeros"],
  ["NaN", "nan"],
  ["a short vector", "short"],
  ["no vector", "missing"],
])("one text of sixty-four that gets %s is found, and the others have their vectors", async (_name, kind) => {
  poison(kind);
  const model = await merging();
  const all = texts("t", 64).with(41, "poison");
  expect(refusedAt(await model().embed(all, "passage"))).toEqual([41]);
  // Two requests for each halving, or one for the text whose vector is the only one that cannot be used.
  expect(provider.counts.embeddings).toBeLessThanOrEqual(1 + 2 * 6 + 1);
  expect(provider.counts.texts).toBeLessThanOrEqual(64 * 3);
});

test("each of many poisonous texts is found, and the known text is asked for a few times", async () => {
  poison({ status: 400 });
  const model = await merging();
  const vectors = await model().embed(texts("poison", 300), "passage");
  expect(refusedAt(vectors)).toHaveLength(300);
  const trials = inputs().filter(([text]) => !text!.startsWith("poison"));
  expect(trials.length).toBeGreaterThan(0);
  expect(trials.length).toBeLessThanOrEqual(10);
  expect(provider.counts.embeddings - trials.length).toBeLessThanOrEqual(2 * 300);
});

test("a refused text of a request of its own is told from an outage by the known text", async () => {
  poison("zeros");
  const model = await merging();
  expect(await model().embed(["poison"], "passage")).toEqual([null]);
  expect(inputs()).toHaveLength(2);
  expect(inputs()[1]).not.toEqual(["poison"]);
});

test.each<[string, Poison]>([
  ["400", { status: 400 }],
  ["zeros", "zeros"],
  ["vectors of another length", "short"],
])(
  "a provider that answers %s to everything is an outage, found by one request more",
  async (_name, kind) => {
    provider.poisonTexts(() => kind);
    const model = await merging();
    await expect(model().embed(texts("t", 64), "passage")).rejects.toMatchObject({
      code: "provider_unavailable",
      class: "outage",
    });
    expect(provider.counts.embeddings).toBe(2);
    provider.poisonTexts();
    expect(refusedAt(await model().embed(["t0"], "passage"))).toEqual([]);
  },
);

test("an outage while a refused request is split reaches those whose texts have no vector yet", async () => {
  poison({ status: 400 });
  const model = await merging({ maxInFlight: 1 });
  provider.poisonTexts((text) => {
    if (text !== "poison") return undefined;
    provider.failEmbeddings({ status: 503 });
    return { status: 400 };
  });
  await expect(model().embed(["a", "poison", "b"], "passage")).rejects.toMatchObject({
    code: "provider_unavailable",
  });
  provider.clearFaults();
  poison({ status: 400 });
  expect(refusedAt(await model().embed(["a", "poison", "b"], "passage"))).toEqual([1]);
});

test.each([401, 403, 404])("%i is no fault of a text: nothing is split", async (status) => {
  provider.failEmbeddings({ status });
  const model = await merging();
  const ended = await Promise.allSettled([
    model().embed(["a"], "passage"),
    model().embed(["b", "c"], "passage"),
  ]);
  for (const outcome of ended)
    expect(outcome).toMatchObject({
      status: "rejected",
      reason: { code: status === 404 ? "rejected_by_provider" : "provider_unavailable" },
    });
  expect(provider.counts.embeddings).toBe(1);
});

test("whoever shares a request with another user's poison is parted from it first", async () => {
  poison({ status: 400 });
  const model = await merging({ maxInFlight: 1 });
  const first = model("acme", "eve").embed(["first"], "passage");
  await until("the first request", () => provider.counts.embeddings === 1);
  const ofAnn = texts("poison", 30).map((text) => model("acme", "ann").embed([text], "passage"));
  const [vectors] = await Promise.all([model("acme", "bob").embed(["fine"], "passage"), first, ...ofAnn]);
  expect(refusedAt(vectors)).toEqual([]);
  // The first request, that of both texts, the known text, and one of the two halves.
  expect(inputs().findIndex((request) => request.length === 1 && request[0] === "fine")).toBeLessThanOrEqual(
    4,
  );
});

test("what was refused is split beside the requests of others, who wait for none of it", async () => {
  poison({ status: 400 });
  const model = await merging({ maxInFlight: 1, maxInFlightOfAll: 1, maxBatch: 64 });
  const poisoned = model("acme").embed(texts("poison", 128), "passage");
  await until("some of it is split", () => provider.counts.embeddings > 10);
  const before = inputs().length;
  await model("globex").embed(["fine"], "passage");
  const at = inputs().findIndex((request) => request.includes("fine"));
  expect(inputs()[at]).toEqual(["fine"]);
  // Under way at that time: one request of each kind, and a known text for each.
  expect(at - before).toBeLessThanOrEqual(6);
  expect(refusedAt(await poisoned)).toHaveLength(128);
});

test("no part of a refused request holds texts of two organizations", async () => {
  poison({ status: 400 });
  const model = await merging();
  await Promise.all(
    ["acme", "globex"].map((name) => model(name).embed([`${name} poison`, ...texts(name, 20)], "passage")),
  );
  for (const request of inputs())
    expect(
      request.some((text) => text.startsWith("acme")) && request.some((text) => text.startsWith("globex")),
    ).toBe(false);
});
