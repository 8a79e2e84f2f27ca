import { beforeEach, expect, it } from "vitest";
import type { Caller } from "../../../src/commands/caller.ts";
import { updateOrganization } from "../../../src/commands/organizations/update-organization.ts";
import type { OrganizationRef } from "../../../src/db/pool.ts";
import { makeOrganization, makeUser } from "../../support/tenants/callers.ts";
import {
  auditOf,
  commandDatabase,
  loggedIn,
  refusedAtCommit,
  withKey,
} from "../../support/tenants/commands.ts";

const test = commandDatabase();
let organization: OrganizationRef;
let admin: Caller;
let member: Caller;

beforeEach(async () => {
  organization = await makeOrganization(test.db);
  const adminId = await makeUser(test.db, organization, { role: "admin" });
  admin = await loggedIn(test.db, organization, adminId);
  member = await loggedIn(test.db, organization, await makeUser(test.db, organization));
});

async function lifetimes() {
  const { rows } = await test.db.owner.query(
    `select max_key_lifetime_seconds as max, default_key_lifetime_seconds as usual
     from organizations
     where id = $1`,
    [organization.id],
  );
  return rows[0];
}

const change = (caller: Caller, max: number | null | undefined, usual: number | null | undefined) =>
  updateOrganization(test, caller, {
    id: organization.id,
    maxKeyLifetimeSeconds: max,
    defaultKeyLifetimeSeconds: usual,
  });

it("an admin sets lifetimes; what is undefined stays, and null takes a bound away", async () => {
  await change(admin, 3_600, 60);
  await change(admin, null, undefined);

  expect(await lifetimes()).toEqual({ max: null, usual: 60 });
  expect(await auditOf(test.db, admin)).toEqual([
    { action: "organization:update", resource_id: organization.id, space_id: null },
    { action: "organization:update", resource_id: organization.id, space_id: null },
  ]);
});

it("a member is refused, and nothing is written", async () => {
  await expect(change(member, 3_600, 60)).rejects.toMatchObject({ code: "permission_denied" });

  expect(await lifetimes()).toEqual({ max: null, usual: null });
  expect(await auditOf(test.db, member)).toEqual([]);
});

it("a key is refused, whoever has it", async () => {
  await expect(change(withKey(admin), 3_600, 60)).rejects.toMatchObject({ code: "permission_denied" });

  expect(await lifetimes()).toEqual({ max: null, usual: null });
});

it("a transaction that fails leaves neither the lifetimes nor an audit row", async () => {
  const refused = refusedAtCommit(admin);

  await expect(change(refused, 3_600, 60)).rejects.toThrow("this commit is refused");

  expect(await lifetimes()).toEqual({ max: null, usual: null });
  expect(await auditOf(test.db, refused)).toEqual([]);
});
