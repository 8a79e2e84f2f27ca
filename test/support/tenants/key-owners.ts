/** People with keys, for tests of what keys reach. */
import { hashKey } from "../../../src/auth/api-keys.ts";
import { createAuthenticator } from "../../../src/auth/authenticate.ts";
import { inTenant, type OrganizationKey } from "../../../src/db/pool.ts";
import { ensurePrivateSpace } from "../../../src/db/tenancy/spaces.ts";
import type { Principal } from "../../../src/domain/tenancy/principal.ts";
import type { OwnedDatabase } from "../servers/database.ts";
import { makeOrganization, makeSpace, makeUser, TEST_PEPPER } from "./callers.ts";

export interface KeyOwners {
  readonly organization: OrganizationKey;
  /** A member, who owns `shared` and a private space. */
  readonly owner: string;
  readonly admin: string;
  readonly shared: string;
  /** The private space of `owner`. */
  readonly own: string;
}

export async function makeKeyOwners(db: OwnedDatabase): Promise<KeyOwners> {
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

/** Authenticates a key as a request does. No authenticator remembers anything from one call to the next. */
export function authenticateKey(db: OwnedDatabase, text: string): Promise<Principal> {
  return createAuthenticator({ db, pepper: TEST_PEPPER }).authenticate({
    authorization: `Bearer ${text}`,
    organizationId: undefined,
    address: "192.0.2.7",
  });
}

/** What a process of the version before is told of a key; null if it is refused. */
export async function toldBefore(
  db: OwnedDatabase,
  text: string,
): Promise<{ reach: string[]; expiresAt: string | null } | null> {
  const { rows } = await db.app.query("select authenticate_key($1) as caller", [hashKey(TEST_PEPPER, text)]);
  const caller = rows[0].caller;
  if (caller === null) return null;
  return {
    reach: caller.spaces.map((space: { id: string }) => space.id).toSorted(),
    expiresAt: caller.key.expires_at,
  };
}
