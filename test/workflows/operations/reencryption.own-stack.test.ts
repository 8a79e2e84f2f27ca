/**
 * After a rotation, an organization's files are re-encrypted under its new key, despite the loss of a worker,
 * and the old key is destroyed when nothing needs it.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, Connection } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../../src/domain/ids.ts";
import { HEADER_BYTES, readHeader } from "../../../src/storage/keys/envelope.ts";
import { createDirectoryStore } from "../../../src/storage/stores/directory.ts";
import { objectName } from "../../../src/storage/object-store.ts";
import { call, ended, fileForm, upload } from "../../support/clients/client.ts";
import { runCli } from "../../support/stack/processes.ts";
import { documentClient } from "../../support/clients/document-client.ts";
import { onOwnStack } from "../../support/stack/own-stack.ts";
import { citationOf } from "../../support/receipts/cited.ts";
import { until } from "../../support/until.ts";

const FILES = 30;
const textOf = (index: number): string => `# File ${index}\n\nFile number ${index} is read all the while.`;

const { stack, tenants } = onOwnStack();
const { rows } = documentClient({ stack, tenants });
let connection: Connection;
let client: Client;
beforeAll(async () => {
  connection = await Connection.connect({ address: stack.temporalAddress });
  client = new Client({ connection });
}, 180_000);
afterAll(async () => {
  await connection.close();
});

const keysOf = async (organization: string): Promise<string[]> =>
  (
    await rows("select id from organization_keys where organization_id = $1 order by is_current", [
      organization,
    ])
  ).map(({ id }) => id);
const standing = async (id: string) =>
  (await rows("select completed_at, report from operations where id = $1", [id]))[0];
const cli = async (...args: string[]) => JSON.parse(await runCli([...args, "--json"], stack.env));

/** Lists the names of the objects in the organization's rows. */
async function named(organization: string): Promise<string[]> {
  const found = await rows(
    `select object_key as name from raw_files where organization_id = $1 and object_key is not null
     union select object_key from pipeline_runs where organization_id = $1 order by 1`,
    [organization],
  );
  return found.map(({ name }) => name);
}

/** Lists the ids of the keys that the headers of these objects name. */
async function keysInHeaders(names: readonly string[]): Promise<string[]> {
  const headers = await Promise.all(names.map((name) => readFile(join(stack.dataDir, "objects", name))));
  return [
    ...new Set(headers.map((header) => readHeader(header.subarray(0, HEADER_BYTES)).organizationKeyId)),
  ];
}

const download = async (index: number): Promise<string> =>
  (
    await call(
      stack.url,
      tenants.keys.owner,
      "GET",
      `/spaces/${tenants.spaces.research}/data/download?path=${encodeURIComponent(`kept/${index}.md`)}`,
    )
  ).body;

/** Runs `work` while files are read repeatedly, and fails if one is not as expected. */
async function whileReading(work: () => Promise<void>): Promise<void> {
  let isOver = false;
  const reading = (async () => {
    for (let turn = 0; !isOver; turn += 1) {
      expect(await download(turn % FILES)).toBe(textOf(turn % FILES));
      await sleep(10);
    }
  })();
  await work().finally(() => (isOver = true));
  await reading;
}

test("copies replace the files although a worker dies, and the files stay readable", async () => {
  const made = await Promise.all(
    Array.from({ length: FILES }, async (_, index) => {
      const answer = await call(
        stack.url,
        tenants.keys.editor,
        "POST",
        `/spaces/${tenants.spaces.research}/data/upload`,
        fileForm(textOf(index), `${index}.md`, { path: "kept" }),
      );
      expect(answer.status).toBe(201);
    }),
  );
  const document = await upload(
    stack.url,
    tenants.keys.editor,
    tenants.spaces.research,
    textOf(FILES),
    "document.md",
  );
  await ended(stack.url, tenants.keys.editor, document.id);
  const cite = { organizationId: tenants.acme, key: tenants.keys.editor, documentId: document.id };
  const citation = await citationOf(stack, { ...cite, quote: "is read all the while." });
  const before = await named(tenants.acme);
  expect(before.length).toBeGreaterThan(made.length);
  const { report: rotation } = await cli("keys", "rotate-organization", tenants.acme);

  const lock = await stack.database.db.owner.connect();
  await lock.query("begin");
  await lock.query("select from raw_files where object_key = $1 for update", [before[FILES / 2]]);
  const { operation_id: id } = await cli("keys", "reencrypt-organization", tenants.acme, "--no-wait");
  await whileReading(async () => {
    await until(
      "files before the one that is locked have new names",
      async () => (await named(tenants.acme)).filter((name) => !before.includes(name)).length >= FILES / 2,
    );
    await stack.worker.kill("SIGKILL");
    await lock.query("rollback");
    lock.release();
    stack.restartWorker();
    await until("the operation has ended", async () => (await standing(id)).completed_at !== null, 90_000);
  });
  const after = await named(tenants.acme);
  expect(after).toHaveLength(before.length);
  expect(after.filter((name) => before.includes(name))).toEqual([]);
  expect(await keysInHeaders(after)).toEqual([rotation.key_id]);
  expect((await standing(id)).report).toMatchObject({
    organization_id: tenants.acme,
    key_id: rotation.key_id,
    objects_unreadable: 0,
  });
  // Copied files are left to the sweep, for readers that have already opened them.
  const swept = await rows("select object_key from upload_intents where organization_id = $1", [
    tenants.acme,
  ]);
  expect(swept.map(({ object_key: name }) => name)).toEqual(expect.arrayContaining(before));
  expect((await cli("keys", "reencrypt-organization", tenants.acme)).report).toMatchObject({
    objects_encrypted_anew: 0,
    objects_unreadable: 0,
  });
  const later = await citationOf(stack, { ...cite, quote: "is read all the while." });
  for (const one of [citation, later])
    expect((await call(stack.url, tenants.keys.editor, "POST", "/receipts/verify", one)).body).toMatchObject({
      status: "same",
    });
  expect(
    await rows(
      "select distinct seal_key_id from receipt_keys where retired_at is null and organization_id = $1",
      [tenants.acme],
    ),
  ).toEqual([{ seal_key_id: rotation.key_id }]);
  expect(await cli("backup", "verify", "--organization", tenants.acme)).toMatchObject({ ok: true });
  expect((await call(stack.url, tenants.keys.editor, "POST", `/data/${document.id}/reprocess`)).status).toBe(
    202,
  );
  expect((await ended(stack.url, tenants.keys.editor, document.id)).processing_state.pipeline_status).toBe(
    "completed",
  );
}, 180_000);

