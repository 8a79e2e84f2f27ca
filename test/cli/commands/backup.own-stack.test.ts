/**
 * Runs `backup verify` on a restored backup: a whole one passes, and each fault that is made is found.
 */
import { execFile } from "node:child_process";
import { cp, glob, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ended, upload } from "../../support/clients/client.ts";
import {
  createTestDatabase,
  type OwnedDatabase,
  openOwnedDatabase,
  type TestDatabase,
} from "../../support/servers/database.ts";
import { postgresTool } from "../../support/servers/postgres-server.ts";
import { runCli } from "../../support/stack/processes.ts";
import { type Stack, startStack } from "../../support/stack/stack.ts";
import { ACME, KEYS, RIVAL, SPACES } from "../../support/tenants/tenants.ts";

const run = promisify(execFile);

let stack: Stack;
let restored: TestDatabase;
let folder: string;
let env: Record<string, string>;
let documents: Array<{ id: string }>;
/** The manifest of a backup of the same moment. */
let manifest: string;

beforeAll(async () => {
  [stack, folder] = await Promise.all([startStack(), mkdtemp(join(tmpdir(), "holdfast-backup-"))]);
  documents = [];
  for (const text of ["# Lichen\n\nLichen grows slowly.\n", "# Moss\n\nMoss likes shade.\n"])
    documents.push(await upload(stack.url, KEYS.editor, SPACES.research, text));
  for (const { id } of documents) await ended(stack.url, KEYS.editor, id);
  const dump = join(folder, "holdfast.dump");
  await run(await postgresTool("pg_dump"), ["-Fc", "--file", dump, stack.database.url]);
  await cp(join(stack.dataDir, "objects"), join(folder, "objects"), { recursive: true });
  restored = await createTestDatabase({ isEmpty: true });
  await run(await postgresTool("pg_restore"), [
    "--exit-on-error",
    "--no-owner",
    "--no-privileges",
    "--dbname",
    restored.url,
    dump,
  ]);
  await runCli(["migrate"], { ...stack.env, DATABASE_OWNER_URL: restored.url });
  env = { ...stack.env, ...restored.env, DATA_DIR: folder };
  manifest = join(folder, "backup", "manifest.json");
  await runCli(["backup", "create", "--to", join(folder, "backup")], {
    ...stack.env,
    DATABASE_OWNER_URL: stack.database.url,
    HOLDFAST_CACHE: process.env["HOLDFAST_TEST_CACHE_DIR"]!,
  });
});

afterAll(async () => {
  await stack.close();
  await restored.drop();
  await rm(folder, { recursive: true, force: true });
});

interface Verified {
  readonly ok: boolean;
  readonly organizations: ReadonlyArray<{
    counts: Record<string, number>;
    fewer_rows: Record<string, { manifest: number; found: number }>;
  }>;
  readonly faults: ReadonlyArray<{ organization_id: string | null; fault: string; count: number }>;
  readonly missing: ReadonlyArray<{
    organization_id: string;
    document_id: string | null;
    kind: string;
    fault: string;
  }>;
}

/** What the command prints, whatever its exit code is. */
async function verified(args: readonly string[], settings = env): Promise<Verified> {
  const text = await runCli(["backup", "verify", ...args, "--json"], settings).catch((error: unknown) =>
    (error as Error).message.replace(/^.*\n/, ""),
  );
  return JSON.parse(text) as Verified;
}

/** The faults of Acme by kind, and the missing parts by document. */
async function faults(): Promise<{ counts: Record<string, number>; missing: string[] }> {
  const { ok, organizations, missing } = await verified(["--organization", ACME]);
  const counts = Object.fromEntries(
    Object.entries(organizations[0]!.counts).filter(([, count]) => count > 0),
  );
  expect(ok).toBe(Object.keys(counts).length === 0);
  const nameOf = (id: string | null): string =>
    ["lichen", "moss"][documents.findIndex((one) => one.id === id)] ?? String(id);
  return {
    counts,
    missing: missing.map(
      ({ organization_id, document_id, kind, fault }) =>
        `${organization_id === ACME ? "" : "elsewhere "}${nameOf(document_id)} ${kind} ${fault}`,
    ),
  };
}

