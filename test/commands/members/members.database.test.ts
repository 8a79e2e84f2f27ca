import { beforeEach, describe, expect, it } from "vitest";
import type { Caller } from "../../../src/commands/caller.ts";
import { putMember } from "../../../src/commands/members/put-member.ts";
import { removeMember } from "../../../src/commands/members/remove-member.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { newId } from "../../../src/domain/ids.ts";
import { makeKey, makeOrganization, makeUser } from "../../support/tenants/callers.ts";
import {
  auditOf,
  commandDatabase,
  loggedIn,
  refusedAtCommit,
  watchedParts,
  type WatchedParts,
  withKey,
} from "../../support/tenants/commands.ts";

const test = commandDatabase();
let organization: OrganizationRef;
let memberId: string;
let admin: Caller;
let member: Caller;
let parts: WatchedParts;

beforeEach(async () => {
  organization = await makeOrganization(test.db);
  const adminId = await makeUser(test.db, organization, { role: "admin" });
  memberId = await makeUser(test.db, organization);
  admin = await loggedIn(test.db, organization, adminId);
  member = await loggedIn(test.db, organization, memberId);
  parts = watchedParts(test.db);
});

/** All that the commands of this folder may change here. */
async function written() {
  const users = await test.db.owner.query(
    "select id, email, name, role, removed_at from users where organization_id = $1 order by id",
    [organization.id],
  );
  const keys = await test.db.owner.query(
    "select id, revoked_at from api_keys where organization_id = $1 order by id",
    [organization.id],
  );
  return { users: users.rows, keys: keys.rows };
}

const wanted = (userId: string) => ({
  organizationId: organization.id,
  userId,
  email: `${userId}@Example.org`,
  name: "Grace",
  role: "member" as const,
});

const commands: [string, (caller: Caller) => Promise<unknown>][] = [
  ["a new member", (caller) => putMember(parts, caller, wanted(newId()))],
  ["a changed member", (caller) => putMember(parts, caller, wanted(memberId))],
  [
    "a removal",
    (caller) => removeMember(parts, caller, { organizationId: organization.id, userId: memberId }),
  ],
];

describe.each(commands)("%s", (_, change) => {
  it("is refused to who is no admin, and nothing is written", async () => {
    const before = await written();

    await expect(change(member)).rejects.toMatchObject({ code: "permission_denied" });

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, member)).toEqual([]);
    expect(parts.authenticator.forgetUser).not.toHaveBeenCalled();
  });

  it("is refused to admins of another organization, for whom this one does not exist", async () => {
    const other = await makeOrganization(test.db);
    const stranger = await loggedIn(test.db, other, await makeUser(test.db, other, { role: "admin" }));
    const before = await written();

    await expect(change(stranger)).rejects.toMatchObject({ code: "not_found" });

    expect(await written()).toEqual(before);
  });

  it("is refused to a key, whoever has it", async () => {
    const before = await written();

    await expect(change(withKey(admin))).rejects.toMatchObject({ code: "permission_denied" });

    expect(await written()).toEqual(before);
  });

  it("leaves neither itself nor an audit row if the transaction fails", async () => {
    const before = await written();
    const refused = refusedAtCommit(admin);

    await expect(change(refused)).rejects.toThrow("this commit is refused");

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, refused)).toEqual([]);
    expect(parts.authenticator.forgetUser).not.toHaveBeenCalled();
  });
});

it("a new member has the id that was asked for and the address in lower case", async () => {
  const userId = newId();

  const put = await putMember(parts, admin, wanted(userId));

  expect(put).toMatchObject({
    isNew: true,
    member: { user_id: userId, email: `${userId}@example.org`, name: "Grace", role: "member" },
  });
  expect(await auditOf(test.db, admin)).toEqual([
    { action: "members:create", resource_id: userId, space_id: null },
  ]);
  expect(parts.authenticator.forgetUser).toHaveBeenCalledExactlyOnceWith(userId);
});

it("the last admin neither leaves nor becomes a member", async () => {
  const userId = admin.principal.user.id;
  const removal = { organizationId: organization.id, userId };

  await expect(removeMember(parts, admin, removal)).rejects.toMatchObject({ code: "bad_request" });
  await expect(putMember(parts, admin, wanted(userId))).rejects.toMatchObject({ code: "bad_request" });

  expect(await auditOf(test.db, admin)).toEqual([]);
});

it("a member who is removed loses the keys, and this process forgets them", async () => {
  const key = await makeKey(test.db, organization, memberId);

  await removeMember(parts, admin, { organizationId: organization.id, userId: memberId });

  const { keys } = await written();
  expect(keys.find(({ id }) => id === key.id)?.revoked_at).not.toBeNull();
  expect(parts.authenticator.forgetUser).toHaveBeenCalledExactlyOnceWith(memberId);
});
