/** A new database is the same as one that 0.10 made and this version has migrated. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findPostgresTools } from "../../src/backup/postgres-tools.ts";
import { migrate, type Migrated } from "../../src/db/migrate.ts";
import { cacheDirs, serverUser } from "../../src/embedded/servers/server-user.ts";
import { createTestDatabase, type TestDatabase } from "../support/servers/database.ts";

let made: TestDatabase;
let upgraded: TestDatabase;
let upgrade: Migrated;

beforeAll(async () => {
  [made, upgraded] = await Promise.all([
    createTestDatabase({ isEmpty: true }),
    createTestDatabase({ isEmpty: true }),
  ]);
  // A connection of its own, since the dump changes the search path of its session.
  const client = new pg.Client({ connectionString: upgraded.url });
  await client.connect();
  await client.query(await readFile(join(import.meta.dirname, "schema-of-0.10.sql"), "utf8"));
  await client.end();
  upgrade = await migrate(upgraded.db);
  await migrate(made.db);
});
afterAll(() => Promise.all([made.drop(), upgraded.drop()]));

/** The catalogue as pg_dump prints it, but for its random key and the order in which rights were given. */
async function catalogueOf({ db, url }: TestDatabase): Promise<string> {
  const { rows } = await db.owner.query<{ major: number }>(
    "select current_setting('server_version_num')::int / 10000 as major",
  );
  const user = await serverUser();
  const { folder } = await findPostgresTools(
    { server: rows[0]!.major },
    cacheDirs({ configured: undefined, dataDir: "", user }),
  );
  const { stdout } = await promisify(execFile)(join(folder, "pg_dump"), ["--schema-only", "--no-acl", url], {
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout.replaceAll(/^\\(?:un)?restrict .*$/gm, "");
}

async function rowsOf({ db }: TestDatabase): Promise<unknown> {
  const { rows } = await db.owner.query(
    `select array(select name from migrations order by name) as migrations,
            array(select name from cut_overs order by name)  as cut_overs,
            (select count(*)::int from orphan_counts)        as orphan_counts`,
  );
  return rows[0];
}

test("its catalogue is the same, byte for byte", async () => {
  const [fresh, old] = await Promise.all([catalogueOf(made), catalogueOf(upgraded)]);
  expect(fresh.length).toBeGreaterThan(100_000);
  expect(fresh === old ? "" : firstDifference(fresh, old)).toBe("");
});

test("it has the same rows, and the names of the migrations that the schema stands for", async () => {
  expect(await rowsOf(made)).toEqual(await rowsOf(upgraded));
  expect(await rowsOf(made)).toMatchObject({ cut_overs: ["bound_payloads", "response_items"] });
});

test("0.10 left the rights that this version declares, and nothing is left to mend", async () => {
  // The dump says nothing of owners: whoever loads it owns the partitions of vectors.
  expect(upgrade.mended.filter((fault) => !/vectors\.embeddings_\d+ belongs to/.test(fault))).toEqual([]);
  for (const one of [made, upgraded]) expect(await migrate(one.db)).toEqual({ applied: [], mended: [] });
});

function firstDifference(some: string, others: string): string {
  const [left, right] = [some.split("\n"), others.split("\n")];
  const at = left.findIndex((line, index) => line !== right[index]);
  return `line ${at + 1}: "${left[at]}" in a new database, "${right[at]}" in one of 0.10`;
}
