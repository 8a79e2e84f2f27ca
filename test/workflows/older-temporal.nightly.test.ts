/**
 * Temporal's database is restored from an older copy, or is empty, while Postgres is newer: what the rows say
 * is due is done, once.
 */
import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Connection } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, ended, upload } from "../support/clients/client.ts";
import { runCli } from "../support/stack/processes.ts";
import { documentClient } from "../support/clients/document-client.ts";
import { onOwnStack } from "../support/stack/own-stack.ts";
import { until } from "../support/until.ts";

const { stack, tenants } = onOwnStack({ keepsWorkflows: true });
const { rows } = documentClient({ stack, tenants });
let copy: string;

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), "holdfast-older-"));
});

afterAll(async () => {
  await rm(copy, { recursive: true, force: true });
});

const files = () => join(stack.dataDir, "temporal");
const put = async (name: string): Promise<string> =>
  (
    await upload(
      stack.url,
      tenants.keys.editor,
      tenants.spaces.research,
      `# ${name}\n\nThe words of ${name}, and of nothing else.`,
      `${name}.md`,
    )
  ).id;
const send = (method: string, path: string, body?: unknown) =>
  call(stack.url, tenants.keys.editor, method, path, body);
const waits = (id: string) =>
  until(
    `${id} waits for the provider`,
    async () =>
      (await rows("select from pipeline_runs where document_id = $1 and waiting_for is not null", [id]))
        .length === 1,
  );

/** Lets the minute pass after which a dispatcher asks Temporal about the work that it started. */
async function letTimePass(): Promise<void> {
  await rows("update claims set leased_until = now() - interval '1 second' where closed_at is null");
  await rows("update deletions set leased_until = null where completed_at is null");
  await rows("update batches set leased_until = null where completed_at is null");
}

/** Replaces Temporal's database by `from`, or by an empty one. */
async function replaceMemory(from: string | null): Promise<void> {
  await stack.stopTemporal();
  await rm(files(), { recursive: true });
  if (from !== null) await cp(from, files(), { recursive: true });
  await stack.restartTemporal();
}

test.each([
  ["an older copy", true],
  ["an empty one", false],
])(
  "%s: every run, batch and deletion is taken up and ends once",
  async (what, hasCopy) => {
    const name = what.replaceAll(" ", "-");
    const before = await put(`${name}-before`);
    await ended(stack.url, tenants.keys.editor, before);
    stack.provider.failEmbeddings({ status: 503 });
    // This run is active while the copy is made and ends afterwards, so the older copy believes that it still
    // runs.
    const during = await put(`${name}-during`);
    await waits(during);
    await stack.stopTemporal();
    await rm(copy, { recursive: true, force: true });
    await cp(files(), copy, { recursive: true });
    expect(await readdir(copy)).toContain("temporal.db");
    await stack.restartTemporal();
    stack.provider.clearFaults();
    await ended(stack.url, tenants.keys.editor, during, 90_000);

    // The copy does not contain these.
    stack.provider.failEmbeddings({ status: 503 });
    const after = await Promise.all([put(`${name}-after-one`), put(`${name}-after-two`)]);
    for (const id of after) await waits(id);
    await replaceMemory(hasCopy ? copy : null);
    const deleted = await put(`${name}-deleted`);
    expect((await send("DELETE", `/data/${deleted}`)).status).toBe(204);
    const batch = (
      await send("POST", "/data/batch-reprocess", { document_ids: [before], chunker_name: "sentence" })
    ).body.batch_id;
    stack.provider.clearFaults();
    await letTimePass();

    for (const id of after)
      expect((await ended(stack.url, tenants.keys.editor, id, 90_000)).processing_state.pipeline_status).toBe(
        "completed",
      );
    await until(
      "the batch has ended",
      async () => (await send("GET", `/data/batches/${batch}`)).body.status === "completed",
      90_000,
    );
    await until(
      "the deletion is complete",
      async () => (await rows("select from deletions where completed_at is null")).length === 0,
      90_000,
    );
    for (const id of [during, ...after])
      expect(await rows("select version, status from pipeline_runs where document_id = $1", [id])).toEqual([
        { version: 1, status: "completed" },
      ]);
    const report = JSON.parse(
      await runCli(["integrity", "--organization", tenants.acme, "--json"], stack.env),
    );
    expect(report.ok).toBe(true);
  },
  180_000,
);

test("a Temporal that lost everything gets its schedules back from a worker that runs", async () => {
  const connection = await Connection.connect({ address: stack.temporalAddress });
  try {
    for (const scheduleId of ["maintenance", "maintenance-thorough"])
      await until(
        `${scheduleId} is there`,
        async () =>
          (await connection.workflowService.describeSchedule({ namespace: "default", scheduleId })).info !==
          null,
        60_000,
      );
  } finally {
    await connection.close();
  }
}, 120_000);
