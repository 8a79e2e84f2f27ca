/** What `holdfast migrate` refuses before it changes anything: databases older than 0.10. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrate } from "../../src/db/migrate.ts";
import { newId } from "../../src/domain/ids.ts";
import { createTestDatabase, type TestDatabase } from "../support/servers/database.ts";
import { makeOrganization } from "../support/tenants/callers.ts";
import { runCli } from "../support/stack/processes.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function namesApplied(): Promise<string[]> {
  const { rows } = await database.db.owner.query<{ name: string }>("select name from migrations order by 1");
  return rows.map(({ name }) => name);
}

test("a database that keeps responses of 0.9 waits for their end", async () => {
  const { id } = await makeOrganization(database.db);
  await database.db.owner.query(
    `insert into responses (
       id, organization_id, caller_id, user_id, status, is_background, api_process_id, document_ids,
       request_key_id, sealed_request, is_itemized, created_at, expires_at
     )
     values ($1, $2, $1, $1, 'in_progress', false, $1, '{}', $1, '', false, now(), '2999-01-01Z')`,
    [newId(), id],
  );
  await expect(migrate(database.db)).rejects.toThrow(
    "Responses that version 0.9 wrote are kept until 2999-01-01T00:00:00.000Z: upgrade after that",
  );
  await database.db.owner.query("update responses set expires_at = now() - interval '1 second'");
  expect((await migrate(database.db)).applied).toEqual([]);
});

test("a database whose payloads need not be bound is sent to 0.10's cut-over", async () => {
  await database.db.owner.query("delete from cut_overs where name = 'bound_payloads'");
  await expect(migrate(database.db)).rejects.toThrow(
    "run `holdfast seals cut-over` with 0.10 first, then upgrade.",
  );
});

test("a database that 0.10 has not migrated to its end is refused, and stays as it is", async () => {
  await database.db.owner.query("delete from migrations where name >= '0041'");
  const before = await namesApplied();
  await expect(migrate(database.db)).rejects.toThrow(
    "The database is older than version 0.10, since it lacks 0041_ownership.sql: " +
      "upgrade it with 0.10.0 first, then with this version.",
  );
  expect(await namesApplied()).toEqual(before);
});

test("the command refuses an older database in one sentence", async () => {
  await database.db.owner.query("delete from migrations where name > '0030'");
  await expect(runCli(["migrate"], { DATABASE_OWNER_URL: database.url, NODE_ENV: "test" })).rejects.toThrow(
    /ended with 1\nThe database is older than version 0\.10, since it lacks 0030_responses\.sql: [^\n]*\.\n$/,
  );
});
