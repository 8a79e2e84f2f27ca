/** Who sees which event: callers by their reach, their login and their part in what happened. */
import { beforeEach, expect, it } from "vitest";
import { createSpace } from "../../../src/commands/spaces/create-space.ts";
import { deleteSpace } from "../../../src/commands/spaces/delete-space.ts";
import { appendAudit } from "../../../src/db/audit/append.ts";
import { inTenant, inTransaction } from "../../../src/db/pool.ts";
import { newId } from "../../../src/domain/ids.ts";
import type { Principal } from "../../../src/domain/tenancy/principal.ts";
import { makeKey, makeOrganization, makeSpace, makeUser } from "../../support/tenants/callers.ts";
import { commandDatabase, loggedIn, watchedParts } from "../../support/tenants/commands.ts";
import { typesSeenBy, writeEvent } from "../../support/tenants/events.ts";
import { authenticateKey, type KeyPeople, makeKeyPeople } from "../../support/tenants/key-people.ts";

const test = commandDatabase();
let people: KeyPeople;
let elsewhere: string;

beforeEach(async () => {
  people = await makeKeyPeople(test.db);
  elsewhere = await makeSpace(test.db, people.organization, [[people.owner, "owner"]]);
});

/** Writes an audit row of the service for a successful change, which becomes its event. */
async function change(action: string, type: string, id: string, spaceId: string | null): Promise<void> {
  const { organization } = people;
  await inTenant(test.db, organization, (sql) =>
    appendAudit(
      sql,
      { authMethod: "system", organization },
      {
        action,
        resource_type: type,
        resource_id: id,
        space_id: spaceId,
        request_id: null,
        outcome: "success",
      },
    ),
  );
}

const seenBy = (principal: Principal) => typesSeenBy(test.db, people.organization, principal);
const login = async (userId: string) => (await loggedIn(test.db, people.organization, userId)).principal;

async function key(fields: Parameters<typeof makeKey>[3] = {}): Promise<Principal> {
  const { text } = await makeKey(test.db, people.organization, people.owner, fields);
  return authenticateKey(test.db, text);
}

it("what is in a space is seen by who reaches it: not by other keys, nor by admins without a role", async () => {
  await change("agents:create", "agent", newId(), people.shared);
  await change("agents:delete", "agent", newId(), elsewhere);
  await change("folders:create", "folder", newId(), people.own);

  const all = ["agent.created", "agent.deleted", "folder.created"];
  expect(await seenBy(await login(people.owner))).toEqual(all);
  expect(await seenBy(await key())).toEqual(all);
  expect(await seenBy(await key({ spaces: [elsewhere] }))).toEqual(["agent.deleted"]);
  expect(await seenBy(await key({ createdBy: people.admin }))).toEqual(["agent.created", "agent.deleted"]);
  expect(await seenBy(await login(people.admin))).toEqual([]);
});

it("keys are told to their owner and to admins, after a login alone; members to admins", async () => {
  const { id } = await makeKey(test.db, people.organization, people.owner);
  const stranger = await makeUser(test.db, people.organization);
  await change("api_keys:create", "api_key", id, null);
  await change("api_keys:revoke_leaked", "api_key", id, null);
  await change("members:update", "user", people.owner, null);
  await change("organization:update", "organization", people.organization.id, null);

  const ofKeys = ["key.created", "key.leaked"];
  expect(await seenBy(await login(people.owner))).toEqual([...ofKeys, "organization.updated"]);
  expect(await seenBy(await login(people.admin))).toEqual([
    ...ofKeys,
    "member.updated",
    "organization.updated",
  ]);
  expect(await seenBy(await key())).toEqual(["organization.updated"]);
  expect(await seenBy(await login(stranger))).toEqual(["organization.updated"]);
  const { text } = await makeKey(test.db, people.organization, people.admin);
  expect(await seenBy(await authenticateKey(test.db, text))).toEqual(["organization.updated"]);
});

it("a deleted space is told to who reached it just before, and to nobody who had left it or came later", async () => {
  const parts = watchedParts(test.db);
  const owner = await loggedIn(test.db, people.organization, people.owner);
  const [wide, narrow] = [await key(), await key({ spaces: [people.shared] })];
  const { id } = await createSpace(parts, owner, { name: "Space" });
  const within = await makeKey(test.db, people.organization, people.owner, { spaces: [id] });
  const outsider = await login(people.admin);

  const again = await loggedIn(test.db, people.organization, people.owner);
  await deleteSpace(parts, again, { id, ifMatch: undefined });

  const told = ["space.deleted"];
  expect(await seenBy(await login(people.owner))).toEqual(told);
  expect(await seenBy(wide)).toEqual(told);
  expect(await seenBy(await authenticateKey(test.db, within.text))).toEqual(told);
  expect(await seenBy(narrow)).toEqual([]);
  expect(await seenBy(outsider)).toEqual([]);
  expect(await seenBy(await key())).toEqual([]);
});

it("a private space that is deleted is told to its owner's own keys, also to those that the operator made", async () => {
  const [own, given] = [await key(), await key({ createdBy: people.admin })];
  await change("spaces:delete", "space", people.own, people.own);

  expect(await seenBy(own)).toEqual(["space.deleted"]);
  expect(await seenBy(given)).toEqual([]);
});

it("a transaction sees the events of its own organization, and can write none of another", async () => {
  const other = await makeOrganization(test.db);
  await inTransaction(test.db.owner, (sql) => writeEvent(sql, other));

  const seen = await inTenant(test.db, people.organization, (sql) =>
    sql.query("select num from events union all select 1 from event_positions where last_position > 0"),
  );
  const foreign = inTenant(test.db, people.organization, (sql) => writeEvent(sql, other));

  expect(seen.rows).toEqual([]);
  await expect(foreign).rejects.toThrow("row-level security");
  const changed = inTenant(test.db, people.organization, (sql) => sql.query("update events set data = '{}'"));
  await expect(changed).rejects.toThrow("permission denied");
});
