/** The cut-over to items of responses as rows: not while a process runs that could not read them. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { findCutOver } from "../../../src/db/instance/cut-overs.ts";
import { RESPONSE_ITEMS, announceProcess, cutOverToItems } from "../../../src/db/instance/processes.ts";
import { newId } from "../../../src/domain/ids.ts";
import { type TestDatabase, createTestDatabase } from "../../support/servers/database.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const cutOver = () => findCutOver(database.db.system, RESPONSE_ITEMS);

it("is stored from the first in a new database", async () => {
  expect(await cutOver()).not.toBeNull();
});

it("is stored by the first process that finds no process of the version before", async () => {
  const { owner } = database.db;
  await owner.query("delete from cut_overs where name = $1", [RESPONSE_ITEMS]);
  await owner.query(
    "insert into processes (id, kind, version, identity) values ($1, 'worker', '0.10.0', '1@a')",
    [newId()],
  );
  const facts = { id: newId(), kind: "api", version: "0.10.0", identity: "2@a", queues: [] } as const;
  const errors: unknown[] = [];
  const leave = announceProcess(database.db, facts, (error) => errors.push(error));
  await leave();
  expect([await cutOver(), errors]).toEqual([null, []]);
  await owner.query("update processes set renewed_at = now() - interval '76 seconds'");
  await cutOverToItems(database.db);
  expect(await cutOver()).not.toBeNull();
});
