/**
 * The events that the database writes itself: ends of runs, batches and turns, and audit rows without events.
 */
import { afterEach, beforeEach, expect, it } from "vitest";
import { acceptUpload } from "../../../src/commands/documents/accept-upload.ts";
import type { Caller } from "../../../src/commands/caller.ts";
import { appendAuditRows, auditRow } from "../../../src/db/audit/append.ts";
import { noteEvents, onNotedEvents } from "../../../src/db/events/noted.ts";
import { inTenant, inTransaction, type OrganizationRef } from "../../../src/db/pool.ts";
import { stepBatch } from "../../../src/db/runs/batch-steps.ts";
import { cancelRun } from "../../../src/db/runs/requests.ts";
import { loseTurns, writeTurnEnds } from "../../../src/db/turns/ledger.ts";
import { newId } from "../../../src/domain/ids.ts";
import {
  commandDatabase,
  documentParts,
  loggedIn,
  makeSharedSpace,
  storedMarkdown,
} from "../../support/tenants/commands.ts";
import { eventsOf, requireDescribedEvents, viewerIn } from "../../support/tenants/events.ts";

const test = commandDatabase();
let organization: OrganizationRef;
let spaceId: string;
let editor: Caller;

beforeEach(async () => {
  const shared = await makeSharedSpace(test.db, "editor");
  ({ organization, spaceId } = shared);
  editor = await loggedIn(test.db, organization, shared.editorId);
});

afterEach(() => requireDescribedEvents(test.db, organization));

async function upload(): Promise<{ documentId: string; runId: string }> {
  const file = { spaceId, folderId: null, filename: "a.md", stored: storedMarkdown(organization) };
  const { id } = await acceptUpload(documentParts(test.db), editor, file);
  const { rows } = await test.db.owner.query("select id from pipeline_runs where document_id = $1", [id]);
  return { documentId: id, runId: rows[0].id };
}

const setRun = (id: string, assignments: string) =>
  test.db.owner.query(`update pipeline_runs set ${assignments} where id = $1`, [id]);

/** Type and data of all events but the first ones, which are uploads. */
async function laterEvents() {
  const events = await eventsOf(test.db, organization);
  return events.filter(({ type }) => type !== "document.uploaded").map(({ type, data }) => [type, data]);
}

it("a run that waits is told once for each reason, and its end with its counts or its code", async () => {
  const [first, second] = [await upload(), await upload()];
  await setRun(first.runId, "waiting_for = 'rate_limited'");
  await setRun(first.runId, "waiting_for = 'rate_limited', waiting_attempts = 2");
  await setRun(first.runId, "status = 'completed', waiting_for = null, chunk_count = 3, page_count = 2");
  await setRun(
    second.runId,
    `status = 'failed', error = '{"code": "empty_file", "message": "a.md is empty"}'`,
  );

  const run = { version: 1, trigger: "upload" };
  expect(await laterEvents()).toEqual([
    ["document.waiting", { ...run, run_id: first.runId, code: "rate_limited" }],
    ["document.completed", { ...run, run_id: first.runId, chunk_count: 3, page_count: 2 }],
    ["document.failed", { ...run, run_id: second.runId, code: "empty_file" }],
  ]);
});

it("a run that goes on to another step is told once, and not when an attempt is made again", async () => {
  const { runId } = await upload();
  await setRun(runId, "status = 'parsing'");
  await setRun(runId, "status = 'parsing', progress = 0.2");
  await setRun(runId, "status = 'embedding'");

  const run = { version: 1, trigger: "upload", run_id: runId };
  expect(await laterEvents()).toEqual([
    ["document.progressed", { ...run, status: "parsing" }],
    ["document.progressed", { ...run, status: "embedding" }],
  ]);
});

