/** Two workers with one database, and a provider that asks them to wait. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createProviderGate, MAX_CLOSED_SECONDS } from "../../../src/db/instance/provider-gate.ts";
import { PartlyEmbedded } from "../../../src/models/embedding/caller.ts";
import type { EmbeddingModel } from "../../../src/models/embedding/embedding-model.ts";
import { mergeEmbeddings } from "../../../src/models/embedding/merge.ts";
import { createOpenAiEmbeddings } from "../../../src/models/embedding/openai.ts";
import { behindGate } from "../../../src/models/provider/gate.ts";
import { createTestDatabase, type TestDatabase } from "../../support/servers/database.ts";
import type { Poison } from "../../support/provider/poisoned-embeddings.ts";
import { type ScriptedProvider, startScriptedProvider } from "../../support/provider/scripted-provider.ts";
import { until } from "../../support/until.ts";

let database: TestDatabase;
let provider: ScriptedProvider;
let openai: EmbeddingModel;

beforeAll(async () => {
  [database, provider] = await Promise.all([createTestDatabase(), startScriptedProvider({ dimensions: 8 })]);
  openai = await createOpenAiEmbeddings(
    { baseUrl: provider.url, apiKey: "sk-scripted", embeddingDimensions: 8 },
    "scripted-embedding",
  );
});

afterEach(() => {
  provider.clearFaults();
  provider.poisonTexts();
});

afterAll(async () => {
  await provider.close();
  await database.drop();
});

const worker = (name: string): EmbeddingModel => behindGate(openai, createProviderGate(database.db, name));
const embed = (model: EmbeddingModel) => model.embed(["a text"], "passage");
const closedForSeconds = async (name: string): Promise<number> =>
  Number(
    (
      await database.db.owner.query(
        "select extract(epoch from not_before - now()) as seconds from provider_gates where provider = $1",
        [name],
      )
    ).rows[0].seconds,
  );

test.each([
  [429, "provider_rate_limited"],
  [503, "provider_unavailable"],
])(
  "after a %i with Retry-After no worker asks until the time is over, and each says what was answered",
  async (status, code) => {
    const name = `waits ${status}`;
    const [one, other] = [worker(name), worker(name)];
    provider.failEmbeddings({ status, headers: { "retry-after": "2" } }, 1);
    const asked = provider.counts.embeddings;
    const refusedAt = performance.now();
    await expect(embed(one)).rejects.toMatchObject({ class: "outage", retryAfterSeconds: 2 });
    await expect(embed(one)).rejects.toMatchObject({ code, class: "outage" });
    await expect(embed(other)).rejects.toMatchObject({ code, class: "outage" });
    expect(provider.counts.embeddings).toBe(asked + 1);
    await until(
      "both are let through again",
      async () => (await embed(one)).length === 1 && (await embed(other)).length === 1,
    );
    expect(performance.now() - refusedAt).toBeGreaterThan(1_900);
  },
);

test("a worker that read the gate while it was open finds it closed within a second", async () => {
  const [one, other] = [worker("stale"), worker("stale")];
  await embed(other);
  provider.failEmbeddings({ status: 429, headers: { "retry-after": "30" } }, 1);
  await expect(embed(one)).rejects.toMatchObject({ class: "outage" });
  const from = performance.now();
  await until("the other one is held back too", () =>
    embed(other).then(
      () => false,
      () => true,
    ),
  );
  expect(performance.now() - from).toBeLessThan(1_500);
});

test("all workers together try a dead provider once a second, and all ask when it is back", async () => {
  const workers = Array.from({ length: 5 }, () => worker("down"));
  provider.failEmbeddings({ status: 503 });
  const asked = provider.counts.embeddings;
  const from = performance.now();
  await expect(embed(workers[0]!)).rejects.toMatchObject({ class: "outage" });
  // All workers try as hard as they can.
  await until("it was tried four times", async () => {
    await Promise.allSettled(workers.map(embed));
    return provider.counts.embeddings - asked >= 4;
  });
  expect(provider.counts.embeddings - asked).toBe(4);
  expect(performance.now() - from).toBeGreaterThan(2_900);
  provider.clearFaults();
  await until("every worker is let through", async () =>
    (await Promise.allSettled(workers.map(embed))).every(({ status }) => status === "fulfilled"),
  );
});

test("what the provider asks for is bounded, and a shorter wait never opens a gate early", async () => {
  provider.failEmbeddings({ status: 429, headers: { "retry-after": "86400" } }, 1);
  await expect(embed(worker("bounded"))).rejects.toMatchObject({ retryAfterSeconds: MAX_CLOSED_SECONDS });
  await createProviderGate(database.db, "bounded").close(1, "provider_rate_limited");
  expect(await closedForSeconds("bounded")).toBeGreaterThan(MAX_CLOSED_SECONDS - 60);
});

test("a text that the provider refuses closes nothing", async () => {
  const model = worker("refused");
  provider.failEmbeddings({ status: 400 }, 1);
  await expect(embed(model)).rejects.toMatchObject({ code: "rejected_by_provider" });
  expect(await embed(model)).toHaveLength(1);
});

test("many requests within a second read the gate once", async () => {
  const model = worker("cached");
  await embed(model);
  const reads = async (): Promise<number> =>
    Number(
      (
        await database.db.owner.query(
          `select coalesce(sum(seq_scan + idx_scan), 0) as scans
             from pg_stat_user_tables
            where relname = 'provider_gates'`,
        )
      ).rows[0].scans,
    );
  const before = await reads();
  await Promise.all(Array.from({ length: 20 }, () => embed(model)));
  expect((await reads()) - before).toBeLessThanOrEqual(2);
});

describe("a text that the provider fails on", () => {
  const POISON = "a poison text";
  const FAILURES: Array<[string, Poison]> = [
    ["500", { status: 500 }],
    ["502", { status: 502 }],
    ["no valid JSON", { garbage: true }],
    ["a cut connection", { cut: true }],
  ];

  test.each(FAILURES)("by %s waits, and closes the gate to nobody", async (name, poison) => {
    const model = worker(`fails alone by ${name}`);
    provider.poisonTexts((text) => (text === POISON ? poison : undefined));
    await expect(model.embed([POISON], "passage")).rejects.toMatchObject({
      code: "provider_unavailable",
      class: "outage",
      retryAfterSeconds: undefined,
    });
    expect(await embed(model)).toHaveLength(1);
    expect(await closedForSeconds(`fails alone by ${name}`).catch(() => 0)).toBeLessThanOrEqual(0);
  });

  test.each(FAILURES)("by %s waits alone: who shared its request has all vectors", async (name, poison) => {
    const merged = mergeEmbeddings(worker(`fails beside by ${name}`));
    provider.poisonTexts((text) => (text === POISON ? poison : undefined));
    const of = (userId: string): EmbeddingModel =>
      merged.forWork({ priority: "now", organizationId: "acme", userId });
    const [culprit, ...others] = await Promise.allSettled([
      of("ann").embed([POISON], "passage"),
      ...["ben", "cas", "dee"].map((user) => of(user).embed(["one", "two"], "passage")),
    ]);
    expect(culprit).toMatchObject({
      status: "rejected",
      reason: { code: "provider_unavailable", class: "outage" },
    });
    for (const other of others)
      expect(other).toMatchObject({
        status: "fulfilled",
        value: [expect.any(Float32Array), expect.any(Float32Array)],
      });
  });

  test("costs the other texts of its call nothing: they come with the error", async () => {
    const merged = mergeEmbeddings(worker("fails in a call"));
    provider.poisonTexts((text) => (text === POISON ? { status: 500 } : undefined));
    const error = await merged
      .forWork({ priority: "now", organizationId: "acme", userId: "ann" })
      .embed(["one", POISON, "two"], "passage")
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PartlyEmbedded);
    expect((error as PartlyEmbedded).outcomes).toEqual([
      expect.any(Float32Array),
      undefined,
      expect.any(Float32Array),
    ]);
  });

  test("is parted from nobody while the provider fails on every text", async () => {
    const merged = mergeEmbeddings(worker("fails on all"));
    const all = (): Promise<unknown> =>
      merged
        .forWork({ priority: "now", organizationId: "acme", userId: "ann" })
        .embed(["one", "two", "three"], "passage");
    await all();
    provider.failEmbeddings({ status: 500 });
    const asked = provider.counts.embeddings;
    await expect(all()).rejects.toMatchObject({ code: "provider_unavailable", class: "outage" });
    expect(provider.counts.embeddings - asked).toBeLessThanOrEqual(2);
  });
});
