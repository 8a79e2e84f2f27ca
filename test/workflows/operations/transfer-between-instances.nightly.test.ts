/**
 * An organization moves to an instance that shares nothing with its old one: another database, object store,
 * Temporal, provider and master key.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EMPTY_INSTANCE } from "../../../src/domain/tenancy/empty-instance.ts";
import { keyIdOf } from "../../../src/receipts/signature.ts";
import { call, ended, upload } from "../../support/clients/client.ts";
import { runCli } from "../../support/stack/processes.ts";
import { type Stack, startStack } from "../../support/stack/stack.ts";
import { ACME, KEYS, SPACES } from "../../support/tenants/tenants.ts";
import { citationOf } from "../../support/receipts/cited.ts";
import { until } from "../../support/until.ts";

let source: Stack;
let target: Stack;
let folder: string;

beforeAll(async () => {
  [source, target, folder] = await Promise.all([
    startStack(),
    startStack({ withoutTenants: true, env: { MASTER_KEY: Buffer.alloc(32, 8).toString("base64") } }),
    mkdtemp(join(tmpdir(), "holdfast-move-")),
  ]);
});
afterAll(async () => {
  await Promise.all([source.close(), target.close()]);
  await rm(folder, { recursive: true, force: true });
});

/** Enough for two pages of an archive. */
const DOCUMENTS = 30;
/** The number of imported documents at which the import is held: in the middle of its second page. */
const HELD_AT = 21;
const QUERIES = ["heron in the reeds", "tide of the seventh morning", "number 12"];
const names = ["heron", "tide", "ledger"];
const textOf = (index: number): string =>
  `# ${names[index % 3]} ${index}\n\nThe ${names[index % 3]} of morning number ${index} stands in the ` +
  `reeds.\n\n${`Word${index} `.repeat(index)}`;

const organization = async ({ env }: Stack, ...args: string[]) =>
  JSON.parse(await runCli(["organization", ...args, "--key-file", join(folder, "key")], env));

/**
 * Returns every hit of every query with all its scores, by id: hits with equal scores come in the order of
 * their runs, which are new after an import.
 */
async function hits(url: string, key: string): Promise<Map<string, object>> {
  const found = new Map<string, object>();
  for (const query of QUERIES) {
    const { body, status } = await call(url, key, "POST", "/data/hybrid-search", {
      space_id: SPACES.research,
      query,
      limit: 100,
    });
    expect(status).toBe(200);
    for (const hit of body.results) found.set(`${query}: ${hit.chunk_id}`, hit);
  }
  return found;
}

test("an instance without an organization says so when it starts", async () => {
  await until("the start is over", () => target.api.output().includes(EMPTY_INSTANCE));
});

test("search has the same scores there, and an import that loses its worker embeds nothing", async () => {
  const documents = await Promise.all(
    Array.from({ length: DOCUMENTS }, (_, index) =>
      upload(source.url, KEYS.editor, SPACES.research, textOf(index), `${index}.md`),
    ),
  );
  for (const { id } of documents)
    expect((await ended(source.url, KEYS.editor, id)).processing_state.pipeline_status).toBe("completed");
  const { id: cited } = documents[0];
  await call(source.url, KEYS.owner, "POST", `/data/${cited}/reprocess`);
  await ended(source.url, KEYS.owner, cited);
  const cite = { organizationId: ACME, documentId: cited, quote: "stands in the" };
  const citation = await citationOf(source, { ...cite, key: KEYS.owner });
  const before = await hits(source.url, KEYS.owner);
  expect(before.size).toBeGreaterThan(DOCUMENTS);
  const archive = join(folder, "archive");
  await organization(source, "export", ACME, "--to", archive);

  const { owner } = target.database.db;
  const hold = await owner.connect();
  await hold.query("select pg_advisory_lock(1)");
  await owner.query(
    `create or replace function hold() returns trigger
     language plpgsql
     as $$
     begin
       if (select count(*) from documents) >= ${HELD_AT} then
         perform pg_advisory_xact_lock(1);
       end if;
       return new;
     end $$`,
  );
  await owner.query(
    "create or replace trigger hold before insert on documents for each row execute function hold()",
  );
  const { operation_id: id } = await organization(target, "import", "--from", archive, "--no-wait", "--json");
  await until(
    "it is held in the middle of a page",
    async () =>
      (await owner.query("select from pg_locks where locktype = 'advisory' and not granted")).rowCount! > 0,
  );
  await target.worker.kill("SIGKILL");
  await hold.query("select pg_advisory_unlock(1)");
  hold.release();
  const standing = async () =>
    (await owner.query("select completed_at, report from operations where id = $1", [id])).rows[0];
  expect((await standing()).completed_at).toBeNull();
  target.restartWorker();
  await until("it has ended", async () => (await standing()).completed_at !== null, 60_000);
  expect((await standing()).report).toMatchObject({ organization_id: ACME, documents: DOCUMENTS });
  await expect(organization(target, "import", "--from", archive)).rejects.toThrow("already exists here");

  const { key } = JSON.parse(
    await runCli(["keys", "create", "--email", "ada@acme.example", "--name", "moved", "--json"], target.env),
  );
  for (const document of documents)
    expect((await ended(target.url, key, document.id)).processing_state.pipeline_status).toBe("completed");
  expect(target.provider.counts.embeddings).toBe(0);
  const { rows } = await owner.query(
    `select
       (select count(*)::int from documents) as documents,
       (select count(*)::int from raw_files) as files,
       (select count(*)::int from pipeline_runs) as runs,
       (select count(*)::int from chunks) as chunks,
       (select count(*)::int from embeddings) as embeddings`,
  );
  expect(rows[0]).toEqual({
    documents: DOCUMENTS,
    files: DOCUMENTS,
    runs: DOCUMENTS,
    chunks: rows[0].embeddings,
    embeddings: rows[0].chunks,
  });
  expect(await hits(target.url, key)).toEqual(before);
  const later = await citationOf(target, { ...cite, key });
  expect(keyIdOf(later.receipt)).not.toBe(keyIdOf(citation.receipt));
  for (const one of [citation, later])
    expect((await call(target.url, key, "POST", "/receipts/verify", one)).body).toMatchObject({
      status: "same",
      current_version: 1,
    });
  expect(target.provider.counts.texts).toBe(QUERIES.length);
  expect(JSON.parse(await runCli(["integrity", "--json"], target.env)).ok).toBe(true);
}, 120_000);
