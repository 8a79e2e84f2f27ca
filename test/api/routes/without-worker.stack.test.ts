/** Work that is asked for while no worker runs is accepted, shows its place, and is done later. */
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { BATCH_WINDOW_RUNS } from "../../../src/domain/work/batch.ts";
import { type Answer, ended, fileForm, upload } from "../../support/clients/client.ts";
import { batchClient } from "../../support/clients/batch-client.ts";
import { documentClient } from "../../support/clients/document-client.ts";
import { onKillableStack } from "../../support/stack/shared-stack.ts";
import { until } from "../../support/until.ts";

const { stack, tenants } = onKillableStack();

afterEach(() => stack.provider.clearFaults());

const { editor, put, reprocess } = documentClient({ stack, tenants });
const { start, read, end, putMany } = batchClient({ stack, tenants });

describe("a folder that is deleted", () => {
  test("frees the paths of its files for new ones", async () => {
    const folder = (await editor("POST", "/folders", { name: "Paths", space_id: tenants.spaces.research }))
      .body;
    const form = fileForm("A jackalope was seen.", "note.md", {
      space_id: tenants.spaces.research,
      folder_id: folder.id,
    });
    const document = await ended(
      stack.url,
      tenants.keys.editor,
      (await editor("POST", "/data/upload", form)).body.id,
    );
    const path = `documents/${document.id}/original/note.md`;
    const files = `/spaces/${tenants.spaces.research}/data`;
    await editor("PATCH", `${files}/rename`, { old_path: path, new_path: "reused/note.md" });
    await stack.worker.kill("SIGKILL");
    await editor("DELETE", `/folders/${folder.id}`);
    expect(
      (await editor("POST", `${files}/upload`, fileForm("A kraken was seen.", "note.md", { path: "reused" })))
        .status,
    ).toBe(201);
    stack.restartWorker();
    const { items } = (await editor("GET", `${files}/files?prefix=reused/`)).body;
    expect(items).toMatchObject([{ path: "reused/note.md" }]);
    expect(items[0].document_id).not.toBe(document.id);
    await ended(stack.url, tenants.keys.editor, items[0].document_id, 90_000);
    const found = (
      await editor("POST", "/data/hybrid-search", { query: "kraken", space_id: tenants.spaces.research })
    ).body.results;
    expect(found.filter((hit: Answer["body"]) => hit.sparse_score !== null)).toHaveLength(1);
  });
});

describe("a document's text", () => {
  test("can be read as soon as it is parsed, before the first publication, and is empty before", async () => {
    await stack.worker.kill("SIGTERM");
    const accepted = await upload(
      stack.url,
      tenants.keys.editor,
      tenants.spaces.research,
      "Narwhals are shy.",
      "narwhal.md",
    );
    expect((await editor("GET", `/data/${accepted.id}/text`)).body).toEqual({
      items: [],
      total_items: 0,
      total_pages: 0,
      page: 1,
      page_size: 100,
    });
    expect((await editor("GET", `/data/${accepted.id}/text?format=markdown`)).body).toBe("");
    expect((await editor("GET", `/data/${accepted.id}/chunks`)).body.items).toEqual([]);
    stack.provider.failEmbeddings({ status: 503 });
    stack.restartWorker();
    await until(
      "it is chunked",
      async () => (await editor("GET", `/data/${accepted.id}`)).body.processing_state.chunked,
    );
    expect((await editor("GET", `/data/${accepted.id}/text`)).body.items[0].text).toBe("Narwhals are shy.");
    expect((await editor("GET", `/data/${accepted.id}/chunks`)).body.items[0].embedding).toEqual({
      model: "scripted-embedding",
      dimensions: 64,
      embedded: false,
      embedded_at: null,
    });
    stack.provider.clearFaults();
    await ended(stack.url, tenants.keys.editor, accepted.id, 60_000);
  });
});

