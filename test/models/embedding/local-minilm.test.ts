import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Worker } from "node:worker_threads";
import { afterAll, expect, test } from "vitest";
import { createEmbeddingModel } from "../../../src/models/embedding/embedding-model.ts";
import { createLocalMiniLm } from "../../../src/models/embedding/local-minilm.ts";
import { mergeEmbeddings } from "../../../src/models/embedding/merge.ts";
import { until } from "../../support/until.ts";

const model = await createEmbeddingModel({});
afterAll(() => model.close());

const dot = (left: Float32Array, right: Float32Array): number =>
  left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0);

test("is what a configuration without a provider gets", () => {
  expect(model).toMatchObject({
    name: "all-minilm-l6-v2-int8",
    dimensions: 384,
    maxTokens: 256,
    fusion: { alpha: 0.55, unrelated: 0.4 },
  });
});

test.each([
  ["English", "How many points did the defense surrender?", 1, 1],
  ["German", "Wie viele Punkte gab die Verteidigung ab?", 0.4, 0.95],
  ["Vietnamese", "Đội phòng thủ đã thua bao nhiêu điểm?", 0, 0.5],
  ["Arabic", "كم نقطة تخلى عنها دفاع البانثرز؟", 0, 0],
  ["Russian", "Сколько очков уступила защита?", 0, 0],
  ["Hindi", "डिफ़ेंस ने कितने अंक दिए?", 0, 0],
  ["Thai", "ฝ่ายรับเสียไปกี่แต้ม", 0, 0],
  ["Chinese", "防守组失去了多少分?", 0, 0.1],
  ["Korean", "수비는 몇 점을 내주었는가?", 0, 0.1],
  ["an emoji and marks", "🙂 \u200f\u202e", 1, 1],
  ["numbers", "42 3.14", 1, 1],
])("knows of %s as much as its vocabulary has words of it", (_, text, least, most) => {
  const fit = model.fitOf!(text);
  expect(fit).toBeGreaterThanOrEqual(least);
  expect(fit).toBeLessThanOrEqual(most);
});

test.each(["VPN", "kubectl", "401k", "JWT expiry", "how do I set up SSO", "Kowalczyk"])(
  "takes %s, which is too short to tell, for no language that it hardly knows",
  (text) => expect(model.fitOf!(text)).toBeGreaterThan(0.25),
);

test("a question of which half is in a language that it does not know counts half", () => {
  const fit = model.fitOf!("restaurant сколько");
  expect(fit).toBeGreaterThan(0.4);
  expect(fit).toBeLessThan(0.7);
});

test("a paraphrase is nearer than an unrelated text, and vectors have unit length", async () => {
  const [question, paraphrase, unrelated] = await model.embed(
    ["How do I reset my password?", "Steps to recover account credentials", "The weather in Paris is rainy"],
    "query",
  );
  expect(dot(question!, paraphrase!)).toBeCloseTo(0.61, 2);
  expect(dot(question!, unrelated!)).toBeLessThan(0.2);
  for (const vector of [question, paraphrase, unrelated]) expect(dot(vector!, vector!)).toBeCloseTo(1, 5);
});

test("a text's vector does not depend on the texts beside it", async () => {
  const [alone] = await model.embed(["a short text"], "passage");
  const [beside] = await model.embed(["a short text", "another and much longer text ".repeat(20)], "passage");
  expect(beside).toEqual(alone);
});

test("embeds an empty text, and as much as fits of one that is too long", async () => {
  const [empty, fits, long] = await model.embed(["", "word ".repeat(256), "word ".repeat(1_000)], "passage");
  expect(empty?.every(Number.isFinite)).toBe(true);
  expect(long).toEqual(fits);
});

test.each(["---", "|||||", "\u0000\u0001", "🙂".repeat(300), " \n\t ", "\u0301\u0301", "\ud800"])(
  "embeds %j, which holds no word",
  async (text) => {
    const [vector] = await model.embed([text], "passage");
    expect(dot(vector!, vector!)).toBeCloseTo(1, 5);
  },
);

