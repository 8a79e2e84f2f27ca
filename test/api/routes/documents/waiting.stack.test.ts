/** Waiting for documents, runs and batches without asking again and again, on the real pipeline. */
import { afterEach, describe, expect, test } from "vitest";
import { newId } from "../../../../src/domain/ids.ts";
import { documentClient, longText } from "../../../support/clients/document-client.ts";
import { signedIn } from "../../../support/clients/signed-in.ts";
import { until } from "../../../support/until.ts";

const people = signedIn();
const { stack, tenants } = people;
const { as, accept, editor, put, putWaiting, rows } = documentClient({ stack, tenants });

afterEach(() => stack.provider.clearFaults());

const ENDS = new Set(["completed", "failed", "cancelled"]);

describe("?wait=", () => {
  test("follows a document to its end in as many requests as it has states", async () => {
    const { id } = await accept("Waited for.", "waited.md");
    const seen: string[] = [];
    while (!ENDS.has(seen.at(-1) ?? "")) {
      const { status, body } = await editor("GET", `/data/${id}?wait=60`);
      expect(status).toBe(200);
      seen.push(body.processing_state.pipeline_status);
    }
    expect(seen.at(-1)).toBe("completed");
    expect(seen.length).toBeLessThanOrEqual(5);
  });

  test("answers at once for what has ended, and after its time for what has not", async () => {
    const { id, runId } = await putWaiting("waits");
    const [{ status: before }] = await rows("select status from pipeline_runs where id = $1", [runId]);
    const run = await editor("GET", `/data/runs/${runId}?wait=1`);
    expect(run.body.status).toBe(before);
    const document = await editor("GET", `/data/${id}?wait=1`);
    expect(document.body.processing_state).toMatchObject({ pipeline_status: before, pipeline_run_id: runId });
    await editor("POST", `/data/runs/${runId}/cancel`);
    await until("it has ended", async () => {
      const { body } = await editor("GET", `/data/runs/${runId}?wait=60`);
      return body.status === "cancelled";
    });
    expect((await editor("GET", `/data/runs/${runId}?wait=60`)).body.status).toBe("cancelled");
  });

  test("ends with the run that somebody cancels meanwhile", async () => {
    const { runId } = await putWaiting("cancelled");
    const waiting = editor("GET", `/data/runs/${runId}?wait=60`);
    await onceWaiting(() => editor("POST", `/data/runs/${runId}/cancel`));
    expect((await waiting).body.status).toBe("cancelled");
  });

  test("ends with a batch that is paused meanwhile", async () => {
    const { id } = await put(longText("batch"), "batch.md");
    stack.provider.failEmbeddings({ status: 503 });
    const chunking = { chunker_name: "fixed_tokens", chunker_config: { max_tokens: 53 } };
    const { body } = await editor("POST", "/data/batch-reprocess", { document_ids: [id], ...chunking });
    const waiting = editor("GET", `/data/batches/${body.batch_id}?wait=60`);
    await onceWaiting(() => editor("POST", `/data/batches/${body.batch_id}/pause`));
    expect((await waiting).body.status).toBe("paused");
    await editor("POST", `/data/batches/${body.batch_id}/cancel`);
  });

  test("is refused once the key is no more, however long it would have waited", async () => {
    const { runId } = await putWaiting("outlives");
    const { body: key } = await people.as("eve", "POST", "/me/api-keys", { name: "Outlived" });
    const waiting = as(key.key, "GET", `/data/runs/${runId}?wait=60`);
    await onceWaiting(() => people.as("eve", "DELETE", `/me/api-keys/${key.id}`));
    await editor("POST", `/data/runs/${runId}/cancel`);
    expect(await waiting).toMatchObject({ status: 401, body: { error: { code: "key_revoked" } } });
  });

  test.each(["-1", "61", "soon", "1.5"])("%s is 422 at query, wait", async (wait) => {
    const answer = await editor("GET", `/data/${newId()}?wait=${wait}`);
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ["query", "wait"] }] } });
  });
});

/** Runs `act` once the process has looked at the states of those who wait. */
async function onceWaiting(act: () => Promise<unknown>): Promise<void> {
  const [{ now }] = await rows("select clock_timestamp() as now");
  await until("somebody waits", async () => {
    const looks = await rows(
      `select
       from pg_stat_activity
       where query_start > $1
         and query like 'select id, status%from batches%'`,
      [now],
    );
    return looks.length > 0;
  });
  await act();
}

describe("POST /data/status", () => {
  test("says where each document is, in one request, and which are out of reach", async () => {
    const done = await put("Done.", "done.md");
    const { id: waits } = await putWaiting("status");
    const unknown = newId();
    const answer = await editor("POST", "/data/status", { ids: [waits, unknown, done.id, waits] });
    expect(answer.body).toMatchObject({
      items: [
        { id: waits, version: 1, processing_state: { searchable: true, pipeline_status: "embedding" } },
        { id: done.id, version: 1, processing_state: { searchable: true, pipeline_status: "completed" } },
      ],
      not_found: [unknown],
    });
    const ofRival = await as(tenants.keys.rival, "POST", "/data/status", { ids: [done.id] });
    expect(ofRival.body).toEqual({ items: [], not_found: [done.id] });
  });

  test("takes a thousand ids and no more", async () => {
    const ids = Array.from({ length: 1_000 }, () => newId());
    expect((await editor("POST", "/data/status", { ids })).body.not_found).toEqual(ids);
    const tooMany = await editor("POST", "/data/status", { ids: [...ids, newId()] });
    expect(tooMany).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", "ids"] }] } });
    expect((await editor("POST", "/data/status", { ids: [] })).status).toBe(422);
  });
});

test("a document is searchable from its first version on, whatever a newer run does", async () => {
  stack.provider.failEmbeddings({ status: 503 });
  const { id, processing_state } = await accept(longText("not yet"), "not-yet.md");
  expect(processing_state).toEqual({ parsed: false, chunked: false, embedded: false });
  const state = async () => (await editor("GET", `/data/${id}`)).body.processing_state;
  expect(await state()).toMatchObject({ searchable: false });
  stack.provider.clearFaults();
  await until("it is published", async () => (await state()).searchable === true);
  stack.provider.failEmbeddings({ status: 503 });
  await editor("POST", `/data/${id}/reprocess`, {
    chunker_name: "fixed_tokens",
    chunker_config: { max_tokens: 57 },
  });
  expect(await state()).toMatchObject({
    searchable: true,
    pipeline_status: expect.not.stringMatching("completed"),
  });
});
