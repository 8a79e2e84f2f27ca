/** What Postgres refuses for a while is an outage, and no defect of a statement. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase, queryOnce, readTenant } from "../../src/db/pool.ts";
import { createTestDatabase, type TestDatabase } from "../support/servers/database.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test.each<[what: string, change: (url: URL) => void, statement: string]>([
  [
    "a password that is not the login's any more",
    (url) => {
      url.password = "another";
    },
    "select 1",
  ],
  [
    "a server that takes no writes",
    (url) => url.searchParams.set("options", "-c default_transaction_read_only=on"),
    "delete from folders",
  ],
])("%s", async (_what, change, statement) => {
  const url = new URL(database.env.DATABASE_URL);
  change(url);
  const db = openDatabase({
    url: url.toString(),
    systemUrl: url.toString(),
    poolSize: 1,
    onIdleError: () => undefined,
  });
  await expect(queryOnce(db.app, statement)).rejects.toMatchObject({ code: "database_unavailable" });
  await db.close();
});

test("a write where only reading was asked for is our own mistake, and no outage", async () => {
  const nobody = { id: "01900000-0000-7000-8000-000000000001", num: 1 };
  const write = readTenant(database.db, nobody, (sql) => sql.query("delete from folders"));
  await expect(write).rejects.toMatchObject({ code: "25006" });
});
