/**
 * Maintenance on the real stack: what is over its time goes, what is needed stays, and what does not fit
 * together is put right.
 */
import { readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import proto from "@temporalio/proto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { declareUpload } from "../../../src/db/documents/accept.ts";
import { newId } from "../../../src/domain/ids.ts";
import { createDirectoryStore } from "../../../src/storage/stores/directory.ts";
import { objectName } from "../../../src/storage/object-store.ts";
import { call, fileForm } from "../../support/clients/client.ts";
import { runCli } from "../../support/stack/processes.ts";
import { documentClient } from "../../support/clients/document-client.ts";
import { onOwnStack } from "../../support/stack/own-stack.ts";
import { until } from "../../support/until.ts";

const { stack, tenants } = onOwnStack();
const { rows, end, accept } = documentClient({ stack, tenants });
let connection: Connection;
let client: Client;

beforeAll(async () => {
  connection = await Connection.connect({ address: stack.temporalAddress });
  client = new Client({ connection });
});

afterAll(async () => {
  await connection.close();
});

const count = async (from: string, values: unknown[] = []): Promise<number> =>
  (await rows(`select count(*)::int as count from ${from}`, values))[0].count;
const post = (path: string, body?: unknown) => call(stack.url, tenants.keys.editor, "POST", path, body);
const store = () => createDirectoryStore(join(stack.dataDir, "objects"));
const isStored = async (name: string): Promise<boolean> =>
  (await Promise.allSettled([store().size(name)]))[0].status === "fulfilled";
const runsOf = (documentId: string) =>
  rows(
    "select num, version, status, text_purged, object_purged, object_key from pipeline_runs where document_id = $1 order by version",
    [documentId],
  );
/** Maintenance leaves alone what ended within the last two minutes. */
const age = () =>
  rows(
    "update pipeline_runs set completed_at = completed_at - interval '1 hour' where completed_at > now() - interval '10 minutes'",
  );

/** As the server has it: what the service writes is encrypted for it alone. */
const describeSchedule = (scheduleId: string) =>
  connection.workflowService.describeSchedule({ namespace: "default", scheduleId });
const { SCHEDULE_OVERLAP_POLICY_SKIP: SKIP } = proto.temporal.api.enums.v1.ScheduleOverlapPolicy;
const { WORKFLOW_EXECUTION_STATUS_COMPLETED: COMPLETED } =
  proto.temporal.api.enums.v1.WorkflowExecutionStatus;

/** Lets a schedule start its workflow now, and waits until that has closed. */
async function maintain(schedule: "maintenance" | "maintenance-thorough" = "maintenance"): Promise<void> {
  const before = Number((await describeSchedule(schedule)).info!.actionCount);
  await client.schedule.getHandle(schedule).trigger();
  const execution = await until("the schedule has started its workflow", async () => {
    const { info } = await describeSchedule(schedule);
    return Number(info!.actionCount) > before && info!.recentActions!.at(-1)!.startWorkflowResult!;
  });
  await until("the workflow has completed", async () => {
    const { workflowExecutionInfo } = await connection.workflowService.describeWorkflowExecution({
      namespace: "default",
      execution,
    });
    return workflowExecutionInfo!.status === COMPLETED;
  });
}

async function reprocess(documentId: string, chunkerName?: string): Promise<void> {
  expect(
    (
      await post(
        `/data/${documentId}/reprocess`,
        chunkerName === undefined ? undefined : { chunker_name: chunkerName },
      )
    ).status,
  ).toBe(202);
  expect((await end(documentId)).processing_state.pipeline_status).toBe("completed");
}

function longText(parts: number): string {
  return Array.from(
    { length: parts },
    (_, index) => `## Part ${index}\n\n${`part ${index} has words that count `.repeat(30)}`,
  ).join("\n\n");
}

test("a second worker does not double the schedules, and overlapping rounds are skipped", async () => {
  await stack.worker.kill("SIGTERM");
  stack.restartWorker();
  await until("the worker is up again", () => stack.worker.output().includes("worker is up"));
  const { schedules } = await connection.workflowService.listSchedules({
    namespace: "default",
    maximumPageSize: 10,
  });
  expect(new Set(schedules!.map((schedule) => schedule.scheduleId))).toEqual(
    new Set(["index-upkeep", "maintenance", "maintenance-thorough"]),
  );
  expect((await describeSchedule("maintenance")).schedule!.policies!.overlapPolicy).toBe(SKIP);
});

describe("versions", () => {
  test("keep their text if published or the one before, which can be restored", async () => {
    const { id } = await accept("# One\n\nThe first sentence. The second sentence.", "versions.md");
    await end(id);
    await reprocess(id, "sentence");
    await reprocess(id, "recursive");
    await age();
    await maintain();
    expect((await runsOf(id)).map((run) => run.text_purged)).toEqual([true, false, false]);
    const [first, second, third] = await Promise.all(
      (await runsOf(id)).map((run) => count("chunks where run_num = $1", [run.num])),
    );
    expect([first, second! > 0, third! > 0]).toEqual([0, true, true]);
    expect((await post(`/data/${id}/versions/1/restore`)).status).toBe(400);
    expect((await post(`/data/${id}/versions/2/restore`)).status).toBe(202);
    expect((await end(id)).version).toBe(4);
  });

  test("lose their search entries in bounded steps while search serves the new version", async () => {
    const { id } = await accept(longText(1_300), "large.md");
    await end(id);
    await reprocess(id);
    const [old, current] = await runsOf(id);
    expect(await count("hidden_runs where run_num = $1", [old.num])).toBe(1);
    expect(await count("embeddings where run_num = $1", [old.num])).toBeGreaterThan(512);
    await age();
    await maintain();
    expect(await count("hidden_runs where run_num = $1", [old.num])).toBe(0);
    expect(await count("embeddings where run_num = $1", [old.num])).toBe(0);
    expect(await count("posting_runs where run_num = $1", [old.num])).toBe(0);
    expect(await count("chunks where run_num = $1", [old.num])).toBe(
      await count("chunks where run_num = $1", [current.num]),
    );
    const found = await post("/data/hybrid-search", {
      query: "part 700",
      space_id: tenants.spaces.research,
      document_ids: [id],
    });
    expect(found.body.results.length).toBeGreaterThan(0);
  });

  test("of a file that was replaced lose their object with their text", async () => {
    const replace = async (content: string) => {
      expect(
        (
          await call(
            stack.url,
            tenants.keys.editor,
            "POST",
            `/spaces/${tenants.spaces.research}/data/upload`,
            fileForm(content, "file.md", { path: "replaced" }),
          )
        ).status,
      ).toBe(201);
      const id = (
        await rows("select document_id from raw_files where path = 'replaced/file.md' and deleted_at is null")
      )[0].document_id as string;
      await end(id);
      return id;
    };
    await replace("The first content.");
    await replace("The second content.");
    const id = await replace("The third content.");
    await age();
    await maintain();
    const runs = await runsOf(id);
    expect(await Promise.all(runs.map((run) => isStored(run.object_key)))).toEqual([false, true, true]);
    expect(runs.map((run) => run.object_purged)).toEqual([true, false, false]);
    expect(
      (
        await call(
          stack.url,
          tenants.keys.editor,
          "GET",
          `/spaces/${tenants.spaces.research}/data/download?path=replaced/file.md`,
        )
      ).body,
    ).toBe("The third content.");
  });

  test("that failed leave no chunks, and those beyond the last 50 no row", async () => {
    stack.provider.poisonTexts((text) => (text.includes("Nobody embeds") ? { status: 400 } : undefined));
    const { id } = await accept("# Refused\n\nNobody embeds this sentence.", "refused.md");
    expect((await end(id)).processing_state.pipeline_status).toBe("failed");
    stack.provider.poisonTexts();
    expect(await count("chunks where document_id = $1", [id])).toBeGreaterThan(0);
    await rows(
      `insert into pipeline_runs (id, organization_id, space_id, space_num, document_id, version, trigger, status, object_key, file_name, file_type, file_size, chunker_name, completed_at)
       select gen_random_uuid(), organization_id, space_id, space_num, document_id, n, 'reprocess', 'cancelled', object_key, file_name, file_type, file_size, chunker_name, now()
       from pipeline_runs, generate_series(2, 60) n where document_id = $1`,
      [id],
    );
    await rows(
      "update documents d set run_count = 60, latest_run_num = (select num from pipeline_runs where document_id = d.id and version = 60) where id = $1",
      [id],
    );
    await age();
    await maintain();
    expect(await count("chunks where document_id = $1", [id])).toBe(0);
    expect((await runsOf(id)).map((run) => run.version)).toEqual(
      Array.from({ length: 50 }, (_, index) => index + 11),
    );
    // The file itself is still there, for another try.
    await reprocess(id);
  });
});

describe("objects", () => {
  const stored = async (): Promise<string> => {
    const name = objectName(tenants.acme, newId());
    await store().put(
      name,
      (async function* () {
        yield Buffer.from("left");
      })(),
    );
    return name;
  };
  const makeOld = (name: string) => utimes(join(stack.dataDir, "objects", name), new Date(0), new Date(0));

  test("of uploads that never ended go with their intents, those of uploads under way stay", async () => {
    const { db } = stack.database;
    const [dead, alive] = [await stored(), await stored()];
    for (const name of [dead, alive]) await declareUpload(db.system, tenants.acme, name);
    await rows("update upload_intents set leased_until = now() - interval '1 day' where object_key = $1", [
      dead,
    ]);
    await maintain();
    expect([await isStored(dead), await isStored(alive)]).toEqual([false, true]);
    expect((await rows("select object_key from upload_intents")).map((row) => row.object_key)).toEqual([
      alive,
    ]);
    await writeFile(join(stack.dataDir, "objects", ".tmp", "broken"), "a piece");
    for (const name of [alive, ".tmp/broken"]) await makeOld(name);
    await maintain("maintenance-thorough");
    expect(await isStored(alive)).toBe(true);
    await rows("delete from upload_intents");
    expect(await readdir(join(stack.dataDir, "objects", ".tmp"))).toEqual([]);
  });

  test("that nothing names go after a day, and not before", async () => {
    const [old, young] = [await stored(), await stored()];
    await makeOld(old);
    const { id } = await accept("Named by its row.", "named.md");
    await end(id);
    const [run] = await runsOf(id);
    await makeOld(run.object_key);
    await maintain("maintenance-thorough");
    expect([await isStored(old), await isStored(young), await isStored(run.object_key)]).toEqual([
      false,
      true,
      true,
    ]);
    await store().delete(young);
  });
});

test("bookkeeping goes when it has had its time", async () => {
  await call(
    stack.url,
    tenants.keys.editor,
    "POST",
    "/data/upload",
    fileForm("kept", "kept.md", { space_id: tenants.spaces.research }),
    { "idempotency-key": "old" },
  );
  const recent = await count("audit_log");
  await rows("update idempotency_keys set claimed_at = now() - interval '25 hours'");
  await rows("update claims set closed_at = now() - interval '2 days' where closed_at is not null");
  await rows(
    "insert into audit_log (id, organization_id, at, auth_method, action, resource_type, outcome) values (gen_random_uuid(), $1, now() - interval '401 days', 'system', 'x', 'y', 'success')",
    [tenants.acme],
  );
  await maintain();
  expect((await store().list("anchors/", { limit: 10 })).map(({ name }) => name)).toEqual([
    expect.stringMatching(/^anchors\/\d{4}\/\d{4}-\d{2}-\d{2}\.jws$/),
  ]);
  expect(await count("idempotency_keys")).toBe(0);
  expect(await count("claims where closed_at < now() - interval '1 day'")).toBe(0);
  expect(await count("audit_log where action = 'x'")).toBe(0);
  expect(await count("audit_log")).toBeGreaterThanOrEqual(recent);
  expect(
    JSON.parse(await runCli(["audit", "verify", "--organization", tenants.acme, "--json"], stack.env)),
  ).toMatchObject({ ok: true, organizations: [{ fault: null }] });
});

test("unused embeddings are dropped after 90 days, and folding statistics keeps their sums", async () => {
  const { id } = await accept("A sentence that is used.", "used.md");
  await end(id);
  await rows("update embedding_cache set last_used_at = now() - interval '91 days'");
  await rows(
    "insert into embedding_cache (organization_id, model_num, content_hash, embedding, last_used_at) select organization_id, model_num, '\\x00', embedding, now() - interval '91 days' from embedding_cache limit 1",
  );
  await rows(
    "insert into space_statistics (organization_num, space_num, chunks, terms) select organization_num, space_num, 0, 0 from space_statistics, generate_series(1, 20) limit 20",
  );
  const sums = () =>
    rows(
      "select space_num, sum(chunks) as chunks, sum(terms) as terms from space_statistics group by 1 order by 1",
    );
  const before = await sums();
  await maintain("maintenance-thorough");
  expect(await count("embedding_cache where content_hash = '\\x00'")).toBe(0);
  expect(await count("embedding_cache where last_used_at > now() - interval '1 hour'")).toBeGreaterThan(0);
  expect(await sums()).toEqual(before);
  expect(await count("space_statistics")).toBe(before.length);
  const asked = stack.provider.counts.texts;
  await reprocess(id);
  expect(stack.provider.counts.texts).toBe(asked);
});

describe("what does not fit together is put right", () => {
  test("chunks of no run, and search entries that no version serves", async () => {
    const gone = 2_000_000_000;
    await rows(
      "insert into chunks (organization_id, run_num, chunk_index, id, document_id, text, token_count, content_hash) values ($1, $2, 0, gen_random_uuid(), gen_random_uuid(), 'left', 1, '\\x01')",
      [tenants.acme, gone],
    );
    await rows(
      "insert into text_blocks (organization_id, run_num, first_index, unit_count, units) values ($1, $2, 0, 0, '[]')",
      [tenants.acme, gone],
    );
    const segment =
      "insert into posting_segments (organization_num, space_num, analyzer_version, languages, terms) select organization_num, space_num, 1, '{}', 1 from posting_runs limit 1 returning *";
    await rows(
      `with s as (${segment}) insert into posting_runs select organization_num, space_num, $1, 0, 1, 1, num from s`,
      [gone],
    );
    const { id } = await accept("Not served twice.", "served.md");
    await end(id);
    await reprocess(id);
    const [old] = await runsOf(id);
    await rows(
      "insert into embeddings select organization_num, space_num, $2, chunk_index, model_num, embedding from embeddings where run_num = (select published_run_num from documents where id = $1)",
      [id, old.num],
    );
    await rows("delete from hidden_runs where run_num = $1", [old.num]);
    await age();
    const report = await runCli(["integrity", "--json"], stack.env).catch((error: Error) => error.message);
    expect(report).toContain("ended with 1");
    for (const fault of [
      "chunks_without_run",
      "text_without_run",
      "entries_without_run",
      "entries_not_served",
    ])
      expect(report).toContain(`"${fault}": 1`);
    expect((await call(stack.url, tenants.keys.viewer, "GET", `/data/${id}/integrity`)).body).toMatchObject({
      ok: false,
      findings: [{ code: "entries_not_served" }],
    });
    await maintain("maintenance-thorough");
    for (const table of ["chunks", "text_blocks", "posting_runs"])
      expect(await count(`${table} where run_num = $1`, [gone])).toBe(0);
    expect(await count("embeddings where run_num = $1", [old.num])).toBe(0);
    expect((await call(stack.url, tenants.keys.viewer, "GET", `/data/${id}/integrity`)).body).toMatchObject({
      ok: true,
      findings: [],
    });
  });

  test("a run that its row calls active and no claim has is queued again, and ends", async () => {
    stack.provider.failEmbeddings({ status: 503 });
    const { id } = await accept("# Strayed\n\nNo workflow has this run.", "strayed.md");
    await until(
      "the run waits",
      async () =>
        (await rows("select waiting_for from pipeline_runs where document_id = $1", [id]))[0].waiting_for !==
        null,
    );
    await rows(
      "update claims set closed_at = now() where id = (select claim_id from pipeline_runs where document_id = $1)",
      [id],
    );
    expect(
      (await call(stack.url, tenants.keys.viewer, "GET", `/data/${id}/integrity`)).body.findings,
    ).toEqual([expect.objectContaining({ code: "run_without_claim" })]);
    stack.provider.clearFaults();
    await maintain();
    expect((await end(id)).processing_state.pipeline_status).toBe("completed");
  });

  test("a workflow that was terminated and whose row does not say so gives its runs to another", async () => {
    stack.provider.failEmbeddings({ status: 503 });
    const { id } = await accept("# Terminated\n\nAn operator ended its workflow.", "terminated.md");
    await until(
      "the run waits",
      async () =>
        (await rows("select waiting_for from pipeline_runs where document_id = $1", [id]))[0].waiting_for !==
        null,
    );
    const [{ claim_id: claimId }] = await rows("select claim_id from pipeline_runs where document_id = $1", [
      id,
    ]);
    await client.workflow.getHandle(`document-pipeline/${tenants.acme}/${claimId}`).terminate();
    stack.provider.clearFaults();
    // The minute after which a dispatcher asks Temporal what became of a claim.
    await rows("update claims set leased_until = now() where id = $1", [claimId]);
    expect((await end(id)).processing_state.pipeline_status).toBe("completed");
  });
});

test("after all of this nothing is missing and nothing was left behind", async () => {
  await age();
  await maintain("maintenance-thorough");
  const report = JSON.parse(await runCli(["integrity", "--organization", tenants.acme, "--json"], stack.env));
  expect(report.ok).toBe(true);
  expect(new Set(Object.values(report.organizations[0].counts))).toEqual(new Set([0]));
});
