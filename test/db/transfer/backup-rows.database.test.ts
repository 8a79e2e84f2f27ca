/** How many rows a backup has of what. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { countAllRows } from "../../../src/db/transfer/backup-rows.ts";
import { inTransaction } from "../../../src/db/pool.ts";
import { createTestDatabase, type TestDatabase } from "../../support/servers/database.ts";

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

test("a restore of an older version is counted by the tables that its manifest names", async () => {
  const { owner } = database.db;
  const { rows: manifest } = await inTransaction(owner, (sql) => countAllRows(sql));
  const { leaked_keys: _, ...older } = manifest;
  await owner.query("drop table leaked_keys cascade");
  const { rows } = await inTransaction(owner, (sql) => countAllRows(sql, Object.keys(older)));
  expect(rows).toEqual(older);
  expect(rows["organizations"]).toBeDefined();
});
