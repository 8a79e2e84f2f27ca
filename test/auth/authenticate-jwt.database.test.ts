/** How access tokens become principals: which user a verified subject is. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthenticator } from "../../src/auth/authenticate.ts";
import type { OrganizationRef } from "../../src/db/pool.ts";
import { DomainError } from "../../src/domain/errors.ts";
import { createTestDatabase, type OwnedDatabase, type TestDatabase } from "../support/servers/database.ts";
import { makeOrganization, makeUser, TEST_PEPPER } from "../support/tenants/callers.ts";

let test: TestDatabase;
let db: OwnedDatabase;
let organization: OrganizationRef;

beforeAll(async () => {
  test = await createTestDatabase();
  db = test.db;
  organization = await makeOrganization(db);
});
afterAll(() => test.drop());

const BEARER = { authorization: "Bearer a.b.c", organizationId: undefined, address: "192.0.2.7" };

async function refusal(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(DomainError);
  return (error as DomainError).code;
}

describe("a JWT", () => {
  const subject = (sub: string, verifiedEmail: string | null) =>
    createAuthenticator({
      db,
      pepper: TEST_PEPPER,
      verifyJwt: async () => ({ subject: sub, verifiedEmail, roles: [] }),
    });

  it("binds the user with its verified e-mail, and is known by its subject from then on", async () => {
    const user = await makeUser(db, organization, { email: "First.Sight@example.org" });
    expect(await refusal(subject("sub-1", null).authenticate(BEARER))).toBe("unauthenticated");
    const principal = await subject("sub-1", "first.sight@example.org").authenticate(BEARER);
    expect(principal).toMatchObject({
      authMethod: "jwt",
      apiKeyId: null,
      isScoped: false,
      user: { id: user },
    });
    expect(principal.reach.size).toBe(1);
    expect((await subject("sub-1", null).authenticate(BEARER)).user.id).toBe(user);
  });

  it("never takes over a user that is bound to another subject", async () => {
    await makeUser(db, organization, { email: "taken@example.org", subject: "sub-2" });
    expect(await refusal(subject("sub-3", "taken@example.org").authenticate(BEARER))).toBe("unauthenticated");
  });

  it("binds nobody by an address that an administrator changed and no login confirmed", async () => {
    const user = await makeUser(db, organization, { email: "unconfirmed@example.org" });
    await db.owner.query("update users set confirmed_email = 'confirmed@example.org' where id = $1", [user]);
    for (const email of ["unconfirmed@example.org", "confirmed@example.org"])
      expect(await refusal(subject("sub-7", email).authenticate(BEARER))).toBe("unauthenticated");
    await db.owner.query("update users set confirmed_email = null where id = $1", [user]);
    expect((await subject("sub-7", "unconfirmed@example.org").authenticate(BEARER)).user.id).toBe(user);
  });

  it("binds nobody if users of two organizations wait with its e-mail, and names them", async () => {
    const told: string[][] = [];
    const verifyJwt = async () => ({ subject: "sub-4", verifiedEmail: "Twice@example.org", roles: [] });
    const authenticator = createAuthenticator({
      db,
      pepper: TEST_PEPPER,
      verifyJwt,
      onAmbiguousLogin: (ids) => told.push([...ids]),
    });
    const other = await makeOrganization(db);
    const users = [
      await makeUser(db, organization, { email: "twice@example.org" }),
      await makeUser(db, other, { email: "TWICE@example.org" }),
    ];
    expect(await refusal(authenticator.authenticate(BEARER))).toBe("unauthenticated");
    expect(told).toEqual([users.toSorted()]);
    await db.owner.query("update organizations set deleted_at = now() where id = $1", [other.id]);
    expect((await authenticator.authenticate(BEARER)).user.id).toBe(users[0]);
    expect(told).toHaveLength(1);
  });

  it("is bound by the first verified login, whoever has the same e-mail later", async () => {
    const user = await makeUser(db, organization, { email: "early@example.org" });
    const first = subject("sub-5", "early@example.org");
    expect((await first.authenticate(BEARER)).user.id).toBe(user);
    const later = await makeUser(db, await makeOrganization(db), { email: "early@example.org" });
    expect((await first.authenticate(BEARER)).user.id).toBe(user);
    expect((await subject("sub-6", "early@example.org").authenticate(BEARER)).user.id).toBe(later);
  });
});