describe("a run", () => {
  test("is accepted while no worker runs, and knows its place", async () => {
    const first = await put("First in the queue.", "first.md");
    const second = await put("Second in the queue.", "second.md");
    await stack.worker.kill("SIGKILL");
    const one = (await reprocess(first.id)).body.pipeline_run_id;
    const two = (await reprocess(second.id)).body.pipeline_run_id;
    expect((await editor("GET", `/data/runs/${one}`)).body).toMatchObject({
      status: "queued",
      stage: null,
      started_at: null,
    });
    stack.restartWorker();
    for (const id of [first.id, second.id])
      expect(await ended(stack.url, tenants.keys.editor, id, 60_000)).toMatchObject({ version: 2 });
    expect((await editor("GET", `/data/runs/${two}`)).body.queue_position).toBeNull();
  });
});

/** Adds documents as uploads would, but without running the pipeline. */
async function pretendMany(name: string, count: number): Promise<void> {
  await stack.database.db.owner.query(
    `with model as (
       select document.*, run.object_key
       from documents document
       join pipeline_runs run on run.num = document.latest_run_num
       where document.space_id = $2
       limit 1
     ), made as (
       select gen_random_uuid() as id, gen_random_uuid() as run_id, n
       from generate_series(1, $3) n
     ), run as (
       insert into pipeline_runs (id, organization_id, space_id, space_num, document_id, version, trigger,
                                  status, object_key, file_name, file_type, file_size, chunker_name,
                                  created_by)
       select made.run_id, model.organization_id, model.space_id, model.space_num, made.id, 1, 'upload',
              'failed', model.object_key, model.name, model.file_type, model.file_size, 'page_based',
              model.created_by
       from model, made
       returning num, document_id
     )
     insert into documents (id, organization_id, space_id, space_num, name, file_type, file_size,
                            content_type, created_by, run_count, latest_run_num)
     select made.id, model.organization_id, model.space_id, model.space_num, $1 || made.n, model.file_type,
            model.file_size, model.content_type, model.created_by, 1, run.num
     from model, made
     join run on run.document_id = made.id`,
    [name, tenants.spaces.research, count],
  );
}

const MORE_THAN_WINDOW = BATCH_WINDOW_RUNS + 12;

