/** Maintenance on the real stack: what is past its time is removed, and what is needed stays. */
import { readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import proto from "@temporalio/proto";
import { describe, expect, test } from "vitest";
import { declareUpload } from "../../../src/db/documents/accept.ts";
import { newId } from "../../../src/domain/ids.ts";
import { objectName } from "../../../src/storage/object-store.ts";
import { call, fileForm } from "../../support/clients/client.ts";
import { describeSchedule, onMaintainedStack } from "../../support/stack/maintenance.ts";
import { runCli } from "../../support/stack/processes.ts";
import { until } from "../../support/until.ts";

const { stack, tenants, ...on } = onMaintainedStack();
const { rows, end, accept, post, maintain, store, count, runsOf, age, reprocess } = on;
const { SCHEDULE_OVERLAP_POLICY_SKIP: SKIP } = proto.temporal.api.enums.v1.ScheduleOverlapPolicy;

const isStored = async (name: string): Promise<boolean> =>
  (await Promise.allSettled([store().size(name)]))[0].status === "fulfilled";

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
  const { schedules } = await on.temporal().workflowService.listSchedules({
    namespace: "default",
    maximumPageSize: 10,
  });
  expect(new Set(schedules!.map((schedule) => schedule.scheduleId))).toEqual(
    new Set(["index-upkeep", "maintenance", "maintenance-thorough"]),
  );
  expect((await describeSchedule(on.temporal(), "maintenance")).schedule!.policies!.overlapPolicy).toBe(SKIP);
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
      (await runsOf(id)).map((run) => count("select from chunks where run_num = $1", [run.num])),
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
    expect(await count("select from hidden_runs where run_num = $1", [old.num])).toBe(1);
    expect(await count("select from embeddings where run_num = $1", [old.num])).toBeGreaterThan(512);
    await age();
    await maintain();
    expect(await count("select from hidden_runs where run_num = $1", [old.num])).toBe(0);
    expect(await count("select from embeddings where run_num = $1", [old.num])).toBe(0);
    expect(await count("select from posting_runs where run_num = $1", [old.num])).toBe(0);
    expect(await count("select from chunks where run_num = $1", [old.num])).toBe(
      await count("select from chunks where run_num = $1", [current.num]),
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
    expect(await count("select from chunks where document_id = $1", [id])).toBeGreaterThan(0);
    await rows(
      `insert into pipeline_runs (
         id, organization_id, space_id, space_num, document_id, version, trigger, status,
         object_key, file_name, file_type, file_size, chunker_name, completed_at)
       select
         gen_random_uuid(), organization_id, space_id, space_num, document_id, n, 'reprocess', 'cancelled',
         object_key, file_name, file_type, file_size, chunker_name, now()
       from pipeline_runs, generate_series(2, 60) n
       where document_id = $1`,
      [id],
    );
    await rows(
      `update documents document
       set run_count = 60,
         latest_run_num = (
           select num from pipeline_runs where document_id = document.id and version = 60)
       where id = $1`,
      [id],
    );
    await age();
    await maintain();
    expect(await count("select from chunks where document_id = $1", [id])).toBe(0);
    expect((await runsOf(id)).map((run) => run.version)).toEqual(
      Array.from({ length: 50 }, (_, index) => index + 11),
    );
    // The file itself is still there and can be reprocessed.
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

test("expired records are removed, and the audit log stays verifiable", async () => {
  await call(
    stack.url,
    tenants.keys.editor,
    "POST",
    "/data/upload",
    fileForm("kept", "kept.md", { space_id: tenants.spaces.research }),
    { "idempotency-key": "old" },
  );
  const recent = await count("select from audit_log");
  await rows("update idempotency_keys set claimed_at = now() - interval '25 hours'");
  await rows("update claims set closed_at = now() - interval '2 days' where closed_at is not null");
  await rows(
    `insert into audit_log (id, organization_id, at, auth_method, action, resource_type, outcome)
     values (gen_random_uuid(), $1, now() - interval '401 days', 'system', 'x', 'y', 'success')`,
    [tenants.acme],
  );
  await maintain();
  expect((await store().list("anchors/", { limit: 10 })).map(({ name }) => name)).toEqual([
    expect.stringMatching(/^anchors\/\d{4}\/\d{4}-\d{2}-\d{2}\.jws$/),
  ]);
  expect(await count("select from idempotency_keys")).toBe(0);
  expect(await count("select from claims where closed_at < now() - interval '1 day'")).toBe(0);
  expect(await count("select from audit_log where action = 'x'")).toBe(0);
  expect(await count("select from audit_log")).toBeGreaterThanOrEqual(recent);
  expect(
    JSON.parse(await runCli(["audit", "verify", "--organization", tenants.acme, "--json"], stack.env)),
  ).toMatchObject({ ok: true, organizations: [{ fault: null }] });
});

test("unused embeddings are dropped after 90 days, and folding statistics keeps their sums", async () => {
  const { id } = await accept("A sentence that is used.", "used.md");
  await end(id);
  await rows("update embedding_cache set last_used_at = now() - interval '91 days'");
  await rows(
    `insert into embedding_cache (organization_id, model_num, content_hash, embedding, last_used_at)
     select organization_id, model_num, '\\x00', embedding, now() - interval '91 days'
     from embedding_cache
     limit 1`,
  );
  await rows(
    `insert into space_statistics (organization_num, space_num, chunks, terms)
     select organization_num, space_num, 0, 0
     from space_statistics, generate_series(1, 20)
     limit 20`,
  );
  const sums = () =>
    rows(
      `select space_num, sum(chunks) as chunks, sum(terms) as terms
       from space_statistics
       group by 1
       order by 1`,
    );
  const before = await sums();
  await maintain("maintenance-thorough");
  expect(await count("select from embedding_cache where content_hash = '\\x00'")).toBe(0);
  expect(
    await count("select from embedding_cache where last_used_at > now() - interval '1 hour'"),
  ).toBeGreaterThan(0);
  expect(await sums()).toEqual(before);
  expect(await count("select from space_statistics")).toBe(before.length);
  const asked = stack.provider.counts.texts;
  await reprocess(id);
  expect(stack.provider.counts.texts).toBe(asked);
});

test("after all of this nothing is missing and nothing was left behind", async () => {
  await age();
  await maintain("maintenance-thorough");
  const report = JSON.parse(await runCli(["integrity", "--organization", tenants.acme, "--json"], stack.env));
  expect(report.ok).toBe(true);
  expect(new Set(Object.values(report.organizations[0].counts))).toEqual(new Set([0]));
});
