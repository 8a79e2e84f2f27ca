import { afterAll, beforeAll, expect, test } from "vitest";
import { runChecks } from "../../../src/cli/doctor/check.ts";
import { postgresChecks } from "../../../src/cli/doctor/postgres.ts";
import { loadConfig } from "../../../src/config/config.ts";
import { localMasterKey } from "../../../src/storage/keys/keyring.ts";
import { createTestDatabase, type TestDatabase } from "../../support/servers/database.ts";

let migrated: TestDatabase;
let empty: TestDatabase;
beforeAll(async () => {
  [migrated, empty] = await Promise.all([createTestDatabase(), createTestDatabase({ isEmpty: true })]);
});
afterAll(() => Promise.all([migrated.drop(), empty.drop()]));

async function found({ db, env }: TestDatabase): Promise<Record<string, string>> {
  const parts = {
    config: loadConfig({ ...env }),
    db: async () => db,
    masterKey: async () => localMasterKey(Buffer.alloc(32, 3)),
  };
  return Object.fromEntries(
    (await runChecks(postgresChecks(parts))).map(({ name, state, seen }) => [name, `${state}: ${seen}`]),
  );
}

test("a missing policy and a missing schema fail; a newer schema is named", async () => {
  expect(await found(migrated)).toMatchObject({
    migrations: "ok: up to date",
    policies: expect.stringMatching(/^ok/),
    "master key": expect.stringMatching(/^ok: there are no secrets/),
  });
  await migrated.db.owner.query(
    `alter table documents disable row level security;
     insert into migrations (name) values ('9999_later.sql')`,
  );
  expect(await found(migrated)).toMatchObject({
    migrations: "warn: a newer version has migrated this database (9999_later.sql)",
    policies: expect.stringMatching(/^fail: .*documents.*row-level security/),
  });
  expect(await found(empty)).toMatchObject({
    migrations: expect.stringMatching(/^fail: the database lacks 0001_tenancy.sql/),
    pgvector: "fail: the extension is not installed in this database",
  });
});
