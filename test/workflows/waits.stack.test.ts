/**
 * A waiting run is shown as such in its document, its run, its batch, a search of documents and the Temporal
 * UI.
 */
import { afterEach, expect, test } from "vitest";
import { loadConfig, requireReal } from "../../src/config/config.ts";
import { openSharedDeps } from "../../src/deps.ts";
import { pipelineWorkflowId } from "../../src/domain/work/workflow-ids.ts";
import { batchClient } from "../support/clients/batch-client.ts";
import { documentClient, longText } from "../support/clients/document-client.ts";
import { onSharedStack } from "../support/stack/shared-stack.ts";
import { until } from "../support/until.ts";

const { stack, tenants } = onSharedStack();
const { editor, end, hits, put, rows } = documentClient({ stack, tenants });
const batches = batchClient({ stack, tenants });

afterEach(() => stack.provider.clearFaults());

const WAIT = {
  code: "provider_unavailable",
  since: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\.\d{3}Z$/),
  attempts: expect.any(Number),
  next_attempt_at: expect.stringMatching(/Z$/),
};

/** Returns the details that operators see with the workflow, which are encrypted like all payloads. */
async function detailsOf(claimId: string): Promise<string> {
  const deps = await openSharedDeps(requireReal(loadConfig(stack.env)), "test");
  try {
    const handle = deps.temporal.workflow.getHandle(pipelineWorkflowId(tenants.acme, claimId));
    return (await handle.query<{ currentDetails: string }, []>("__temporal_workflow_metadata"))
      .currentDetails;
  } finally {
    await deps.close();
  }
}

test("a provider that is down is named with its time and attempts, until the document gets on", async () => {
  const { id } = await put(longText("plover"), "plovers.md");
  stack.provider.failEmbeddings({ status: 503 });
  const { body: batch } = await batches.start({
    document_ids: [id],
    chunker_name: "fixed_tokens",
    chunker_config: { max_tokens: 61 },
  });
  const stateOf = async () => (await editor("GET", `/data/${id}`)).body.processing_state;
  const first = await until("the document says so", async () => (await stateOf()).waiting_for);
  expect(first).toEqual(WAIT);

  const [{ pipeline_run_id: runId }] = (await editor("GET", `/data/${id}/versions`)).body.items;
  expect((await editor("GET", `/data/runs/${runId}`)).body).toMatchObject({
    waiting_for: "provider_unavailable",
    waiting: { ...WAIT, since: first.since },
  });
  expect((await batches.read(batch.batch_id)).waiting_for).toEqual([
    { code: "provider_unavailable", runs: 1, since: first.since },
  ]);

  const found = async (filters: object) =>
    (await editor("POST", "/data/search", { filters: { id__exact: id, ...filters } })).body.total_items;
  expect(await found({ "processing_state.waiting_for.code__exact": "provider_unavailable" })).toBe(1);
  expect(await found({ "processing_state.waiting_for__isnull": true })).toBe(0);
  expect(await found({ "processing_state.waiting_for.since__lt": "2026-01-01T00:00:00Z" })).toBe(0);

  const later = await until("it has met it again", async () => {
    const state = await stateOf();
    return state.waiting_for.attempts > first.attempts && state.waiting_for;
  });
  expect(later.since).toBe(first.since);
  const [{ claim_id: claimId }] = await rows("select claim_id from pipeline_runs where id = $1", [runId]);
  expect(await detailsOf(claimId)).toMatch(
    new RegExp(`1 wait for provider_unavailable since ${first.since}; attempt \\d+ follows at .*Z`),
  );

  stack.provider.clearFaults();
  const { processing_state: state } = await end(id);
  expect(state).toMatchObject({ pipeline_status: "completed" });
  expect(state).not.toHaveProperty("waiting_for");
  expect(await found({ "processing_state.waiting_for__isnull": true })).toBe(1);
  expect((await hits(id, "plover")).total_results).toBeGreaterThan(0);
});
