import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLedger } from "../../../../src/api/turns/bookkeeping/ledger.ts";
import type { TurnRow } from "../../../../src/db/turns/ledger.ts";
import { newId } from "../../../../src/domain/ids.ts";
import { createLog } from "../../../../src/process/log.ts";
import { makeOrganization, makeSpace, makeUser } from "../../../support/tenants/callers.ts";
import { type TestDatabase, createTestDatabase } from "../../../support/servers/database.ts";
import { until } from "../../../support/until.ts";

let database: TestDatabase;
let makeTurn: () => TurnRow;

beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = database;
  const organization = await makeOrganization(db);
  const userId = await makeUser(db, organization);
  const spaceId = await makeSpace(db, organization, [[userId, "owner"]]);
  const agentId = newId();
  await db.owner.query(
    `insert into agents (id, organization_id, space_id, name, created_by, last_edited_by)
     values ($1, $2, $3, 'Agent', $4, $4)`,
    [agentId, organization.id, spaceId, userId],
  );
  makeTurn = () => ({
    id: newId(),
    organization_id: organization.id,
    space_id: spaceId,
    agent_id: agentId,
    user_id: userId,
    api_key_id: null,
    api_process_id: randomUUID(),
    starts_conversation: true,
    started_at: new Date(),
  });
});
afterAll(() => database.drop());

const openLedger = () => createLedger(database.db, createLog({ level: "warn", name: "test" }));
const statusOf = async ({ id }: TurnRow): Promise<string | undefined> =>
  (await database.db.owner.query("select status from turns where id = $1", [id])).rows[0]?.status;

test("a turn has a row within milliseconds of its beginning, even if Temporal is silent", async () => {
  const ledger = openLedger();
  const turns = Array.from({ length: 50 }, makeTurn);
  for (const turn of turns) ledger.open(turn);
  await Promise.all(
    turns.map((turn) =>
      until(`turn ${turn.id} is noted`, async () => (await statusOf(turn)) === "open", 2_000),
    ),
  );
});

test("a turn that must be written at once waits for no other", async () => {
  const ledger = openLedger();
  const [first, second] = [makeTurn(), makeTurn()];
  ledger.open(first);
  await ledger.noted(first);
  ledger.open(second);
  await ledger.noted(second);
  expect(await Promise.all([first, second].map(statusOf))).toEqual(["open", "open"]);
});

test("a turn that has ended stays ended, whether it was written as open before or not", async () => {
  const ledger = openLedger();
  const [quick, slow] = [makeTurn(), makeTurn()];
  ledger.open(slow);
  await ledger.noted(slow);
  ledger.open(quick);
  for (const turn of [quick, slow])
    ledger.end({ ...turn, status: "completed", error_code: null, ended_at: new Date() });
  await ledger.flushed(5_000);
  await ledger.noted(quick);
  expect(await Promise.all([quick, slow].map(statusOf))).toEqual(["completed", "completed"]);
});
