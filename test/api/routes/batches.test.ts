/** Reprocessing many documents through the HTTP API, on the real workflow. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { BATCH_WINDOW_RUNS } from "../../../src/domain/batch.ts";
import { newId } from "../../../src/domain/ids.ts";
import { type Answer, call, ended, upload } from "../../support/client.ts";
import { type Stack, startStack } from "../../support/stack.ts";
import { KEYS, SPACES } from "../../support/tenants.ts";
import { until } from "../../support/until.ts";

let stack: Stack;

beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());
afterEach(() => stack.provider.clearFaults());

const as = (key: string, method: string, path: string, body?: unknown) => call(stack.url, key, method, path, body);
const editor = (method: string, path: string, body?: unknown) => as(KEYS.editor, method, path, body);
const batchOf = (body: unknown, key = KEYS.editor) => as(key, "POST", "/data/batch-reprocess", body);
const batch = async (id: string, key = KEYS.editor): Promise<Answer["body"]> => (await as(key, "GET", `/data/batches/${id}`)).body;
const batchEnds = (id: string, timeoutMs = 60_000) => until(`batch ${id} ends`, async () => (await batch(id)).completed_at !== null && batch(id), timeoutMs);

async function putMany(name: string, count: number, space = SPACES.research, key = KEYS.editor): Promise<string[]> {
  const ids = await Promise.all(
    Array.from({ length: count }, async (_, index): Promise<string> => (await upload(stack.url, key, space, `The ${name} number ${index} is here.`, `${name}-${index}.md`)).id),
  );
  for (const id of ids) await ended(stack.url, key, id, 60_000);
  return ids;
}

/** Documents that look as if they had been uploaded and published, without the work. */
async function pretendMany(name: string, count: number): Promise<void> {
  await stack.database.db.owner.query(
    `with one as (select d.*, r.object_key from documents d join pipeline_runs r on r.num = d.latest_run_num where d.space_id = $2 limit 1),
       made as (select gen_random_uuid() as id, gen_random_uuid() as run_id, n from generate_series(1, $3) n),
       run as (
         insert into pipeline_runs (id, organization_id, space_id, space_num, document_id, version, trigger, status, object_key, file_name, file_type, file_size, chunker_name, created_by)
         select made.run_id, one.organization_id, one.space_id, one.space_num, made.id, 1, 'upload', 'failed', one.object_key, one.name, one.file_type, one.file_size, 'page_based', one.created_by
         from one, made returning num, document_id)
     insert into documents (id, organization_id, space_id, space_num, name, file_type, file_size, content_type, created_by, run_count, latest_run_num)
     select made.id, one.organization_id, one.space_id, one.space_num, $1 || made.n, one.file_type, one.file_size, one.content_type, one.created_by, 1, run.num
     from one, made join run on run.document_id = made.id`,
    [name, SPACES.research, count],
  );
}

