/** Reprocessing many documents through the HTTP API, on the real workflow. */
import { afterEach, describe, expect, test } from "vitest";
import { newId } from "../../../../src/domain/ids.ts";
import { type Answer, ended } from "../../../support/clients/client.ts";
import { batchClient } from "../../../support/clients/batch-client.ts";
import { documentClient } from "../../../support/clients/document-client.ts";
import { onSharedStack } from "../../../support/stack/shared-stack.ts";
import { until } from "../../../support/until.ts";

const { stack, tenants } = onSharedStack();

afterEach(() => stack.provider.clearFaults());

const { as, editor } = documentClient({ stack, tenants });
const { start, read, end, putMany } = batchClient({ stack, tenants });

describe("a batch of ids", () => {
  test("answers for each document in the order given, once, and reprocesses those that it may", async () => {
    const ids = await putMany("wren", 3);
    const [foreign] = await putMany("rival wren", 1, tenants.spaces.rival, tenants.keys.rival);
    const [unreached] = await putMany("archived wren", 1, tenants.spaces.archive, tenants.keys.owner);
    const [deleted] = await putMany("deleted wren", 1);
    await editor("DELETE", `/data/${deleted}`);
    const unknown = newId();
    const asked = [
      ids[1],
      "no-id",
      ids[0],
      unknown,
      foreign,
      ids[1]!.toUpperCase(),
      7,
      null,
      { a: 1 },
      deleted,
      unreached,
      "no-id",
      ids[2],
    ];
    const { status, body } = await start({ document_ids: asked, chunker_name: "sentence" });
    expect(status).toBe(202);
    expect(body).toMatchObject({ batch_id: expect.any(String), total: 11, accepted: 3, rejected: 8 });
    expect(
      body.results.map((result: Answer["body"]) => [
        result.document_id,
        result.success,
        result.error?.code ?? null,
      ]),
    ).toEqual([
      [ids[1], true, null],
      ["no-id", false, "invalid_id"],
      [ids[0], true, null],
      [unknown, false, "not_found"],
      [foreign, false, "not_found"],
      [7, false, "invalid_id"],
      [null, false, "invalid_id"],
      [{ a: 1 }, false, "invalid_id"],
      [deleted, false, "not_found"],
      [unreached, false, "not_found"],
      [ids[2], true, null],
    ]);
    for (const result of body.results) expect(result.pipeline_run_id === null).toBe(!result.success);

    const done = await end(body.batch_id);
    expect(done).toMatchObject({
      batch_id: body.batch_id,
      status: "completed",
      total: 11,
      accepted: 3,
      rejected: 8,
      progress: 1,
      estimated_seconds_left: null,
    });
    expect(done.counts).toEqual({
      queued: 0,
      parsing: 0,
      chunking: 0,
      embedding: 0,
      completed: 3,
      failed: 0,
      cancelled: 0,
    });
    for (const id of ids) {
      expect(await ended(stack.url, tenants.keys.editor, id)).toMatchObject({
        version: 2,
        processing_state: { chunker_name: "sentence" },
      });
      expect((await editor("GET", `/data/${id}/versions`)).body.items[0]).toMatchObject({
        trigger: "batch",
        version: 2,
        is_current: true,
        created_by: { name: "Eve Editor" },
      });
    }
    const results = (await editor("GET", `/data/batches/${body.batch_id}/results?limit=5`)).body;
    expect(results).toMatchObject({ total_items: 11, total_pages: 3, page_size: 5 });
    expect(results.items.slice(0, 4)).toEqual([
      ...[ids[1], ids[0], ids[2]].map((id) => ({
        document_id: id,
        success: true,
        pipeline_run_id: expect.any(String),
        error: null,
        status: "completed",
      })),
      {
        document_id: "no-id",
        success: false,
        pipeline_run_id: null,
        error: { code: "invalid_id", message: expect.any(String) },
        status: null,
      },
    ]);
  });

  test("of a viewer is answered with forbidden for each", async () => {
    const [id] = await putMany("forbidden", 1);
    const { status, body } = await start({ document_ids: [id] }, tenants.keys.viewer);
    expect(status).toBe(202);
    expect(body).toMatchObject({
      total: 1,
      accepted: 0,
      rejected: 1,
      results: [
        {
          document_id: id,
          success: false,
          error: { code: "forbidden", message: "Permission denied: documents:reprocess" },
        },
      ],
    });
    expect(await read(body.batch_id, tenants.keys.viewer)).toMatchObject({
      status: "completed",
      progress: 1,
      completed_at: expect.any(String),
    });
    expect((await editor("GET", `/data/${id}`)).body.version).toBe(1);
  });

  test("takes 1 to 1,000 ids", async () => {
    const many = (count: number): string[] => Array.from({ length: count }, () => newId());
    const tooMany = await start({ document_ids: many(1_001) });
    expect(tooMany.status).toBe(422);
    expect(tooMany.body.detail).toMatchObject([{ type: "too_long", loc: ["body", "document_ids"] }]);
    expect((await start({ document_ids: [] })).body.detail).toMatchObject([
      { type: "too_short", loc: ["body", "document_ids"] },
    ]);
    expect((await start({})).body.detail).toMatchObject([{ type: "missing", loc: ["body", "document_ids"] }]);
    expect((await start([newId()])).status).toBe(422);
    expect((await start({ document_ids: newId() })).body.detail).toMatchObject([{ type: "list_type" }]);
    expect((await start({ document_ids: many(1), filters: { file_type: "PDF" } })).status).toBe(422);
    expect(
      (await start({ document_ids: many(1), chunker_config: { max_tokens: 8_192 } })).body.detail,
    ).toMatchObject([{ loc: ["body", "chunker_config", "max_tokens"] }]);
    expect((await start({ document_ids: many(1_000) })).body).toMatchObject({
      total: 1_000,
      accepted: 0,
      rejected: 1_000,
    });
  });

  test("does not exist for other users", async () => {
    const [id] = await putMany("private batch", 1);
    const { batch_id: batchId } = (await start({ document_ids: [id] })).body;
    const missing = { status: 404, body: { detail: "Batch not found" } };
    for (const key of [tenants.keys.owner, tenants.keys.viewer, tenants.keys.rival]) {
      for (const path of ["", "/results"])
        expect(await as(key, "GET", `/data/batches/${batchId}${path}`)).toMatchObject(missing);
      for (const verb of ["pause", "resume", "cancel"])
        expect(await as(key, "POST", `/data/batches/${batchId}/${verb}`)).toMatchObject(missing);
    }
    expect(await editor("GET", `/data/batches/${newId()}`)).toMatchObject(missing);
    expect((await editor("GET", "/data/batches/x")).body.detail[0]).toMatchObject({
      type: "uuid_parsing",
      loc: ["path", "batch_id"],
    });
    await end(batchId);
  });

  test("of a user is out of reach for a key that is narrowed to other spaces", async () => {
    const [id] = await putMany("narrow", 1, tenants.spaces.research, tenants.keys.owner);
    const { batch_id: batchId } = (await start({ document_ids: [id] }, tenants.keys.owner)).body;
    expect((await as(tenants.keys.scoped, "GET", `/data/batches/${batchId}`)).status).toBe(404);
    expect((await as(tenants.keys.scoped, "POST", `/data/batches/${batchId}/cancel`)).status).toBe(404);
    await until("it ends", async () => (await read(batchId, tenants.keys.owner)).status === "completed");
  });
});

describe("a batch of filters", () => {
  test("reprocess what they match and the caller may write, and are answered without results", async () => {
    const ids = await putMany("filtered", 5);
    await putMany("filtered elsewhere", 1, tenants.spaces.archive, tenants.keys.owner);
    const { status, body } = await start({
      filters: { "doc_metadata.original_filename__startswith": "filtered" },
    });
    expect(status).toBe(202);
    expect(body).toEqual({ batch_id: expect.any(String), total: 5, accepted: 5, rejected: 0, results: [] });
    expect(await end(body.batch_id)).toMatchObject({ status: "completed", counts: { completed: 5 } });
    const results = (await editor("GET", `/data/batches/${body.batch_id}/results`)).body.items;
    expect(results.map((result: Answer["body"]) => result.document_id).toSorted()).toEqual(ids.toSorted());
    expect(
      (
        await start(
          { filters: { "doc_metadata.original_filename__startswith": "filtered" } },
          tenants.keys.viewer,
        )
      ).body,
    ).toMatchObject({ total: 0, accepted: 0 });
    expect((await start({ filters: { nonsense: 1 } })).body.detail).toMatchObject([
      { loc: ["body", "filters", "nonsense"] },
    ]);
  });
});
