/** Maintenance on the real stack repairs what is inconsistent. */
import { describe, expect, test } from "vitest";
import { call } from "../../support/clients/client.ts";
import { onMaintainedStack } from "../../support/stack/maintenance.ts";
import { runCli } from "../../support/stack/processes.ts";
import { until } from "../../support/until.ts";

const { stack, tenants, ...on } = onMaintainedStack();
const { rows, end, accept, maintain, count, runsOf, age, reprocess } = on;

/** Waits until the document's run waits for the provider. */
async function untilWaiting(documentId: string): Promise<void> {
  await until("the run waits", async () => {
    const [run] = await rows("select waiting_for from pipeline_runs where document_id = $1", [documentId]);
    return run.waiting_for !== null;
  });
}

describe("what is inconsistent is repaired", () => {
  test("chunks of no run, and search entries that no version serves", async () => {
    const { id } = await accept("Not served twice.", "served.md");
    await end(id);
    await reprocess(id);
    const [old] = await runsOf(id);
    const gone = 2_000_000_000;
    await rows(
      `insert into chunks (
         organization_id, run_num, chunk_index, id, document_id, text, token_count, content_hash)
       values ($1, $2, 0, gen_random_uuid(), gen_random_uuid(), 'left', 1, '\\x01')`,
      [tenants.acme, gone],
    );
    await rows(
      `insert into text_blocks (organization_id, run_num, first_index, unit_count, units)
       values ($1, $2, 0, 0, '[]')`,
      [tenants.acme, gone],
    );
    await rows(
      `with segment as (
         insert into posting_segments (organization_num, space_num, analyzer_version, languages, terms)
         select organization_num, space_num, 1, '{}', 1
         from posting_runs
         limit 1
         returning *)
       insert into posting_runs
       select organization_num, space_num, $1, 0, 1, 1, num
       from segment`,
      [gone],
    );
    await rows(
      `insert into embeddings
       select organization_num, space_num, $2, chunk_index, model_num, embedding
       from embeddings
       where run_num = (select published_run_num from documents where id = $1)`,
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
    expect(await count("select from chunks where run_num = $1", [gone])).toBe(0);
    expect(await count("select from text_blocks where run_num = $1", [gone])).toBe(0);
    expect(await count("select from posting_runs where run_num = $1", [gone])).toBe(0);
    expect(await count("select from embeddings where run_num = $1", [old.num])).toBe(0);
    expect((await call(stack.url, tenants.keys.viewer, "GET", `/data/${id}/integrity`)).body).toMatchObject({
      ok: true,
      findings: [],
    });
  });

  test("a run that its row calls active and no claim has is queued again, and ends", async () => {
    stack.provider.failEmbeddings({ status: 503 });
    const { id } = await accept("# Strayed\n\nNo workflow has this run.", "strayed.md");
    await untilWaiting(id);
    await rows(
      `update claims
       set closed_at = now()
       where id = (select claim_id from pipeline_runs where document_id = $1)`,
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
    await untilWaiting(id);
    const [{ claim_id: claimId }] = await rows("select claim_id from pipeline_runs where document_id = $1", [
      id,
    ]);
    await on.temporal().workflow.getHandle(`document-pipeline/${tenants.acme}/${claimId}`).terminate();
    stack.provider.clearFaults();
    // A dispatcher asks Temporal what became of a claim after its lease, which lasts a minute.
    await rows("update claims set leased_until = now() - interval '1 second' where id = $1", [claimId]);
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
