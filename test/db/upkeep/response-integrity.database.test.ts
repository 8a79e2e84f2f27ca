/** Stored responses that were counted wrong, or left something behind, are found. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { inTenant } from "../../../src/db/pool.ts";
import { deleteResponse } from "../../../src/db/responses/responses.ts";
import { countFaults } from "../../../src/integrity/organization.ts";
import { newId } from "../../../src/domain/ids.ts";
import { type KeptResponses, keptResponses } from "../../support/responses/kept-responses.ts";
import { type TestDatabase, createTestDatabase } from "../../support/servers/database.ts";

let database: TestDatabase;
let kept: KeptResponses;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  kept = await keptResponses(database);
});

const alter = async (statement: string): Promise<void> =>
  void (await database.db.owner.query(statement, statement.includes("$1") ? [kept.organization.id] : []));

/** The counts that are not 0. */
async function faults(): Promise<Record<string, number>> {
  const counted = Object.entries(await countFaults(database.db, kept.organization));
  return Object.fromEntries(counted.filter(([, count]) => count > 0));
}

test("a conversation has no faults, nor when those are gone that it began with", async () => {
  const old = await kept.keep({ asked: ["0"], answered: ["zero"] });
  const first = await kept.keep({ asked: ["1"], answered: ["one"], previousId: old.id });
  await kept.keep({ asked: ["2"], answered: ["two"], previousId: first.id });
  expect(await faults()).toEqual({});
  for (const { id } of [old, first])
    await inTenant(database.db, kept.organization, (sql) => deleteResponse(sql, kept.principal.user.id, id));
  expect(await faults()).toEqual({});
});

test("bytes that are noted for nothing, too many, or not at all", async () => {
  await kept.keep({ asked: ["1"], answered: ["one"] });
  await alter("update response_usage set bytes = bytes + 1 where organization_id = $1");
  expect(await faults()).toEqual({ response_usage_wrong: 1 });
  await alter("delete from response_usage where organization_id = $1");
  expect(await faults()).toEqual({ response_usage_wrong: 1 });
  await database.db.owner.query(
    "insert into response_usage (organization_id, user_id, bytes) values ($1, $2, 1)",
    [kept.organization.id, newId()],
  );
  expect(await faults()).toEqual({ response_usage_wrong: 2 });
});

test("contents that no response has or goes on from", async () => {
  const first = await kept.keep({ asked: ["1"], answered: ["one"] });
  const second = await kept.keep({ asked: ["2"], answered: ["two"], previousId: first.id });
  await alter("alter table responses disable trigger release_response_contents");
  for (const { id } of [first, second])
    await inTenant(database.db, kept.organization, (sql) => deleteResponse(sql, kept.principal.user.id, id));
  expect(await faults()).toEqual({ response_contents_unneeded: 1 });
});
