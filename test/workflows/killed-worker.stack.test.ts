/**
 * After a worker is killed in the middle of its work, another one continues, and nothing is lost, doubled or
 * stuck.
 */
import { getPriority } from "node:os";
import { afterEach, expect, test } from "vitest";
import { claimRuns } from "../../src/db/runs/claim.ts";
import { call, ended, upload } from "../support/clients/client.ts";
import { expectWhole, longText } from "../support/tenants/document-entries.ts";
import { makePdf } from "../support/files/text.ts";
import { documentClient } from "../support/clients/document-client.ts";
import { onKillableStack } from "../support/stack/shared-stack.ts";
import { until } from "../support/until.ts";

const { stack, tenants } = onKillableStack();
const { end, accept } = documentClient({ stack, tenants });

afterEach(() => stack.provider.clearFaults());

test("the worker runs at a lower priority than the API", async () => {
  await until("the worker is up", () => stack.worker.output().includes("worker is up"));
  expect(getPriority(stack.worker.child.pid)).toBeGreaterThan(getPriority(stack.api.child.pid));
});

test("after kill -9 in mid-pipeline, every document completes with every chunk once", async () => {
  stack.provider.failEmbeddings({ status: 503 });
  const accepted = await Promise.all(
    ["albatross", "badger", "cheetah"].map((name) => accept(longText(name, 12), `${name}.md`)),
  );
  await until(
    "the runs embed",
    async () =>
      (
        await stack.database.db.owner.query(
          "select from pipeline_runs where document_id = $1 and status = 'embedding'",
          [accepted[2].id],
        )
      ).rowCount === 1,
  );
  await stack.worker.kill("SIGKILL");
  stack.provider.clearFaults();
  stack.restartWorker();
  for (const { id } of accepted) {
    const document = await end(id, 60_000);
    expect(document.processing_state.pipeline_status).toBe("completed");
    await expectWhole(stack, document);
  }
});

test("a claim whose process died before it started its workflow is started by another", async () => {
  await stack.worker.kill("SIGKILL");
  await stack.api.kill("SIGKILL");
  const { db } = stack.database;
  const organization = (
    await db.owner.query<{ id: string; num: number }>("select id, num from organizations where id = $1", [
      tenants.acme,
    ])
  ).rows[0]!;
  await stack.restartApi();
  const accepted = await accept(longText("dolphin", 3), "dolphin.md");
  // The state that a dispatcher leaves if it dies before its call to Temporal: the claim is leased but not
  // started.
  await until(
    "the API has dispatched",
    async () =>
      (
        await db.owner.query(
          `select
           from claims
           where organization_id = $1
             and closed_at is null
             and started_at is not null`,
          [tenants.acme],
        )
      ).rowCount === 1,
  );
  // The API may dispatch at any moment, so the lease is taken from it until it no longer renews it.
  const claim = await until("the claim is nobody's", async () => {
    await db.owner.query("update pipeline_runs set claim_id = null where document_id = $1", [accepted.id]);
    return (await claimRuns(db.system, organization, 0))[0];
  });
  expect(claim.documentIds).toEqual([accepted.id]);
  await db.owner.query("update claims set leased_until = now() - interval '1 second' where id = $1", [
    claim.id,
  ]);
  stack.restartWorker();
  const document = await end(accepted.id, 60_000);
  expect(document.processing_state.pipeline_status).toBe("completed");
  await expectWhole(stack, document);
});

const PAGES = 200;

test("after kill -9 in a long PDF, work resumes at the checkpoint and has every page once", async () => {
  const lines = (page: number) =>
    Array.from(
      { length: 12 },
      (_, line) =>
        `Line ${line} of page ${page} says that the ledger of harbour ${page * 31 + line} was closed.`,
    );
  const file = makePdf(Array.from({ length: PAGES }, (_, index) => lines(index + 1)));
  const accepted = await upload(
    stack.url,
    tenants.keys.editor,
    tenants.spaces.research,
    new Uint8Array(file),
    "ledger.pdf",
  );
  const owner = stack.database.db.owner;
  const firstChunks = async () =>
    (
      await owner.query<{ id: string; page: number | null }>(
        `select chunk.id, (run.checkpoint->>'next_page')::int as page
         from chunks chunk
         join pipeline_runs run on run.num = chunk.run_num
         where run.document_id = $1 and chunk.page_end <= 50
         order by chunk.chunk_index`,
        [accepted.id],
      )
    ).rows;
  await until("some parts are kept", async () => ((await firstChunks())[0]?.page ?? 0) > 100);
  await stack.worker.kill("SIGKILL");
  const before = await firstChunks();
  expect(before[0]!.page).not.toBeNull();
  stack.restartWorker();
  const document = await ended(stack.url, tenants.keys.editor, accepted.id, 120_000);
  expect(document.processing_state).toMatchObject({ pipeline_status: "completed" });
  expect((await firstChunks()).map((chunk) => chunk.id)).toEqual(before.map((chunk) => chunk.id));

  const { rows } = await owner.query(
    `select count(*)::int as chunks,
       count(distinct chunk.chunk_index)::int as distinct,
       count(distinct chunk.page_start)::int as pages,
       max(chunk.chunk_index) + 1 as last
     from chunks chunk
     join documents document on document.published_run_num = chunk.run_num
     where document.id = $1`,
    [accepted.id],
  );
  expect(rows[0]).toMatchObject({ chunks: rows[0].distinct, pages: PAGES, last: rows[0].chunks });
  const text = await fetch(`${stack.url}/v1/data/${accepted.id}/text?format=markdown`, {
    headers: { Authorization: `Bearer ${tenants.keys.viewer}` },
  }).then((answer) => answer.text());
  const told = [...text.matchAll(/Line 0 of page (\d+) says/g)].map((match) => Number(match[1]));
  expect(told).toEqual(Array.from({ length: PAGES }, (_, index) => index + 1));
  const { body } = await call(
    stack.url,
    tenants.keys.viewer,
    "GET",
    `/data/${accepted.id}/text?page=3&limit=50`,
  );
  for (const unit of body.items ?? body.data) expect(text.slice(unit.start, unit.end)).toBe(unit.text);
}, 150_000);