test("many texts of one organization do not keep another's single one waiting", async () => {
  const merged = mergeEmbeddings(model);
  const order: string[] = [];
  const many = merged
    .forWork({ priority: "now", organizationId: "many", userId: null })
    .embed(
      Array.from({ length: 96 }, (_, index) => `Passage ${index} of a long document.`),
      "passage",
    )
    .then(() => order.push("many"));
  await merged
    .forWork({ priority: "now", organizationId: "one", userId: null })
    .embed(["A single note."], "passage")
    .then(() => order.push("single"));
  await many;
  expect(order).toEqual(["single", "many"]);
});

test("questions overtake passages, and the event loop stays free", async () => {
  const order: string[] = [];
  const passages = model
    .embed(
      Array.from({ length: 24 }, () => "a passage of some length ".repeat(30)),
      "passage",
    )
    .then(() => order.push("passages"));
  let ticks = 0;
  const ticking = setInterval(() => ticks++, 5);
  await model.embed(["a question"], "query").then(() => order.push("question"));
  await passages;
  clearInterval(ticking);
  expect(order).toEqual(["question", "passages"]);
  expect(ticks).toBeGreaterThan(20);
});

test("an abort rejects with its reason and drops what waits", async () => {
  const abort = new AbortController();
  const reason = new Error("left");
  const embedding = model.embed(
    Array.from({ length: 500 }, () => "a passage of some length ".repeat(30)),
    "passage",
    abort.signal,
  );
  abort.abort(reason);
  await expect(embedding).rejects.toBe(reason);
  const started = performance.now();
  await model.embed(["next"], "passage");
  expect(performance.now() - started).toBeLessThan(3_000);
});

test("closing lets the text in hand end and fails the rest as an outage", async () => {
  const other = createLocalMiniLm({ maxThreads: 1 });
  const embedding = other.embed(
    Array.from({ length: 50 }, () => "a passage of some length ".repeat(30)),
    "passage",
  );
  const error = embedding.catch((thrown: unknown) => thrown);
  await other.close();
  expect(await error).toMatchObject({ code: "provider_unavailable" });
  await expect(other.embed(["more"], "passage")).rejects.toMatchObject({ code: "provider_unavailable" });
});

test("says which file is missing", () => {
  expect(() => createLocalMiniLm({ folder: "/nonexistent/" })).toThrow(/model\.onnx/);
});

test("the runtime of the model reports to nobody: it makes no identifier and no uploader", async () => {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-minilm-"));
  const [home, main] = [join(folder, "home"), join(folder, "main.mjs")];
  const module = join(import.meta.dirname, "../../../src/models/embedding/embedding-model.ts");
  const script = `
    import { createEmbeddingModel } from ${JSON.stringify(module)};
    const model = await createEmbeddingModel({});
    await model.embed(["a text"], "passage");
    await model.close();`;
  try {
    await Promise.all([mkdir(home), writeFile(main, script)]);
    // Without the environment of this process: with the variables of a CI the runtime would be silent by
    // itself.
    await promisify(execFile)(process.execPath, [main], { env: { HOME: home } });
    expect(await readdir(home)).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("ends a thread that has had nothing to do, and answers by the last one, and by more when there is work", async () => {
  const threads = new Set<number>();
  let started = 0;
  const watch = (thread: Worker): void => {
    const { threadId } = thread;
    started += 1;
    threads.add(threadId);
    thread.once("exit", () => threads.delete(threadId));
  };
  process.on("worker", watch);
  const spare = createLocalMiniLm({ maxThreads: 2, idleMs: 20 });
  const texts = ["one", "two", "three", "four"];
  try {
    const before = await spare.embed(texts, "passage");
    await until("one thread is left", () => threads.size === 1);
    expect(await spare.embed(["one"], "query")).toEqual([before[0]]);
    expect(started).toBe(2);
    expect(await spare.embed(texts, "passage")).toEqual(before);
    expect(started).toBe(3);
  } finally {
    await spare.close();
    process.off("worker", watch);
  }
  expect(threads.size).toBe(0);
});
