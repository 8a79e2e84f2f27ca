/**
 * A run is cancelled while its worker is held at each step of the pipeline, on the real stack: it ends there
 * and leaves nothing.
 */
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { POINTS } from "../drill/points.ts";
import { call, ended, upload } from "../support/clients/client.ts";
import { onKillableStack } from "../support/stack/shared-stack.ts";
import { until } from "../support/until.ts";

/** Steps that hold no lock on which a cancel would wait. */
const STEPS = POINTS.filter(
  (point) =>
    point.load === "uploads" &&
    point.process === "worker" &&
    !point.name.startsWith("webhookDelivery") &&
    !/locked|not committed|workflow not told|outcome not recorded/.test(point.name),
);

let folder: string;
const { stack, tenants } = onKillableStack({
  env: async () => {
    folder = await mkdtemp(join(tmpdir(), "holdfast-cancel-"));
    return {
      NODE_OPTIONS: `--import ${new URL("../drill/hooks.ts", import.meta.url).href}`,
      DRILL_FOLDER: folder,
    };
  },
});
let temporal: Connection;
let round = 0;

beforeAll(async () => {
  temporal = await Connection.connect({ address: stack.temporalAddress });
});

afterAll(async () => {
  await temporal.close();
  await rm(folder, { recursive: true, force: true });
});

const editor = (method: string, path: string, body?: unknown) =>
  call(stack.url, tenants.keys.editor, method, path, body);
const query = async (text: string, values: unknown[] = []) =>
  (await stack.database.db.owner.query(text, values)).rows;

/** Makes a text that is chunked differently for each chunk size. */
const longText = (name: string): string =>
  Array.from({ length: 20 }, (_, index) => `Sentence ${index} ${name} has ${"some words ".repeat(10)}.`).join(
    "\n\n",
  );

/** Counts what a run has left in the tables of texts and search entries. */
async function leftOf(runId: string): Promise<number> {
  const [row] = await query(
    `select (
       (select count(*) from chunks chunk where chunk.run_num = run.num)
       + (select count(*)
          from embeddings embedding
          where embedding.run_num = run.num and embedding.space_num = run.space_num)
       + (select count(*) from posting_runs indexed where indexed.run_num = run.num))::int as count
     from pipeline_runs run
     where run.id = $1`,
    [runId],
  );
  return row.count;
}

test("the pipeline has such steps in parsing, chunking and embedding", () => {
  expect(STEPS.length).toBeGreaterThanOrEqual(5);
});

test.each(STEPS.map((step) => [step.name, step] as const))(
  "cancelled at %s: it ends at once, the version before stays, and nothing is left",
  async (name, step) => {
    const { id } = await upload(
      stack.url,
      tenants.keys.editor,
      tenants.spaces.research,
      longText(name),
      "cancelled.md",
    );
    await ended(stack.url, tenants.keys.editor, id);
    round += 1;
    await writeFile(join(folder, "armed"), JSON.stringify({ point: step.name, process: "worker", round }));
    // Other chunks than before, so that the provider must be asked.
    const { pipeline_run_id: runId } = (
      await editor("POST", `/data/${id}/reprocess`, {
        chunker_name: "fixed_tokens",
        chunker_config: { max_tokens: 50 + round },
      })
    ).body;
    await until("the worker is there", () => existsSync(join(folder, `reached-${round}`)));
    expect(await editor("POST", `/data/runs/${runId}/cancel`)).toMatchObject({
      status: 202,
      body: { status: "cancelled", error: { code: "cancelled" } },
    });
    await writeFile(join(folder, `go-${round}`), "");

    const { workflow, schedule } = new Client({ connection: temporal });
    await until(
      "its workflow has ended",
      async () =>
        (await workflow.count("WorkflowType = 'documentPipeline' AND ExecutionStatus = 'Running'")).count ===
        0,
    );
    expect((await editor("GET", `/data/${id}`)).body).toMatchObject({
      version: 1,
      processing_state: { pipeline_status: "cancelled", error: { code: "cancelled" } },
    });
    expect((await editor("GET", `/data/${id}/integrity`)).body.findings).toEqual([]);
    // Makes the run old enough for maintenance.
    await query("update pipeline_runs set completed_at = completed_at - interval '1 hour' where id = $1", [
      runId,
    ]);
    await schedule.getHandle("maintenance").trigger();
    await until("nothing of it is left", async () => (await leftOf(runId)) === 0);
    expect(
      await query("select from claims where organization_id = $1 and closed_at is null", [tenants.acme]),
    ).toEqual([]);
  },
  60_000,
);