it("a batch is told to its maker when its last run has ended", async () => {
  const { runId } = await upload();
  const batchId = newId();
  await test.db.owner.query(
    `insert into batches (id, organization_id, created_by, space_ids, total, accepted)
     values ($1, $2, $3, array[$4::uuid], 1, 1)`,
    [batchId, organization.id, editor.principal.user.id, spaceId],
  );
  await setRun(runId, `batch_id = '${batchId}'`);
  const step = () => inTenant(test.db, organization, (sql) => stepBatch(sql, batchId));

  await step();
  await setRun(runId, "status = 'completed'");
  await step();
  await step();

  const ended = { status: "completed", accepted: 1, completed: 1, failed: 0, cancelled: 0 };
  expect((await laterEvents()).slice(1)).toEqual([["batch.completed", ended]]);
  const seen = await eventsOf(test.db, organization, viewerIn(editor.principal));
  expect(seen.at(-1)).toMatchObject({ type: "batch.completed", resource: { id: batchId } });
  const elsewhere = { ...viewerIn(editor.principal), spaceIds: [] };
  expect(await eventsOf(test.db, organization, elsewhere)).toEqual([]);
});

it("a turn is told with the counts of its calls, whether it was noted as open before or not", async () => {
  const { user } = editor.principal;
  const process = newId();
  const turn = (id: string) => ({
    id,
    organization_id: organization.id,
    space_id: spaceId,
    agent_id: newId(),
    user_id: user.id,
    api_key_id: null,
    api_process_id: process,
    starts_conversation: true,
    started_at: new Date(),
    status: "completed" as const,
    error_code: null,
    ended_at: new Date(),
  });
  const call = (turn_id: string, call_no: number) => ({
    turn_id,
    call_no,
    organization_id: organization.id,
    model: "quagga",
    prompt_tokens: 10,
    completion_tokens: 2,
  });
  const [known, lost] = [newId(), newId()];
  await writeTurnEnds(test.db, [turn(known)], [call(known, 1), call(known, 2)]);
  await writeTurnEnds(test.db, [turn(known)], [call(known, 1)]);
  await test.db.owner.query(
    `insert into turns (id, organization_id, space_id, agent_id, user_id, api_process_id, status,
                        starts_conversation, started_at)
     values ($1, $2, $3, $1, $4, $5, 'open', true, now())`,
    [lost, organization.id, spaceId, user.id, process],
  );
  await loseTurns(test.db, process);

  const events = await eventsOf(test.db, organization);
  expect(events).toMatchObject([
    {
      type: "turn.completed",
      resource: { type: "turn", id: known },
      data: { status: "completed", model_calls: 2, prompt_tokens: 20, completion_tokens: 4 },
    },
    { type: "turn.failed", resource: { id: lost }, data: { status: "lost", code: "turn_lost" } },
  ]);
  expect(JSON.stringify(events)).not.toContain("quagga");
});

it("audit rows of a process of the version before become events; reads and refusals do not", async () => {
  const row = (action: string, type: string, outcome: "success" | "denied") =>
    auditRow(
      editor.principal,
      {
        action,
        resource_type: type,
        resource_id: newId(),
        space_id: spaceId,
        request_id: null,
        outcome,
      },
      new Date(),
    );
  await appendAuditRows(test.db, [
    row("documents:read", "document", "success"),
    row("documents:delete", "document", "denied"),
    row("documents:delete", "document", "success"),
    row("files:create", "document", "success"),
    row("documents:reprocess", "batch", "success"),
  ]);

  expect((await eventsOf(test.db, organization)).map((event) => event.type)).toEqual([
    "document.deleted",
    "document.uploaded",
  ]);
});

it("after a commit it is told whose events to place; after a rollback, and to later transactions, nothing", async () => {
  const { runId } = await upload();
  const told: string[] = [];
  onNotedEvents(test.db.pools.values(), (organizationId) => told.push(organizationId));
  const refused = inTransaction(test.db.app, (sql) => {
    noteEvents(sql, newId());
    return Promise.reject(new Error("refused"));
  });
  await expect(refused).rejects.toThrow("refused");
  await inTenant(test.db, organization, (sql) => sql.query("select"));
  expect(told).toEqual([]);

  await inTenant(test.db, organization, (sql) => cancelRun(sql, runId));
  await inTenant(test.db, organization, (sql) => sql.query("select"));

  expect(told).toEqual([organization.id]);
});
