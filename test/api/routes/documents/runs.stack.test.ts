/** Reprocessing and runs through the HTTP API, on the real pipeline. */
import { afterEach, describe, expect, test } from "vitest";
import { newId } from "../../../../src/domain/ids.ts";
import { type Answer } from "../../../support/clients/client.ts";
import { documentClient, longText } from "../../../support/clients/document-client.ts";
import { onSharedStack } from "../../../support/stack/shared-stack.ts";

const { stack, tenants } = onSharedStack();

afterEach(() => stack.provider.clearFaults());

const { as, editor, end, versions, reprocess, hits, put, putWaiting } = documentClient({ stack, tenants });

describe("reprocess", () => {
  test("is 202 with a queued run, and ends as the next version with the chunker asked for", async () => {
    const document = await put(longText("heron"), "heron.md");
    const { status, body } = await reprocess(document.id, {
      chunker_name: "recursive",
      chunker_config: { max_tokens: 60, overlap_tokens: 10 },
      unknown: 1,
    });
    expect(status).toBe(202);
    expect(body).toEqual({ document_id: document.id, pipeline_run_id: expect.any(String), status: "queued" });
    const after = await end(document.id);
    expect(after).toMatchObject({
      version: 2,
      processing_state: { pipeline_status: "completed", chunker_name: "recursive" },
    });
    expect(after.processing_state.chunk_count).toBeGreaterThan(document.processing_state.chunk_count);
    expect((await editor("GET", `/data/${document.id}/chunks`)).body.total_items).toBe(
      after.processing_state.chunk_count,
    );
  });

  test("without a body chunks as before, and embeds nothing anew", async () => {
    const document = await put(longText("egret"), "egret.md");
    await reprocess(document.id, { chunker_name: "sentence", chunker_config: { max_tokens: 70 } });
    const second = await end(document.id);
    const texts = stack.provider.counts.texts;
    expect((await reprocess(document.id)).status).toBe(202);
    const third = await end(document.id);
    expect(third).toMatchObject({
      version: 3,
      processing_state: { chunker_name: "sentence", chunk_count: second.processing_state.chunk_count },
    });
    expect(stack.provider.counts.texts).toBe(texts);
    expect((await reprocess(document.id, {})).status).toBe(202);
    expect((await end(document.id)).version).toBe(4);
  });

  test("refuses what cannot be, each problem at its place", async () => {
    const document = await put("Refusals.", "refusals.md");
    const refused = async (body: unknown): Promise<Answer["body"]> => {
      const answer = await reprocess(document.id, body);
      expect(answer.status).toBe(422);
      return answer.body.detail;
    };
    const [unknown] = await refused({ chunker_name: "magic" });
    expect(unknown).toMatchObject({ type: "literal_error", loc: ["body", "chunker_name"] });
    for (const name of ["page_based", "markdown", "recursive", "sentence", "fixed_tokens"])
      expect(unknown.msg).toContain(name);
    expect(await refused({ chunker_config: { max_tokens: 49, overlap_tokens: -1 } })).toMatchObject([
      { type: "greater_than_equal", loc: ["body", "chunker_config", "max_tokens"] },
      { type: "greater_than_equal", loc: ["body", "chunker_config", "overlap_tokens"] },
    ]);
    expect(await refused({ chunker_config: { max_tokens: 8_193 } })).toMatchObject([
      { type: "less_than_equal", loc: ["body", "chunker_config", "max_tokens"] },
    ]);
    expect(await refused({ chunker_config: { max_tokens: 100, overlap_tokens: 51 } })).toMatchObject([
      { type: "less_than_equal", loc: ["body", "chunker_config", "overlap_tokens"], ctx: { le: 50 } },
    ]);
    // The provider's model takes 8,191 tokens.
    expect(await refused({ chunker_config: { max_tokens: 8_192 } })).toMatchObject([
      { type: "less_than_equal", loc: ["body", "chunker_config", "max_tokens"], ctx: { le: 8_191 } },
    ]);
    expect(await versions(document.id)).toHaveLength(1);
  });

  test("search is served without a gap, and never with two versions mixed", async () => {
    const document = await put(longText("plover"), "plover.md");
    let running = true;
    const seen: number[] = [];
    const searching = (async () => {
      while (running) seen.push((await hits(document.id, "the plover says in part")).total_results);
    })();
    const counts = [document.processing_state.chunk_count];
    for (const max_tokens of [60, 120, 60, 180]) {
      await reprocess(document.id, { chunker_name: "fixed_tokens", chunker_config: { max_tokens } });
      counts.push((await end(document.id)).processing_state.chunk_count);
    }
    running = false;
    await searching;
    expect(seen.length).toBeGreaterThan(5);
    // Each chunk holds the words, so that an answer has every chunk of one version or is wrong.
    expect(seen.filter((total) => !counts.map((count) => Math.min(100, count)).includes(total))).toEqual([]);
  });

  test("a newer run supersedes one that still runs; the published version serves meanwhile", async () => {
    const { id, runId } = await putWaiting("curlew");
    expect((await hits(id, "curlew")).total_results).toBeGreaterThan(0);
    const third = (await reprocess(id, { chunker_name: "fixed_tokens", chunker_config: { max_tokens: 90 } }))
      .body.pipeline_run_id;
    expect((await editor("GET", `/data/runs/${runId}`)).body).toMatchObject({
      status: "cancelled",
      error: { code: "superseded" },
      is_current: false,
    });
    stack.provider.clearFaults();
    expect(await end(id)).toMatchObject({ version: 3 });
    expect(
      (await versions(id)).map((version) => [version.version, version.status, version.is_current]),
    ).toEqual([
      [3, "completed", true],
      [2, "cancelled", false],
      [1, "completed", false],
    ]);
    expect((await versions(id))[0].pipeline_run_id).toBe(third);
  });

  test("twenty at once make twenty versions in order, and the last one is published", async () => {
    const document = await put(longText("stilt"), "stilt.md");
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        reprocess(document.id, { chunker_name: "fixed_tokens", chunker_config: { max_tokens: 60 + index } }),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(202));
    expect(await end(document.id)).toMatchObject({ version: 21 });
    const all = await versions(document.id);
    expect(all.map((version) => version.version)).toEqual(
      Array.from({ length: 21 }, (_, index) => 21 - index),
    );
    expect(all.filter((version) => version.is_current)).toHaveLength(1);
  });

  test("a run that fails leaves the published version as it was", async () => {
    const { id } = await put(longText("avocet"), "avocet.md");
    stack.provider.poisonTexts((text) =>
      text.includes("avocet") || text.includes("counts here") ? { status: 400 } : undefined,
    );
    await reprocess(id, { chunker_name: "fixed_tokens", chunker_config: { max_tokens: 77 } });
    const failed = await end(id);
    stack.provider.poisonTexts();
    expect(failed).toMatchObject({
      version: 1,
      processing_state: { pipeline_status: "failed", error: { code: "rejected_by_provider" } },
    });
    expect((await hits(id, "avocet")).total_results).toBeGreaterThan(0);
    expect((await editor("GET", `/data/${id}/chunks`)).body.items[0].embedding.embedded).toBe(true);
  });
});