describe("a batch under way", () => {
  /** Starts a batch whose documents all wait: the provider is down and their vectors are not cached. */
  async function waitingBatch(name: string, count: number): Promise<string> {
    await pretendMany(name, count);
    stack.provider.failEmbeddings({ status: 503 });
    const { body } = await start({
      filters: { "doc_metadata.original_filename__startswith": name },
      chunker_name: "fixed_tokens",
    });
    expect(body).toMatchObject({ total: count, accepted: count });
    return body.batch_id;
  }
  const released = async (id: string): Promise<number> =>
    (
      await stack.database.db.owner.query(
        "select count(*)::int as count from pipeline_runs where batch_id = $1 and not held",
        [id],
      )
    ).rows[0].count;
  const openRuns = async (id: string): Promise<number> =>
    (
      await stack.database.db.owner.query(
        `select count(*)::int as count
         from pipeline_runs
         where batch_id = $1
           and not held
           and status in ('queued', 'parsing', 'chunking', 'embedding')`,
        [id],
      )
    ).rows[0].count;
  const steer = (id: string, verb: string) => editor("POST", `/data/batches/${id}/${verb}`);

  beforeAll(async () => {
    await putMany("model of the pretended", 1);
  });

  test(
    "keeps a bounded window, shows waiting runs as queued, and is paused, resumed and ended",
    { timeout: 150_000 },
    async () => {
      await stack.worker.kill("SIGTERM");
      const id = await waitingBatch("window", MORE_THAN_WINDOW);
      expect(await read(id)).toMatchObject({
        status: "running",
        counts: { queued: MORE_THAN_WINDOW },
        progress: 0,
        documents_per_minute: null,
        estimated_seconds_left: null,
        completed_at: null,
      });
      expect(await steer(id, "pause")).toMatchObject({
        status: 202,
        body: { batch_id: id, status: "paused" },
      });
      expect((await steer(id, "pause")).status).toBe(202);
      stack.restartWorker();
      // An interactive run of the same organization shows that the worker is up while the batch waits.
      stack.provider.clearFaults();
      await putMany("while paused", 1);
      expect(await released(id)).toBe(0);
      // Nothing that is released ends before the window is full.
      stack.provider.failEmbeddings({ status: 503 });
      let most = 0;
      expect(await steer(id, "resume")).toMatchObject({ status: 202, body: { status: "running" } });
      await until("the window is full", async () => (await openRuns(id)) === BATCH_WINDOW_RUNS, 30_000);
      stack.provider.clearFaults();
      await until(
        "the batch ends",
        async () => {
          most = Math.max(most, await openRuns(id));
          return (await read(id)).status === "completed";
        },
        60_000,
      );
      expect(most).toBeGreaterThan(0);
      expect(most).toBeLessThanOrEqual(BATCH_WINDOW_RUNS);
      expect(await read(id)).toMatchObject({
        counts: { completed: MORE_THAN_WINDOW },
        progress: 1,
        documents_per_minute: expect.any(Number),
      });
      for (const verb of ["pause", "resume", "cancel"])
        expect(await steer(id, verb)).toMatchObject({
          status: 400,
          body: { detail: expect.stringMatching(/^The batch has ended/) },
        });
      expect(await released(id)).toBe(MORE_THAN_WINDOW);
    },
  );

  test("that is cancelled cancels every run that has not ended, and stays cancelled", async () => {
    await stack.worker.kill("SIGTERM");
    const id = await waitingBatch("cancelled", 20);
    const answer = await steer(id, "cancel");
    expect(answer).toMatchObject({
      status: 202,
      body: { status: "cancelled", counts: { queued: 0, cancelled: 20 }, progress: 1 },
    });
    for (const verb of ["pause", "resume"]) expect((await steer(id, verb)).status).toBe(400);
    stack.restartWorker();
    expect(await end(id)).toMatchObject({ status: "cancelled", counts: { completed: 0, cancelled: 20 } });
    expect((await steer(id, "cancel")).status).toBe(400);
    const { items } = (await editor("GET", `/data/batches/${id}/results?limit=1`)).body;
    expect(items[0]).toMatchObject({ success: false, status: "cancelled", error: { code: "cancelled" } });
  });

  test("survives its worker: another one goes on with it", async () => {
    await pretendMany("survivor", 40);
    const { batch_id: id } = (
      await start({ filters: { "doc_metadata.original_filename__startswith": "survivor" } })
    ).body;
    await until("the first runs have ended", async () => (await read(id)).counts.completed > 0);
    await stack.worker.kill("SIGKILL");
    stack.restartWorker();
    expect(await end(id, 90_000)).toMatchObject({
      status: "completed",
      counts: { completed: 40, failed: 0 },
    });
  }, 120_000);

  test("lets a newer single run take a document out of it", async () => {
    const [documentId] = await putMany("taken", 1);
    await stack.worker.kill("SIGTERM");
    const { batch_id: id } = (await start({ document_ids: [documentId] })).body;
    const run = (await editor("GET", `/data/batches/${id}/results`)).body.items[0];
    expect(run).toMatchObject({ success: true, status: "queued" });
    expect((await editor("GET", `/data/runs/${run.pipeline_run_id}`)).body).toMatchObject({
      status: "queued",
      trigger: "batch",
      queue_position: 0,
    });
    await editor("POST", `/data/${documentId}/reprocess`);
    stack.restartWorker();
    expect(await ended(stack.url, tenants.keys.editor, documentId!, 60_000)).toMatchObject({ version: 3 });
    expect(await end(id)).toMatchObject({ status: "completed", counts: { cancelled: 1 } });
    expect((await editor("GET", `/data/batches/${id}/results`)).body.items[0]).toMatchObject({
      success: false,
      status: "cancelled",
      error: { code: "superseded" },
    });
  });

  test("is accepted while no worker runs, and its documents are still searchable", async () => {
    const [documentId] = await putMany("served", 1);
    await stack.worker.kill("SIGTERM");
    await start({ document_ids: [documentId] });
    const search = await editor("POST", "/data/hybrid-search", {
      query: "served number",
      space_id: tenants.spaces.research,
      document_ids: [documentId],
    });
    expect(search.body.total_results).toBe(1);
    expect((await editor("GET", `/data/${documentId}`)).body).toMatchObject({
      version: 1,
      processing_state: { parsed: false, pipeline_status: "queued" },
    });
    stack.restartWorker();
    expect(await ended(stack.url, tenants.keys.editor, documentId!, 60_000)).toMatchObject({ version: 2 });
  });
});