test("a file that cannot be read is counted and kept as it is", async () => {
  const answer = await call(
    stack.url,
    tenants.keys.rival,
    "POST",
    `/spaces/${tenants.spaces.rival}/data/upload`,
    fileForm("of the rival", "broken.md", { path: "kept" }),
  );
  expect(answer.status).toBe(201);
  const [name] = await named(tenants.rival);
  await cli("keys", "rotate-organization", tenants.rival);
  await rows("update raw_files set object_key = $2 where object_key = $1", [
    name,
    objectName(tenants.rival, newId()),
  ]);
  expect((await cli("keys", "reencrypt-organization", tenants.rival)).report).toMatchObject({
    objects_seen: 2,
    objects_encrypted_anew: 1,
    objects_unreadable: 1,
  });
  await rows(
    `update raw_files file
     set object_key = run.object_key
     from pipeline_runs run
     where run.document_id = file.document_id and file.organization_id = $1`,
    [tenants.rival],
  );
});

const forgetCaches = (organization: string) =>
  rows(
    `update organization_keys
     set created_at = created_at + interval '-65 seconds'
     where organization_id = $1 and is_current`,
    [organization],
  );

test("an older key is kept as long as anything needs it, and the operation says what", async () => {
  const document = await upload(
    stack.url,
    tenants.keys.rival,
    tenants.spaces.rival,
    "# Rival\n\nIts pipeline's history is under the key of now.",
    "rival.md",
  );
  await ended(stack.url, tenants.keys.rival, document.id);
  await cli("keys", "rotate-organization", tenants.rival);
  await forgetCaches(tenants.rival);
  const keys = await keysOf(tenants.rival);
  const { operation_id: id } = await cli(
    "keys",
    "reencrypt-organization",
    tenants.rival,
    "--destroy-old-keys",
    "--no-wait",
  );
  const waitsFor = await until("it waits", async () => (await standing(id)).report.waits_for, 60_000);
  expect(waitsFor).toMatchObject({ workflows: expect.any(Number) });
  expect(waitsFor.workflows).toBeGreaterThan(0);
  expect(await keysOf(tenants.rival)).toEqual(keys);
}, 120_000);

test("the old key is destroyed once nothing needs it, and everything stays readable", async () => {
  await forgetCaches(tenants.acme);
  await rows(
    "update upload_intents set leased_until = leased_until - interval '2 days' where organization_id = $1",
    [tenants.acme],
  );
  await client.schedule.getHandle("maintenance").trigger();
  await until(
    "the sweep has taken the files of before",
    async () =>
      (await rows("select from upload_intents where organization_id = $1", [tenants.acme])).length === 0,
  );
  // Deletes the workflows, as the namespace's retention would.
  const query = `OrganizationId = '${tenants.acme}'`;
  await until("Temporal has forgotten the workflows", async () => {
    for await (const { workflowId, runId } of client.workflow.list({ query }))
      await connection.workflowService.deleteWorkflowExecution({
        namespace: "default",
        workflowExecution: { workflowId, runId },
      });
    return (await client.workflow.count(query)).count === 0;
  });
  const keys = await keysOf(tenants.acme);
  const { report } = await cli("keys", "reencrypt-organization", tenants.acme, "--destroy-old-keys");
  expect(report).toMatchObject({ key_id: keys.at(-1), keys_destroyed: keys.length - 1 });
  expect(await keysOf(tenants.acme)).toEqual([keys.at(-1)]);
  const stored = await createDirectoryStore(join(stack.dataDir, "objects")).list(tenants.acme, {
    limit: 1_000,
  });
  expect(await keysInHeaders(stored.map(({ name }) => name))).toEqual([keys.at(-1)]);
  for (let index = 0; index < FILES; index += 1) expect(await download(index)).toBe(textOf(index));
}, 120_000);
