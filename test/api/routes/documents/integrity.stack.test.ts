/** Integrity on the real stack: the API and the command find whatever is broken on purpose. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { call, ended, upload } from "../../../support/clients/client.ts";
import { documentClient } from "../../../support/clients/document-client.ts";
import { onSharedStack } from "../../../support/stack/shared-stack.ts";
import { runCli } from "../../../support/stack/processes.ts";

const { stack, tenants } = onSharedStack();
const { rows } = documentClient({ stack, tenants });

const check = (id: string, key = tenants.keys.viewer) => call(stack.url, key, "GET", `/data/${id}/integrity`);

async function completed(name: string): Promise<string> {
  const { id } = await upload(
    stack.url,
    tenants.keys.editor,
    tenants.spaces.research,
    `# ${name}\n\nA document that is whole until it is broken.`,
    `${name}.md`,
  );
  expect((await ended(stack.url, tenants.keys.editor, id)).processing_state.pipeline_status).toBe(
    "completed",
  );
  return id;
}

/** The command's counts of Acme that are not 0. */
async function faults(): Promise<Record<string, number>> {
  const printed = await runCli(["integrity", "--organization", tenants.acme, "--json"], stack.env).catch(
    (error: Error) => error.message,
  );
  const report = JSON.parse(printed.slice(printed.indexOf("{")));
  const found = Object.entries(report.organizations[0].counts as Record<string, number>).filter(
    ([, count]) => count > 0,
  );
  expect(report.ok).toBe(found.length === 0);
  expect(printed.includes("ended with 1\n")).toBe(!report.ok);
  return Object.fromEntries(found);
}

test("a document that is whole has no findings, and neither has its organization", async () => {
  const id = await completed("whole");
  const answer = await check(id);
  expect(answer).toMatchObject({ status: 200, body: { document_id: id, ok: true, findings: [] } });
  expect(answer.body.checked_at).toMatch(/^\d{4}-.*Z$/);
  expect(await runCli(["integrity", "--organization", tenants.acme], stack.env)).toMatch(
    /^1 organization is whole/,
  );
});

const RUN = "(select published_run_num from documents where id = $1)";
test.each<[code: string, sql: string]>([
  // The first case, because its postings are still in a segment of their own.
  [
    "index_incomplete",
    `delete from postings where segment_num = (select segment_num from posting_runs where run_num = ${RUN})`,
  ],
  [
    "chunks_incomplete",
    `with gone as (delete from chunks where run_num = ${RUN} returning 1) select from gone`,
  ],
  ["embeddings_incomplete", `delete from embeddings where run_num = ${RUN}`],
  [
    "published_hidden",
    `insert into hidden_runs (organization_num, space_num, run_num, reason)
     select organization.num, document.space_num, document.published_run_num, 'superseded'
     from documents as document
     join organizations as organization on organization.id = document.organization_id
     where document.id = $1`,
  ],
  ["file_missing", "update raw_files set document_id = null where document_id = $1"],
  [
    "run_without_claim",
    "update pipeline_runs set status = 'embedding', claim_id = null where document_id = $1",
  ],
])("%s", async (code, sql) => {
  const id = await completed(code);
  await rows(sql, [id]);
  const { status, body } = await check(id);
  expect(status).toBe(200);
  expect(body.ok).toBe(false);
  expect(body.findings.map((finding: { code: string }) => finding.code)).toContain(code);
});

test("the command counts each of them, stored files that are gone, and wrong statistics", async () => {
  const id = await completed("lost");
  const [{ object_key: name }] = await rows("select object_key from raw_files where document_id = $1", [id]);
  await rm(join(stack.dataDir, "objects", name));
  expect((await check(id)).body).toMatchObject({
    ok: false,
    findings: [{ code: "object_missing", pipeline_run_id: null }],
  });
  await rows(
    `insert into space_statistics (organization_num, space_num, chunks, terms)
     select statistics.organization_num, statistics.space_num, 1, 1
     from space_statistics as statistics
     join organizations as organization on organization.num = statistics.organization_num
     where organization.id = $1
     limit 1`,
    [tenants.acme],
  );
  expect(await faults()).toMatchObject({
    published_incomplete: 3,
    published_hidden: 1,
    documents_without_file: 1,
    runs_without_claim: 1,
    rows_without_object: 1,
    statistics_wrong: 1,
  });
});

test("is 404 for whoever does not reach the document", async () => {
  const id = await completed("reach");
  expect(await check(id, tenants.keys.rival)).toMatchObject({
    status: 404,
    body: { detail: "Document not found" },
  });
  expect(await check(id, tenants.keys.scoped)).toMatchObject({
    status: 404,
    body: { detail: "Document not found" },
  });
});

test("the command refuses an organization that does not exist", async () => {
  await expect(runCli(["integrity", "--organization", tenants.spaces.research], stack.env)).rejects.toThrow(
    "There is no organization with the id",
  );
});