describe("a batch of ids", () => {
  test("answers for each document in the order given, once, and reprocesses those that it may", async () => {
    const ids = await putMany("wren", 3);
    const [foreign] = await putMany("rival wren", 1, SPACES.rival, KEYS.rival);
    const [unreached] = await putMany("archived wren", 1, SPACES.archive, KEYS.owner);
    const [deleted] = await putMany("deleted wren", 1);
    await editor("DELETE", `/data/${deleted}`);
    const unknown = newId();
    const asked = [ids[1], "no-id", ids[0], unknown, foreign, ids[1]!.toUpperCase(), 7, null, { a: 1 }, deleted, unreached, "no-id", ids[2]];
    const { status, body } = await batchOf({ document_ids: asked, chunker_name: "sentence", unknown: true });
    expect(status).toBe(202);
    expect(body).toMatchObject({ batch_id: expect.any(String), total: 11, accepted: 3, rejected: 8 });
    expect(body.results.map((result: Answer["body"]) => [result.document_id, result.success, result.error?.code ?? null])).toEqual([
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

    const done = await batchEnds(body.batch_id);
    expect(done).toMatchObject({ batch_id: body.batch_id, status: "completed", total: 11, accepted: 3, rejected: 8, progress: 1, estimated_seconds_left: null });
    expect(done.counts).toEqual({ queued: 0, parsing: 0, chunking: 0, embedding: 0, completed: 3, failed: 0, cancelled: 0 });
    for (const id of ids) {
      expect(await ended(stack.url, KEYS.editor, id)).toMatchObject({ version: 2, processing_state: { chunker_name: "sentence" } });
      expect((await editor("GET", `/data/${id}/versions`)).body.items[0]).toMatchObject({ trigger: "batch", version: 2, is_current: true, created_by: { name: "Eve Editor" } });
    }
    const results = (await editor("GET", `/data/batches/${body.batch_id}/results?limit=5`)).body;
    expect(results).toMatchObject({ total_items: 11, total_pages: 3, page_size: 5 });
    expect(results.items.slice(0, 4)).toEqual([
      ...[ids[1], ids[0], ids[2]].map((id) => ({ document_id: id, success: true, pipeline_run_id: expect.any(String), error: null, status: "completed" })),
      { document_id: "no-id", success: false, pipeline_run_id: null, error: { code: "invalid_id", message: expect.any(String) }, status: null },
    ]);
  });

  test("of a viewer is answered with forbidden for each", async () => {
    const [id] = await putMany("forbidden", 1);
    const { status, body } = await batchOf({ document_ids: [id] }, KEYS.viewer);
    expect(status).toBe(202);
    expect(body).toMatchObject({
      total: 1,
      accepted: 0,
      rejected: 1,
      results: [{ document_id: id, success: false, error: { code: "forbidden", message: "Permission denied: documents:reprocess" } }],
    });
    expect(await batch(body.batch_id, KEYS.viewer)).toMatchObject({ status: "completed", progress: 1, completed_at: expect.any(String) });
    expect((await editor("GET", `/data/${id}`)).body.version).toBe(1);
  });

  test("takes 1 to 1,000 ids", async () => {
    const many = (count: number): string[] => Array.from({ length: count }, () => newId());
    const tooMany = await batchOf({ document_ids: many(1_001) });
    expect(tooMany.status).toBe(422);
    expect(tooMany.body.detail).toMatchObject([{ type: "too_long", loc: ["body", "document_ids"] }]);
    expect((await batchOf({ document_ids: [] })).body.detail).toMatchObject([{ type: "too_short", loc: ["body", "document_ids"] }]);
    expect((await batchOf({})).body.detail).toMatchObject([{ type: "missing", loc: ["body", "document_ids"] }]);
    expect((await batchOf([newId()])).status).toBe(422);
    expect((await batchOf({ document_ids: newId() })).body.detail).toMatchObject([{ type: "list_type" }]);
    expect((await batchOf({ document_ids: many(1), filters: { file_type: "PDF" } })).status).toBe(422);
    expect((await batchOf({ document_ids: many(1), chunker_config: { max_tokens: 8_192 } })).body.detail).toMatchObject([{ loc: ["body", "chunker_config", "max_tokens"] }]);
    expect((await batchOf({ document_ids: many(1_000) })).body).toMatchObject({ total: 1_000, accepted: 0, rejected: 1_000 });
  });

  test("is nobody's but the caller's", async () => {
    const [id] = await putMany("private batch", 1);
    const { batch_id: batchId } = (await batchOf({ document_ids: [id] })).body;
    const missing = { status: 404, body: { detail: "Batch not found" } };
    for (const key of [KEYS.owner, KEYS.viewer, KEYS.rival]) {
      for (const path of ["", "/results"]) expect(await as(key, "GET", `/data/batches/${batchId}${path}`)).toMatchObject(missing);
      for (const verb of ["pause", "resume", "cancel"]) expect(await as(key, "POST", `/data/batches/${batchId}/${verb}`)).toMatchObject(missing);
    }
    expect(await editor("GET", `/data/batches/${newId()}`)).toMatchObject(missing);
    expect((await editor("GET", "/data/batches/x")).body.detail[0]).toMatchObject({ type: "uuid_parsing", loc: ["path", "batch_id"] });
    await batchEnds(batchId);
  });

  test("of a user is out of reach for a key that is narrowed to other spaces", async () => {
    const [id] = await putMany("narrow", 1, SPACES.research, KEYS.owner);
    const { batch_id: batchId } = (await batchOf({ document_ids: [id] }, KEYS.owner)).body;
    expect((await as(KEYS.scoped, "GET", `/data/batches/${batchId}`)).status).toBe(404);
    expect((await as(KEYS.scoped, "POST", `/data/batches/${batchId}/cancel`)).status).toBe(404);
    await until("it ends", async () => (await batch(batchId, KEYS.owner)).status === "completed");
  });
});

describe("a batch of filters", () => {
  test("reprocesses what they let through and the caller may write, and answers without results", async () => {
    const ids = await putMany("filtered", 5);
    await putMany("filtered elsewhere", 1, SPACES.archive, KEYS.owner);
    const { status, body } = await batchOf({ filters: { "doc_metadata.original_filename__startswith": "filtered" } });
    expect(status).toBe(202);
    expect(body).toEqual({ batch_id: expect.any(String), total: 5, accepted: 5, rejected: 0, results: [] });
    expect(await batchEnds(body.batch_id)).toMatchObject({ status: "completed", counts: { completed: 5 } });
    const results = (await editor("GET", `/data/batches/${body.batch_id}/results`)).body.items;
    expect(results.map((result: Answer["body"]) => result.document_id).toSorted()).toEqual(ids.toSorted());
    expect((await batchOf({ filters: { "doc_metadata.original_filename__startswith": "filtered" } }, KEYS.viewer)).body).toMatchObject({ total: 0, accepted: 0 });
    expect((await batchOf({ filters: { nonsense: 1 } })).body.detail).toMatchObject([{ loc: ["body", "filters", "nonsense"] }]);
  });
});

describe("a batch under way", () => {
  /** A batch whose documents all wait: the file of each is longer than what is cached, and the provider is down. */
  async function waitingBatch(name: string, count: number): Promise<string> {
    await pretendMany(name, count);
    stack.provider.failEmbeddings({ status: 503 });
    const { body } = await batchOf({ filters: { "doc_metadata.original_filename__startswith": name }, chunker_name: "fixed_tokens" });
    expect(body).toMatchObject({ total: count, accepted: count });
    return body.batch_id;
  }
  const released = async (id: string): Promise<number> =>
    (await stack.database.db.owner.query("select count(*)::int as count from pipeline_runs where batch_id = $1 and not held", [id])).rows[0].count;
  const openRuns = async (id: string): Promise<number> =>
    (
      await stack.database.db.owner.query(
        "select count(*)::int as count from pipeline_runs where batch_id = $1 and not held and status in ('queued', 'parsing', 'chunking', 'embedding')",
        [id],
      )
    ).rows[0].count;
  const steer = (id: string, verb: string) => editor("POST", `/data/batches/${id}/${verb}`);

  beforeAll(async () => {
    await putMany("model of the pretended", 1);
  });

  test("keeps a bounded window, shows waiting runs as queued, and is paused, resumed and ended", { timeout: 150_000 }, async () => {
    await stack.worker.kill("SIGTERM");
    const id = await waitingBatch("window", 300);
    expect(await batch(id)).toMatchObject({
      status: "running",
      counts: { queued: 300 },
      progress: 0,
      documents_per_minute: null,
      estimated_seconds_left: null,
      completed_at: null,
    });
    expect(await steer(id, "pause")).toMatchObject({ status: 202, body: { batch_id: id, status: "paused" } });
    expect((await steer(id, "pause")).status).toBe(202);
    stack.restartWorker();
    // An interactive run of the same organization shows that the worker is up while the batch waits.
    stack.provider.clearFaults();
    await putMany("while paused", 1);
    expect(await released(id)).toBe(0);
    let most = 0;
    expect(await steer(id, "resume")).toMatchObject({ status: 202, body: { status: "running" } });
    await until(
      "the batch ends",
      async () => {
        most = Math.max(most, await openRuns(id));
        return (await batch(id)).status === "completed";
      },
      60_000,
    );
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(BATCH_WINDOW_RUNS);
    expect(await batch(id)).toMatchObject({ counts: { completed: 300 }, progress: 1, documents_per_minute: expect.any(Number) });
    for (const verb of ["pause", "resume", "cancel"]) expect(await steer(id, verb)).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/^The batch has ended/) } });
    expect(await released(id)).toBe(300);
  });

  test("that is cancelled cancels every run that has not ended, and stays cancelled", async () => {
    await stack.worker.kill("SIGTERM");
    const id = await waitingBatch("cancelled", 200);
    const answer = await steer(id, "cancel");
    expect(answer).toMatchObject({ status: 202, body: { status: "cancelled", counts: { queued: 0, cancelled: 200 }, progress: 1 } });
    for (const verb of ["pause", "resume"]) expect((await steer(id, verb)).status).toBe(400);
    stack.restartWorker();
    expect(await batchEnds(id)).toMatchObject({ status: "cancelled", counts: { completed: 0, cancelled: 200 } });
    expect((await steer(id, "cancel")).status).toBe(400);
    const { items } = (await editor("GET", `/data/batches/${id}/results?limit=1`)).body;
    expect(items[0]).toMatchObject({ success: false, status: "cancelled", error: { code: "cancelled" } });
  });

  test("survives its worker: another one goes on with it", async () => {
    await pretendMany("survivor", 150);
    const { batch_id: id } = (await batchOf({ filters: { "doc_metadata.original_filename__startswith": "survivor" } })).body;
    await until("the first runs have ended", async () => (await batch(id)).counts.completed > 0);
    await stack.worker.kill("SIGKILL");
    stack.restartWorker();
    expect(await batchEnds(id, 90_000)).toMatchObject({ status: "completed", counts: { completed: 150, failed: 0 } });
  }, 120_000);

  test("lets a newer single run take a document out of it", async () => {
    const [documentId] = await putMany("taken", 1);
    await stack.worker.kill("SIGTERM");
    const { batch_id: id } = (await batchOf({ document_ids: [documentId] })).body;
    const run = (await editor("GET", `/data/batches/${id}/results`)).body.items[0];
    expect(run).toMatchObject({ success: true, status: "queued" });
    expect((await editor("GET", `/data/runs/${run.pipeline_run_id}`)).body).toMatchObject({ status: "queued", trigger: "batch", queue_position: 0 });
    await editor("POST", `/data/${documentId}/reprocess`);
    stack.restartWorker();
    expect(await ended(stack.url, KEYS.editor, documentId!, 60_000)).toMatchObject({ version: 3 });
    expect(await batchEnds(id)).toMatchObject({ status: "completed", counts: { cancelled: 1 } });
    expect((await editor("GET", `/data/batches/${id}/results`)).body.items[0]).toMatchObject({ success: false, status: "cancelled", error: { code: "superseded" } });
  });

  test("is accepted while no worker runs, and its documents are still searchable", async () => {
    const [documentId] = await putMany("served", 1);
    await stack.worker.kill("SIGTERM");
    await batchOf({ document_ids: [documentId] });
    const search = await editor("POST", "/data/hybrid-search", { query: "served number", space_id: SPACES.research, document_ids: [documentId] });
    expect(search.body.total_results).toBe(1);
    expect((await editor("GET", `/data/${documentId}`)).body).toMatchObject({ version: 1, processing_state: { parsed: false, pipeline_status: "queued" } });
    stack.restartWorker();
    expect(await ended(stack.url, KEYS.editor, documentId!, 60_000)).toMatchObject({ version: 2 });
  });
});
