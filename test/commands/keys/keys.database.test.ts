import { beforeEach, describe, expect, it } from "vitest";
import { createAuthenticator } from "../../../src/auth/authenticate.ts";
import type { Caller } from "../../../src/commands/caller.ts";
import { issueKey } from "../../../src/commands/keys/issue-key.ts";
import { revokeKey } from "../../../src/commands/keys/revoke-key.ts";
import { rollKey } from "../../../src/commands/keys/roll-key.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { localMasterKey } from "../../../src/storage/keys/keyring.ts";
import { makeOrganization, makeUser, pepperOf } from "../../support/tenants/callers.ts";
import {
  auditOf,
  commandDatabase,
  loggedIn,
  refusedAtCommit,
  UNLIMITED,
  watchedParts,
  withKey,
} from "../../support/tenants/commands.ts";

const masterKey = localMasterKey(Buffer.alloc(32, 1));

const test = commandDatabase();
let organization: OrganizationRef;
let ownerId: string;
let ownKeyId: string;
/** Issued to the owner by the administrator. */
let givenKeyId: string;
let owner: Caller;
let admin: Caller;
let parts: ReturnType<typeof partsOf>;

const partsOf = () => ({
  ...watchedParts(test.db),
  masterKey,
  config: { limits: UNLIMITED },
});

beforeEach(async () => {
  organization = await makeOrganization(test.db);
  ownerId = await makeUser(test.db, organization);
  const adminId = await makeUser(test.db, organization, { role: "admin" });
  const before = await loggedIn(test.db, organization, ownerId);
  ownKeyId = (await issueKey(partsOf(), before, wanted)).id;
  admin = await loggedIn(test.db, organization, adminId);
  const member = { organizationId: organization.id, userId: ownerId };
  givenKeyId = (await issueKey(partsOf(), admin, { ...wanted, member })).id;
  owner = await loggedIn(test.db, organization, ownerId);
  admin = await loggedIn(test.db, organization, adminId);
  parts = partsOf();
});

const wanted = {
  member: null,
  name: "automation",
  spaces: null,
  capabilities: null,
  expiresAt: null,
  allowedCidrs: null,
} as const;

async function written() {
  const { rows } = await test.db.owner.query(
    `select (select jsonb_agg(to_jsonb(api_key) order by api_key.id) from api_keys as api_key
             where api_key.organization_id = $1 and api_key.name = $2) as keys,
            (select count(*)::int from superseded_keys where organization_id = $1) as superseded`,
    [organization.id, wanted.name],
  );
  return rows[0];
}

const roll = (id: string, asAdminOf: string | null) => (caller: Caller) =>
  rollKey(parts, caller, { id, asAdminOf, overlapSeconds: 60, expiresAt: null });
const revoke = (id: string, asAdminOf: string | null) => (caller: Caller) =>
  revokeKey(parts, caller, { id, asAdminOf });

const ownChanges: [string, action: string, (caller: Caller) => Promise<unknown>][] = [
  ["a new key", "api_keys:create", (caller) => issueKey(parts, caller, wanted)],
  ["a key that is rolled", "api_keys:roll", (caller) => roll(ownKeyId, null)(caller)],
  ["a key that is revoked", "api_keys:revoke", (caller) => revoke(ownKeyId, null)(caller)],
];
const adminChanges: typeof ownChanges = [
  [
    "a new key of a member",
    "api_keys:create",
    (caller) =>
      issueKey(parts, caller, {
        ...wanted,
        member: { organizationId: organization.id, userId: ownerId },
      }),
  ],
  ["a member's key that is rolled", "api_keys:roll", (caller) => roll(givenKeyId, organization.id)(caller)],
  [
    "a member's key that is revoked",
    "api_keys:revoke",
    (caller) => revoke(givenKeyId, organization.id)(caller),
  ],
];

describe.each(ownChanges)("%s", (_, action, change) => {
  it("writes one audit row, with the request of the caller", async () => {
    await change(owner);

    expect(await auditOf(test.db, owner)).toMatchObject([{ action, space_id: null }]);
  });

  it("is refused to a key, whatever it may do, and nothing is written", async () => {
    const before = await written();
    const key = withKey(owner);

    await expect(change(key)).rejects.toMatchObject({ code: "permission_denied" });

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, key)).toEqual([]);
  });

  it("leaves no audit row either if the transaction fails, and forgets nobody", async () => {
    const before = await written();
    const refused = refusedAtCommit(owner);

    await expect(change(refused)).rejects.toThrow("this commit is refused");

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, refused)).toEqual([]);
    expect(parts.authenticator.forgetUser).not.toHaveBeenCalled();
  });
});

describe.each(adminChanges)("%s", (_, action, change) => {
  it("writes one audit row, with the request of the administrator", async () => {
    await change(admin);

    expect(await auditOf(test.db, admin)).toMatchObject([{ action, space_id: null }]);
  });

  it("is refused to whoever does not administer the organization, also to the member", async () => {
    const before = await written();

    await expect(change(owner)).rejects.toMatchObject({ code: "permission_denied" });

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, owner)).toEqual([]);
  });

  it("is refused to the administrator of another organization, for whom it does not exist", async () => {
    const other = await makeOrganization(test.db);
    const userId = await makeUser(test.db, other, { role: "admin" });
    const before = await written();

    const stranger = await loggedIn(test.db, other, userId);

    await expect(change(stranger)).rejects.toMatchObject({ code: "not_found" });
    expect(await written()).toEqual(before);
  });

  it("leaves neither itself nor an audit row if the transaction fails", async () => {
    const before = await written();
    const refused = refusedAtCommit(admin);

    await expect(change(refused)).rejects.toThrow("this commit is refused");

    expect(await written()).toEqual(before);
    expect(await auditOf(test.db, refused)).toEqual([]);
  });
});

it("a new key works, and no more once it is revoked", async () => {
  const authenticator = createAuthenticator({ db: test.db, pepper: await pepperOf(test.db, masterKey) });
  const authenticate = (text: string) =>
    authenticator.authenticate({
      authorization: `Bearer ${text}`,
      organizationId: undefined,
      address: "192.0.2.7",
    });
  const { id, key } = await issueKey(parts, owner, wanted);
  expect((await authenticate(key)).apiKeyId).toBe(id);

  await revokeKey({ ...parts, authenticator }, owner, { id, asAdminOf: null });

  await expect(authenticate(key)).rejects.toMatchObject({ code: "unauthenticated" });
});

it("rolling and revoking a key make this process forget its owner", async () => {
  await roll(givenKeyId, organization.id)(admin);
  await revoke(givenKeyId, organization.id)(admin);

  expect(parts.authenticator.forgetUser.mock.calls).toEqual([[ownerId], [ownerId]]);
});

it("a user gets no more keys than are allowed", async () => {
  const { keys } = await written();
  const { rows } = await test.db.owner.query<{ live: number }>(
    "select count(*)::int as live from api_keys where user_id = $1",
    [ownerId],
  );
  const full = { ...parts, config: { limits: { ...UNLIMITED, keysPerUser: rows[0]!.live } } };

  await expect(issueKey(full, owner, wanted)).rejects.toMatchObject({ code: "bad_request" });

  expect((await written()).keys).toEqual(keys);
});

it("a key is made only for members", async () => {
  const stranger = await makeUser(test.db, await makeOrganization(test.db));
  const member = { organizationId: organization.id, userId: stranger };

  const issue = issueKey(parts, admin, { ...wanted, member });

  await expect(issue).rejects.toMatchObject({ code: "not_found", message: "User not found" });
});
