/** Chunking of long texts, in threads that may be terminated at any moment. */
import { availableParallelism } from "node:os";
import { afterAll, expect, test } from "vitest";
import { createChunking } from "../../../src/activities/pipeline/chunking.ts";
import { createEmbeddingModel } from "../../../src/models/embedding/embedding-model.ts";

const models = {};
const embedding = await createEmbeddingModel(models, { embedsSoon: false });
afterAll(() => embedding.close());

const OWNER = { organizationId: "acme", userId: "ann" };
const job = {
  chunkerName: "page_based",
  units: [
    {
      type: "paragraph" as const,
      text: "Words of a long text. ".repeat(12_000),
      page: null,
      heading_path: [],
    },
  ],
  maxTokens: 240,
  overlapTokens: 0,
};

test("cancelling a document while it is chunked never harms the process", async () => {
  const chunk = createChunking(models, embedding);
  const whole = await chunk(job, OWNER, new AbortController().signal);
  expect(whole.length).toBeGreaterThan(200);
  for (let round = 0; round < 12; round++) {
    const controller = new AbortController();
    const chunking = chunk(job, OWNER, controller.signal);
    setTimeout(() => controller.abort(new Error("cancelled")), round * 60);
    // Later documents may be finished by then.
    expect(await chunking.then((chunks) => chunks.length).catch((error: Error) => error.message)).toSatisfy(
      (outcome: unknown) => outcome === "cancelled" || outcome === whole.length,
    );
  }
});

test("one text does not wait for the many texts of another organization", async () => {
  const chunk = createChunking(models, embedding);
  const { signal } = new AbortController();
  const text = (name: string, sentences: number) => ({
    ...job,
    units: [{ ...job.units[0]!, text: `${name} says so. `.repeat(sentences) }],
  });
  const ended: string[] = [];
  const one = async (name: string, organizationId: string): Promise<void> => {
    const chunks = await chunk(text(name, 3_000), { organizationId, userId: null }, signal);
    expect(chunks.every((found) => found.text.includes(`${name} says so.`))).toBe(true);
    ended.push(name);
  };
  const many = Array.from({ length: 40 }, (_, index) => one(`acme${index}`, "acme"));
  await Promise.all([...many, one("rival", "rival")]);
  expect(ended).toHaveLength(41);
  // The texts that had started, and those that ended in the same moment.
  expect(ended.indexOf("rival")).toBeLessThan(3 * (availableParallelism() + 1));
});

test("a waiting text is cancelled without a thread, and a chunker that fails keeps its code", async () => {
  const chunk = createChunking(models, embedding);
  const long = { ...job, units: [{ ...job.units[0]!, text: job.units[0]!.text.repeat(4) }] };
  const { signal } = new AbortController();
  const first = Array.from({ length: availableParallelism() + 1 }, () => chunk(long, OWNER, signal));
  const controller = new AbortController();
  const waiting = chunk(long, OWNER, controller.signal);
  controller.abort(new Error("cancelled"));
  await expect(waiting).rejects.toThrow("cancelled");
  await Promise.all(first);
  await expect(chunk({ ...long, chunkerName: "none" }, OWNER, signal)).rejects.toMatchObject({
    code: "invalid",
  });
  expect((await chunk(job, OWNER, signal)).length).toBeGreaterThan(200);
});

test("a text that comes as an idle thread ends is chunked", async () => {
  const chunk = createChunking(models, embedding, 1);
  const short = { ...job, units: [{ ...job.units[0]!, text: "Words of a text. ".repeat(600) }] };
  for (let round = 0; round < 12; round++) {
    expect((await chunk(short, OWNER, new AbortController().signal)).length).toBeGreaterThan(5);
    for (const until = performance.now() + 1 + (round % 3); performance.now() < until;);
    await new Promise((resume) => setTimeout(resume, round % 4));
  }
});
