/**
 * Makes an organization whose member has keys, and shows what such a key may do in this version and in the
 * one before.
 */
import { expect } from "vitest";
import { hashKey } from "../../../src/auth/api-keys.ts";
import { createAuthenticator } from "../../../src/auth/authenticate.ts";
import { inTenant, type OrganizationRef } from "../../../src/db/pool.ts";
import { ensurePrivateSpace } from "../../../src/db/tenancy/spaces.ts";
import type { Principal } from "../../../src/domain/tenancy/principal.ts";
import type { OwnedDatabase } from "../servers/database.ts";
import { makeOrganization, makeSpace, makeUser, TEST_PEPPER } from "./callers.ts";

export interface KeyPeople {
  readonly organization: OrganizationRef;
  /** A member, who owns the space `shared` and the private space `own`. */
  readonly owner: string;
  readonly admin: string;
  readonly shared: string;
  readonly own: string;
}

export async function makeKeyPeople(db: OwnedDatabase): Promise<KeyPeople> {
  const organization = await makeOrganization(db);
  const owner = await makeUser(db, organization);
  const admin = await makeUser(db, organization, { role: "admin" });
  const shared = await makeSpace(db, organization, [[owner, "owner"]]);
  await inTenant(db, organization, (sql) => ensurePrivateSpace(sql, organization, owner));
  const { rows } = await db.owner.query<{ id: string }>(
    "select id from spaces where owner_id = $1 and is_private",
    [owner],
  );
  return { organization, owner, admin, shared, own: rows[0]!.id };
}

export async function authenticateKey(db: OwnedDatabase, text: string): Promise<Principal> {
  return createAuthenticator({ db, pepper: TEST_PEPPER }).authenticate({
    authorization: `Bearer ${text}`,
    organizationId: undefined,
    address: "192.0.2.7",
  });
}

export async function expectRefused(db: OwnedDatabase, text: string): Promise<void> {
  await expect(authenticateKey(db, text)).rejects.toMatchObject({ code: "unauthenticated" });
}

export async function reachOfKey(db: OwnedDatabase, text: string): Promise<string[]> {
  return [...(await authenticateKey(db, text)).reach.keys()].toSorted();
}

/** Returns what a process of the version before sees of a key, as during an upgrade. */
export async function seenByVersionBefore(
  db: OwnedDatabase,
  text: string,
): Promise<{ reach: string[]; expiresAt: string | null } | null> {
  const { rows } = await db.app.query("select authenticate_key($1) as caller", [hashKey(TEST_PEPPER, text)]);
  const caller = rows[0].caller;
  return caller === null
    ? null
    : {
        reach: caller.spaces.map((space: { id: string }) => space.id).toSorted(),
        expiresAt: caller.key.expires_at,
      };
}
