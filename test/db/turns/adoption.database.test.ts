/** Turns that ended without a workflow wait in their rows, and one workflow of several gets each. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  TURNS_AN_ADOPTION,
  adoptWaitingTurns,
  countWaitingTurns,
  giveBackTurns,
  takeWaitingTurns,
} from "../../../src/db/turns/adoption.ts";
import { type TurnEnd, insertOpenTurns, writeTurnEnds } from "../../../src/db/turns/ledger.ts";
import { countFaults } from "../../../src/integrity/organization.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { newId } from "../../../src/domain/ids.ts";
import { makeOrganization } from "../../support/tenants/callers.ts";
import { type TestDatabase, createTestDatabase } from "../../support/servers/database.ts";

let database: TestDatabase;
let organization: OrganizationRef;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.owner.query("update turns set adopt_after = null");
  organization = await makeOrganization(database.db);
});

function makeEnd(minutesAgo: number, status: TurnEnd["status"] = "completed"): TurnEnd {
  const ended_at = new Date(Date.now() - minutesAgo * 60_000);
  return {
    id: newId(),
    organization_id: organization.id,
    space_id: null,
    agent_id: null,
    user_id: newId(),
    api_key_id: null,
    api_process_id: newId(),
    starts_conversation: false,
    started_at: ended_at,
    ended_at,
    status,
    error_code: null,
  };
}
const idsOf = (turns: readonly TurnEnd[]): string[] => turns.map(({ id }) => id);
/** Writes the ends, and lets the turns wait for long enough to be taken. */
async function leave(turns: readonly TurnEnd[]): Promise<void> {
  await writeTurnEnds(database.db, turns, [], idsOf(turns));
  await giveBackTurns(database.db, idsOf(turns));
}

test("the oldest are taken first, and by one of several processes that ask at once", async () => {
  const turns = Array.from({ length: 2 * TURNS_AN_ADOPTION + 7 }, (_, index) => makeEnd(2_000 - index));
  await leave(turns);
  const oldest = await takeWaitingTurns(database.db);
  expect(new Set(oldest)).toEqual(new Set(idsOf(turns.slice(0, TURNS_AN_ADOPTION))));
  const both = await Promise.all([takeWaitingTurns(database.db), takeWaitingTurns(database.db)]);
  expect(new Set(both.flat())).toEqual(new Set(idsOf(turns.slice(TURNS_AN_ADOPTION))));
  expect(both.flat()).toHaveLength(TURNS_AN_ADOPTION + 7);
  expect(await takeWaitingTurns(database.db)).toEqual([]);
  await giveBackTurns(database.db, oldest);
  expect(new Set(await takeWaitingTurns(database.db))).toEqual(new Set(oldest));
});

test("of several workflows that adopt a turn, one is told how it ended", async () => {
  const turns = [makeEnd(3), makeEnd(2, "failed"), makeEnd(1, "cancelled")];
  await leave(turns);
  expect(await countWaitingTurns(database.db)).toBe(3);
  const both = await Promise.all([1, 2].map(() => adoptWaitingTurns(database.db, idsOf(turns))));
  expect(both.flat().toSorted()).toEqual(["cancelled", "completed", "failed"]);
  expect(await countWaitingTurns(database.db)).toBe(0);
  await giveBackTurns(database.db, idsOf(turns));
  expect(await takeWaitingTurns(database.db)).toEqual([]);
});

test("a turn that has not ended does not wait, and one that waits tells no event again", async () => {
  const [open, ended] = [makeEnd(1), makeEnd(1)];
  await insertOpenTurns(database.db, [open]);
  await writeTurnEnds(database.db, [ended], [], idsOf([open, ended]));
  expect(await countWaitingTurns(database.db)).toBe(1);
  await adoptWaitingTurns(database.db, [ended.id]);
  const { rows } = await database.db.owner.query("select type from events where resource_id = $1", [
    ended.id,
  ]);
  expect(rows).toEqual([{ type: "turn.completed" }]);
});

test("a turn that still waits long after others needed no wait is a fault", async () => {
  const waits = makeEnd(180);
  await leave([waits, makeEnd(90)]);
  expect(await countFaults(database.db, organization)).toMatchObject({ turns_not_adopted: 0 });
  await writeTurnEnds(database.db, [makeEnd(30)], []);
  expect(await countFaults(database.db, organization)).toMatchObject({ turns_not_adopted: 0 });
  await writeTurnEnds(database.db, [makeEnd(100)], []);
  expect(await countFaults(database.db, organization)).toMatchObject({ turns_not_adopted: 1 });
  await adoptWaitingTurns(database.db, [waits.id]);
  expect(await countFaults(database.db, organization)).toMatchObject({ turns_not_adopted: 0 });
});
