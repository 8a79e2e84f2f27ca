import { beforeEach, describe, expect, it } from "vitest";
import type { Caller } from "../../../src/commands/caller.ts";
import { createSpace } from "../../../src/commands/spaces/create-space.ts";
import { deleteSpace } from "../../../src/commands/spaces/delete-space.ts";
import { putSpaceMember } from "../../../src/commands/spaces/put-space-member.ts";
import { removeSpaceMember } from "../../../src/commands/spaces/remove-space-member.ts";
import { updateSpace } from "../../../src/commands/spaces/update-space.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { makeUser } from "../../support/tenants/callers.ts";
import {
  auditOf,
  commandDatabase,
  loggedIn,
  makeSharedSpace,
  refusedAtCommit,
  watchedParts,
  type WatchedParts,
  withKey,
} from "../../support/tenants/commands.ts";

const test = commandDatabase();
let organization: OrganizationRef;
let spaceId: string;
let viewerId: string;
let owner: Caller;
let viewer: Caller;
let parts: WatchedParts;

beforeEach(async () => {
  const shared = await makeSharedSpace(test.db, "owner");
  ({ organization, spaceId, viewerId } = shared);
  owner = await loggedIn(test.db, organization, shared.editorId);
  viewer = await loggedIn(test.db, organization, viewerId);
  parts = watchedParts(test.db);
});

/** All that the commands of this folder may change. */
async function written() {
  const spaces = await test.db.owner.query(
    "select id, name, deleted_at from spaces where organization_id = $1 order by id",
    [organization.id],
  );
  const roles = await test.db.owner.query(
    "select space_id, user_id, role from space_members where organization_id = $1 order by user_id",
    [organization.id],
  );
  return { spaces: spaces.rows, roles: roles.rows };
}

const commands: [string, (caller: Caller) => Promise<unknown>][] = [
  ["a new name", (caller) => updateSpace(parts, caller, { id: spaceId, ifMatch: undefined, name: "New" })],
  ["a deletion", (caller) => deleteSpace(parts, caller, { id: spaceId, ifMatch: undefined })],
  ["a new role", (caller) => putSpaceMember(parts, caller, { spaceId, userId: viewerId, role: "editor" })],
  ["a role taken away", (caller) => removeSpaceMember(parts, caller, { spaceId, userId: viewerId })],
];

describe.each(commands)("%s", (_, change) => {
  it("is refused to a viewer of the space, and nothing is written", async () => {
    const before = await written();

    await expect(change(viewer)).rejects.toMatchObject({ code: "permission_denied" });

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, viewer)).toEqual([]);
    expect(parts.authenticator.forgetUser).not.toHaveBeenCalled();
  });

  it("is refused to a key, whoever has it", async () => {
    const before = await written();

    await expect(change(withKey(owner))).rejects.toMatchObject({ code: "permission_denied" });

    expect(await written()).toEqual(before);
  });

  it("leaves neither itself nor an audit row if the transaction fails", async () => {
    const before = await written();
    const refused = refusedAtCommit(owner);

    await expect(change(refused)).rejects.toThrow("this commit is refused");

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, refused)).toEqual([]);
    expect(parts.authenticator.forgetUser).not.toHaveBeenCalled();
    expect(parts.dispatcher.wakeDeletions).not.toHaveBeenCalled();
  });
});

describe("a new space", () => {
  it("is its maker's, whose next request reaches it", async () => {
    const space = await createSpace(parts, owner, { name: "Plans" });

    expect(space).toMatchObject({ name: "Plans", owner_id: owner.principal.user.id, is_private: false });
    expect(await auditOf(test.db, owner)).toEqual([
      { action: "spaces:create", resource_id: space.id, space_id: space.id },
    ]);
    expect(parts.authenticator.forgetUser).toHaveBeenCalledExactlyOnceWith(owner.principal.user.id);
  });

  it("leaves neither itself nor an audit row if the transaction fails", async () => {
    const before = await written();
    const refused = refusedAtCommit(owner);

    await expect(createSpace(parts, refused, { name: "Plans" })).rejects.toThrow("this commit is refused");

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, refused)).toEqual([]);
  });

  it("is not called as the users' own spaces are", async () => {
    await expect(createSpace(parts, owner, { name: " Private" })).rejects.toMatchObject({
      code: "bad_request",
    });
    expect(await auditOf(test.db, owner)).toEqual([]);
  });
});

describe("a space's name", () => {
  it("that it has already changes nothing and writes no audit row", async () => {
    const space = await createSpace(parts, viewer, { name: "Plans" });
    const caller = await loggedIn(test.db, organization, viewerId);

    const same = await updateSpace(parts, caller, { id: space.id, ifMatch: undefined, name: "Plans" });

    expect(same).toEqual(space);
    expect(await auditOf(test.db, caller)).toEqual([]);
  });
});

describe("a deleted space", () => {
  it("is forgotten for every member, and its deletion is started", async () => {
    await deleteSpace(parts, owner, { id: spaceId, ifMatch: undefined });

    const forgotten = parts.authenticator.forgetUser.mock.calls.flat();
    expect(forgotten.toSorted()).toEqual([owner.principal.user.id, viewerId].toSorted());
    expect(parts.dispatcher.wakeDeletions).toHaveBeenCalledExactlyOnceWith(organization.id);
    expect(await auditOf(test.db, owner)).toEqual([
      { action: "spaces:delete", resource_id: spaceId, space_id: spaceId },
    ]);
  });
});

describe("a role in a space", () => {
  it("says whether it is the user's first", async () => {
    const newcomer = await makeUser(test.db, organization);
    const put = () => putSpaceMember(parts, owner, { spaceId, userId: newcomer, role: "viewer" });

    const [first, second] = [await put(), await put()];

    expect([first.isNew, second.isNew]).toEqual([true, false]);
    expect((await auditOf(test.db, owner)).map(({ action }) => action)).toEqual([
      "space_members:create",
      "space_members:update",
    ]);
    expect(parts.authenticator.forgetUser.mock.calls).toEqual([[newcomer], [newcomer]]);
  });

  it("is not taken from the last owner", async () => {
    const removal = { spaceId, userId: owner.principal.user.id };

    await expect(removeSpaceMember(parts, owner, removal)).rejects.toMatchObject({ code: "bad_request" });

    expect(await auditOf(test.db, owner)).toEqual([]);
  });
});