/** Runs `work` over connections of its own, as an accident outside the service would. */
async function meddle(work: (db: OwnedDatabase) => Promise<unknown>): Promise<void> {
  const db = openOwnedDatabase(restored.url, 2);
  try {
    await work(db);
  } finally {
    await db.close();
  }
}

test("what was restored whole can be served: every file was read", async () => {
  expect(await runCli(["backup", "verify"], env)).toBe(
    "2 organizations can be served from this backup; 2 files were read\n",
  );
});

test("another master key is told, before anything else", async () => {
  await expect(
    runCli(["backup", "verify"], { ...env, MASTER_KEY: Buffer.alloc(32, 8).toString("base64") }),
  ).rejects.toThrow("is wrapped by the master key");
});

test("changed and missing objects, lost vectors and damaged keys are found, by document", async () => {
  const objects: string[] = [];
  for await (const path of glob(join(folder, "objects", ACME, "*", "*"))) objects.push(path);
  expect(objects).toHaveLength(2);
  const [moss] = (
    await restored.db.owner.query<{ object_key: string }>(
      "select object_key from raw_files where document_id = $1",
      [documents[1]!.id],
    )
  ).rows;
  const path = join(folder, "objects", moss!.object_key);
  const whole = await readFile(path);
  const changed = Buffer.from(whole);
  changed[changed.length - 1]! ^= 1;
  await writeFile(path, changed);
  expect(await faults()).toEqual({ counts: { files_unreadable: 1 }, missing: ["moss file file_unreadable"] });
  await rm(path);
  expect(await faults()).toEqual({
    counts: { files_unreadable: 1, rows_without_object: 1 },
    missing: ["moss file object_missing"],
  });
  await writeFile(path, whole);
  await meddle((db) =>
    db.owner.query(
      "delete from embeddings where run_num = (select published_run_num from documents where id = $1)",
      [documents[0]!.id],
    ),
  );
  expect(await faults()).toEqual({
    counts: { published_incomplete: 1 },
    missing: ["lichen document embeddings_incomplete"],
  });
  await meddle(async (db) => {
    await db.owner.query(
      "update organization_keys set wrapped = set_byte(wrapped, 20, get_byte(wrapped, 20) # 1)",
    );
  });
  expect((await faults()).counts).toEqual({
    published_incomplete: 1,
    keys_unreadable: 1,
    files_unreadable: 2,
  });
});

test("fewer rows than in the manifest, a missing organization and an empty database are faults", async () => {
  await meddle((db) =>
    db.owner.query(
      `delete from instance_secrets;
       delete from audit_log;
       delete from embedding_cache_references;
       update organizations set deleted_at = now() where name = 'Rival'`,
    ),
  );
  const { ok, faults: found, organizations } = await verified(["--quick", "--manifest", manifest]);
  expect(ok).toBe(false);
  expect(organizations.map(({ fewer_rows }) => Object.keys(fewer_rows).toSorted())).toEqual([
    ["audit_log", "embedding_cache_references"],
  ]);
  expect(found).toContainEqual({
    organization_id: ACME,
    fault: "rows_missing embedding_cache_references",
    count: 2,
  });
  expect(found).toContainEqual({
    organization_id: null,
    fault: "rows_missing instance_secrets",
    count: expect.any(Number),
  });
  expect(found).toContainEqual({ organization_id: null, fault: "secret_missing pepper", count: 1 });
  expect(found).toContainEqual({ organization_id: RIVAL, fault: "organization_missing", count: 1 });
  await meddle((db) => db.owner.query("update organizations set deleted_at = now()"));
  await expect(runCli(["backup", "verify"], env)).rejects.toThrow(
    new RegExp(
      "^.*ended with 1\\nORGANIZATION +FAULT +COUNT\\n- +no_organizations +1\\n" +
        "There is no organization: nothing was restored into this database\\.",
    ),
  );
  expect(await runCli(["backup", "verify", "--allow-empty"], env)).toBe(
    "0 organizations can be served from this backup; 0 files were read\n",
  );
});
