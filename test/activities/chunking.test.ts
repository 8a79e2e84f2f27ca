/** Chunking of long texts, in threads that may be ended at any moment. */
import { afterAll, expect, test } from "vitest";
import { createChunking } from "../../src/activities/chunking.ts";
import { createEmbeddingModel } from "../../src/models/embedding-model.ts";

const models = {};
const embedding = await createEmbeddingModel(models, { embedsSoon: false });
afterAll(() => embedding.close());

const job = {
  chunkerName: "page_based",
  units: [{ type: "paragraph" as const, text: "Words of a long text. ".repeat(12_000), page: null, heading_path: [] }],
  maxTokens: 240,
  overlapTokens: 0,
};

test("a document that is cancelled while it is chunked costs this process nothing, however often and whenever that is", async () => {
  const chunk = createChunking(models, embedding);
  const whole = await chunk(job, new AbortController().signal);
  expect(whole.length).toBeGreaterThan(200);
  for (let round = 0; round < 12; round++) {
    const controller = new AbortController();
    const chunking = chunk(job, controller.signal);
    setTimeout(() => controller.abort(new Error("cancelled")), round * 60);
    // The later ones may be done by then.
    expect(await chunking.then((chunks) => chunks.length).catch((error: Error) => error.message)).toSatisfy(
      (outcome: unknown) => outcome === "cancelled" || outcome === whole.length,
    );
  }
});
