/** The attempts of a run, which a trigger notes from what any process writes. */
import { expect, it } from "vitest";
import { acceptUpload } from "../../../src/commands/documents/accept-upload.ts";
import { inTenant } from "../../../src/db/pool.ts";
import { beginAttempt } from "../../../src/db/runs/attempt.ts";
import { listAttempts } from "../../../src/db/runs/attempts.ts";
import { newId } from "../../../src/domain/ids.ts";
import {
  commandDatabase,
  documentParts,
  loggedIn,
  makeSharedSpace,
  storedMarkdown,
} from "../../support/tenants/commands.ts";

const test = commandDatabase();

async function makeRun() {
  const { organization, spaceId, editorId } = await makeSharedSpace(test.db, "editor");
  const editor = await loggedIn(test.db, organization, editorId);
  const file = { spaceId, folderId: null, filename: "a.md", stored: storedMarkdown(organization) };
  const { id } = await acceptUpload(documentParts(test.db), editor, file);
  const { rows } = await test.db.owner.query("select id from pipeline_runs where document_id = $1", [id]);
  const runId: string = rows[0].id;
  const claimId = newId();
  await test.db.owner.query(
    `insert into claims (id, organization_id, priority, run_ids, leased_until)
     values ($1, $2, 0, array[$3::uuid], now() + interval '1 hour')`,
    [claimId, organization.id, runId],
  );
  const set = (assignments: string) =>
    test.db.owner.query(`update pipeline_runs set ${assignments} where id = $1`, [runId]);
  const begin = (status = "parsing") =>
    set(`status = '${status}', attempt_id = gen_random_uuid(), claim_id = '${claimId}'`);
  const attempts = async (page = { page: 1, limit: 100 }, principal = editor.principal) => {
    const found = await inTenant(test.db, organization, (sql) => listAttempts(sql, principal, runId, page));
    return found.items;
  };
  return { organization, claimId, editor, set, begin, attempts };
}

it("each attempt has its step, its workflow and how it ended", async () => {
  const { organization, claimId, set, begin, attempts } = await makeRun();
  await begin();
  await begin();
  await set("attempt_id = null, waiting_for = 'rate_limited', next_attempt_at = now() - interval '1 second'");
  await begin();
  await set("attempt_id = null");
  await begin();
  await set("attempt_id = null, suspected = true, claim_id = null, status = 'queued'");
  await begin();
  await set("attempt_id = null, chunked = true, status = 'embedding', waiting_for = null, suspected = false");
  await begin("embedding");
  const under = (await attempts()).at(-1);
  expect(under).toMatchObject({ attempt: 6, step: "embed", outcome: "running", ended_at: null });
  await set(`status = 'failed', attempt_id = null, error = '{"code": "corrupt"}'`);

  const found = await attempts();
  expect(found.map(({ step, outcome, code }) => [step, outcome, code])).toEqual([
    ["prepare", "superseded", null],
    ["prepare", "waiting", "rate_limited"],
    ["prepare", "released", null],
    ["prepare", "lost", null],
    ["prepare", "done", null],
    ["embed", "failed", "corrupt"],
  ]);
  expect(found[0]!.workflow_id).toBe(`document-pipeline/${organization.id}/${claimId}`);
  expect(found.every(({ ended_at }) => ended_at !== null)).toBe(true);
});

const lost = { step: "prepare", lost: true } as const;

it.each([
  {
    isolated: false,
    starved: false,
    after: { suspected: true, status: "queued", waiting_for: null, isClaimed: false },
  },
  {
    isolated: false,
    starved: true,
    after: { suspected: false, status: "parsing", waiting_for: "starved", isClaimed: true },
  },
  {
    isolated: true,
    starved: true,
    after: { suspected: false, status: "queued", waiting_for: "starved", isClaimed: false },
  },
])("an attempt that was lost: $isolated isolated, $starved starved", async ({ isolated, starved, after }) => {
  const { organization, claimId, set, begin, attempts } = await makeRun();
  await test.db.owner.query("update claims set isolated = $2 where id = $1", [claimId, isolated]);
  if (isolated) await set("suspected = true, lost_attempts = 2");
  await begin();
  const fence = { claimId, attemptId: newId() };
  await inTenant(test.db, organization, (sql) => beginAttempt(sql, fence, { ...lost, starved }));
  const { rows } = await test.db.owner.query(
    `select suspected, status, waiting_for, claim_id is not null as "isClaimed", lost_attempts
     from pipeline_runs
     where organization_id = $1`,
    [organization.id],
  );
  expect(rows).toMatchObject([after]);
  // Being starved in isolation is not a third loss, which would end the run.
  expect(rows[0].lost_attempts).toBe(isolated ? 2 : 0);
  const [first] = await attempts();
  expect([first!.outcome, first!.code]).toEqual(starved ? ["waiting", "starved"] : ["lost", null]);
});

it("a run that is tried very often keeps its first 10 and its last 40 attempts", async () => {
  const { set, begin, attempts } = await makeRun();
  for (let times = 0; times < 60; times++) {
    await begin();
    await set("attempt_id = null");
  }
  const numbers = (await attempts()).map(({ attempt }) => attempt);
  expect(numbers).toHaveLength(50);
  expect(numbers.slice(8, 12)).toEqual([9, 10, 21, 22]);
  expect(numbers.at(-1)).toBe(60);
});

it("who does not reach the space of a run sees none of its attempts", async () => {
  const { begin, attempts, editor } = await makeRun();
  await begin();
  const elsewhere = { ...editor.principal, reach: new Map() };
  expect(await attempts()).toHaveLength(1);
  expect(await attempts({ page: 1, limit: 100 }, elsewhere)).toEqual([]);
});