describe("a run", () => {
  test("shows its progress and what it waits for", async () => {
    const { id, runId } = await putWaiting("godwit");
    const { status, body } = await as(tenants.keys.viewer, "GET", `/data/runs/${runId}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      pipeline_run_id: runId,
      document_id: id,
      version: 2,
      trigger: "reprocess",
      stage: "embedding",
      progress: 0.5,
      queue_position: null,
      waiting_for: "provider_unavailable",
      is_current: false,
    });
    stack.provider.clearFaults();
    await end(id);
    expect((await as(tenants.keys.viewer, "GET", `/data/runs/${runId}`)).body).toMatchObject({
      status: "completed",
      progress: 1,
      waiting_for: null,
      is_current: true,
    });
  });

  test("is 404 out of reach, 422 for what is no id, and 403 for a viewer who cancels", async () => {
    const { id } = await put("Whimbrels.", "whimbrel.md");
    const [{ pipeline_run_id: runId }] = (await versions(id)) as [Answer["body"]];
    const missing = { status: 404, body: { detail: "Run not found" } };
    expect(await editor("GET", `/data/runs/${newId()}`)).toMatchObject(missing);
    expect(await editor("POST", `/data/runs/${newId()}/cancel`)).toMatchObject(missing);
    for (const key of [tenants.keys.rival, tenants.keys.scoped]) {
      expect(await as(key, "GET", `/data/runs/${runId}`)).toMatchObject(missing);
      expect(await as(key, "POST", `/data/runs/${runId}/cancel`)).toMatchObject(missing);
    }
    expect((await editor("GET", "/data/runs/7")).body.detail[0]).toMatchObject({
      type: "uuid_parsing",
      loc: ["path", "pipeline_run_id"],
    });
    expect(await as(tenants.keys.viewer, "POST", `/data/runs/${runId}/cancel`)).toMatchObject({
      status: 403,
      body: { detail: "Permission denied: documents:reprocess" },
    });
  });

  test("that is cancelled ends, leaves the published version, and cannot be cancelled again", async () => {
    const { id, runId } = await putWaiting("dunlin");
    const cancelled = await editor("POST", `/data/runs/${runId}/cancel`);
    expect(cancelled).toMatchObject({
      status: 202,
      body: { pipeline_run_id: runId, status: "cancelled", stage: "embedding", error: { code: "cancelled" } },
    });
    expect(await editor("POST", `/data/runs/${runId}/cancel`)).toMatchObject({
      status: 400,
      body: { detail: "The run has already ended, so it cannot be cancelled." },
    });
    stack.provider.clearFaults();
    expect(await end(id)).toMatchObject({
      version: 1,
      processing_state: { pipeline_status: "cancelled", error: { code: "cancelled" } },
    });
    expect((await hits(id, "dunlin")).total_results).toBeGreaterThan(0);
    expect((await reprocess(id)).status).toBe(202);
    expect(await end(id)).toMatchObject({ version: 3 });
  });

  test("that ended cannot be cancelled", async () => {
    const { id } = await put("Sanderlings.", "sanderling.md");
    const [{ pipeline_run_id: runId }] = (await versions(id)) as [Answer["body"]];
    expect((await editor("POST", `/data/runs/${runId}/cancel`)).status).toBe(400);
    expect((await editor("GET", `/data/${id}`)).body.processing_state.pipeline_status).toBe("completed");
  });

  test("of a deleted document is 404, and the document cannot be reprocessed", async () => {
    const { id } = await put("Knots.", "knot.md");
    const [{ pipeline_run_id: runId }] = (await versions(id)) as [Answer["body"]];
    await editor("DELETE", `/data/${id}`);
    expect((await editor("GET", `/data/runs/${runId}`)).status).toBe(404);
    expect(await reprocess(id)).toMatchObject({ status: 404, body: { detail: "Document not found" } });
  });
});
