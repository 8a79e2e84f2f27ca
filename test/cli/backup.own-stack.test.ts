/** A backup that was restored beside the service: what is whole passes, and each thing that may be wrong with it is found. */
import { execFile } from "node:child_process";
import { cp, glob, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ended, upload } from "../support/client.ts";
import { createTestDatabase, type OwnedDatabase, openOwnedDatabase, type TestDatabase } from "../support/database.ts";
import { runCli } from "../support/processes.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { ACME, KEYS, SPACES } from "../support/tenants.ts";

const run = promisify(execFile);

let stack: Stack;
let restored: TestDatabase;
let folder: string;
let env: Record<string, string>;
let documents: Array<{ id: string }>;

/** Of the Postgres that the tests run on: its own tools know its format. */
async function postgresTool(name: string): Promise<string> {
  for await (const path of glob(join(process.env["HOLDFAST_TEST_CACHE_DIR"] ?? "", `embedded-postgres-*/**/bin/${name}`))) return path;
  throw new Error(`${name} is not beside the tests' Postgres`);
}

beforeAll(async () => {
  [stack, folder] = await Promise.all([startStack(), mkdtemp(join(tmpdir(), "holdfast-backup-"))]);
  documents = [];
  for (const text of ["# Lichen\n\nLichen grows slowly.\n", "# Moss\n\nMoss likes shade.\n"]) documents.push(await upload(stack.url, KEYS.editor, SPACES.research, text));
  for (const { id } of documents) await ended(stack.url, KEYS.editor, id);
  const dump = join(folder, "holdfast.dump");
  await run(await postgresTool("pg_dump"), ["-Fc", "--file", dump, stack.database.url]);
  await cp(join(stack.dataDir, "objects"), join(folder, "objects"), { recursive: true });
  restored = await createTestDatabase({ isEmpty: true });
  await run(await postgresTool("pg_restore"), ["--exit-on-error", "--dbname", restored.url, dump]);
  env = { ...stack.env, ...restored.env, DATA_DIR: folder };
});

afterAll(async () => {
  await stack.close();
  await restored.drop();
  await rm(folder, { recursive: true, force: true });
});

/** Faults of Acme by kind, as the command tells them. */
async function faults(settings = env): Promise<Record<string, number>> {
  const text = await runCli(["backup", "verify", "--organization", ACME, "--json"], settings).catch((error: unknown) => (error as Error).message.replace(/^.*\n/, ""));
  const { ok, organizations } = JSON.parse(text) as { ok: boolean; organizations: Array<{ counts: Record<string, number> }> };
  const wrong = Object.fromEntries(Object.entries(organizations[0]!.counts).filter(([, count]) => count > 0));
  expect(ok).toBe(Object.keys(wrong).length === 0);
  return wrong;
}

/** Runs `work` on a database of its own connections, as an accident would. */
async function meddle(work: (db: OwnedDatabase) => Promise<unknown>): Promise<void> {
  const db = openOwnedDatabase(restored.url, 2);
  try {
    await work(db);
  } finally {
    await db.close();
  }
}

test("what was restored whole can be served: every file was read", async () => {
  expect(await runCli(["backup", "verify"], env)).toBe("2 organizations can be served from this backup; 2 files were read\n");
});

test("another master key is told, before anything else", async () => {
  await expect(runCli(["backup", "verify"], { ...env, MASTER_KEY: Buffer.alloc(32, 8).toString("base64") })).rejects.toThrow("is wrapped by the master key");
});

test("a changed object, a missing one, a lost vector and a damaged key are each found", async () => {
  const objects: string[] = [];
  for await (const path of glob(join(folder, "objects", ACME, "*", "*"))) objects.push(path);
  expect(objects.length).toBe(2);
  const whole = await Promise.all(objects.map((path) => readFile(path)));
  const changed = Buffer.from(whole[0]!);
  changed[changed.length - 1]! ^= 1;
  await writeFile(objects[0]!, changed);
  expect(await faults()).toEqual({ files_unreadable: 1 });
  await rm(objects[0]!);
  expect(await faults()).toEqual({ files_unreadable: 1, rows_without_object: 1 });
  await writeFile(objects[0]!, whole[0]!);
  await meddle((db) => db.owner.query("delete from embeddings where ctid = (select ctid from embeddings limit 1)"));
  expect(await faults()).toEqual({ published_incomplete: 1 });
  await meddle(async (db) => {
    await db.owner.query("update organization_keys set wrapped = set_byte(wrapped, 20, get_byte(wrapped, 20) # 1)");
  });
  expect(await faults()).toEqual({ published_incomplete: 1, keys_unreadable: 1, files_unreadable: 2 });
});
