/** How API keys become principals, and what is cached of them. Access tokens are in authenticate-jwt. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createKeyText } from "../../src/auth/api-keys.ts";
import { createAuthenticator } from "../../src/auth/authenticate.ts";
import type { OrganizationRef } from "../../src/db/pool.ts";
import { DomainError } from "../../src/domain/errors.ts";
import { createTestDatabase, type OwnedDatabase, type TestDatabase } from "../support/servers/database.ts";
import { makeKey, makeOrganization, makeSpace, makeUser, TEST_PEPPER } from "../support/tenants/callers.ts";

let test: TestDatabase;
let db: OwnedDatabase;
let organization: OrganizationRef;
let nowMs = Date.now();
const now = () => nowMs;

beforeAll(async () => {
  test = await createTestDatabase();
  db = test.db;
  organization = await makeOrganization(db);
});
afterAll(() => test.drop());

const HERE = "192.0.2.7";
const bearer = (text: string, organizationId?: string, address = HERE) => ({
  authorization: `Bearer ${text}`,
  organizationId,
  address,
});
const fresh = () => createAuthenticator({ db, pepper: TEST_PEPPER, now });

async function refusal(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(DomainError);
  return (error as DomainError).code;
}

describe("a key", () => {
  it("acts for its owner, with all the owner's spaces and a private one made at first", async () => {
    const owner = await makeUser(db, organization, { role: "admin" });
    const space = await makeSpace(db, organization, [[owner, "editor"]]);
    const { id, text } = await makeKey(db, organization, owner);
    const principal = await fresh().authenticate(bearer(text));
    expect(principal).toMatchObject({
      authMethod: "api_key",
      apiKeyId: id,
      isScoped: false,
      user: { id: owner, avatar_url: null },
      organization: { id: organization.id, num: organization.num, role: "admin" },
    });
    expect([...principal.capabilities]).toEqual(["read", "search", "chat", "write"]);
    expect(principal.reach.get(space)).toMatchObject({ role: "editor", is_private: false });
    expect([...principal.reach.values()].filter((reached) => reached.is_private)).toMatchObject([
      { role: "owner" },
    ]);
  });

  it("gets one private space for its owner, however many requests come at once", async () => {
    const owner = await makeUser(db, organization);
    const keys = await Promise.all([1, 2, 3, 4].map(() => makeKey(db, organization, owner)));
    await Promise.all(keys.map((key) => fresh().authenticate(bearer(key.text))));
    const { rows } = await db.owner.query("select id from spaces where owner_id = $1", [owner]);
    expect(rows).toHaveLength(1);
  });

  it("that was narrowed to spaces reaches only those", async () => {
    const owner = await makeUser(db, organization);
    const inside = await makeSpace(db, organization, [[owner, "owner"]]);
    await makeSpace(db, organization, [[owner, "owner"]]);
    const { text } = await makeKey(db, organization, owner, { spaces: [inside], capabilities: ["read"] });
    const principal = await fresh().authenticate(bearer(text));
    expect([...principal.reach.keys()]).toEqual([inside]);
    expect(principal.isScoped).toBe(true);
    expect([...principal.capabilities]).toEqual(["read"]);
  });

  it("reaches no deleted space, and none of another organization that a stray row names", async () => {
    const owner = await makeUser(db, organization);
    const deleted = await makeSpace(db, organization, [[owner, "owner"]]);
    await db.owner.query("update spaces set deleted_at = now() where id = $1", [deleted]);
    const other = await makeOrganization(db);
    const foreign = await makeSpace(db, other, [[await makeUser(db, other), "owner"]]);
    await db.owner.query(
      "insert into space_members (space_id, user_id, organization_id, role) values ($1, $2, $3, 'owner')",
      [foreign, owner, other.id],
    );
    const { text } = await makeKey(db, organization, owner);
    const { reach } = await fresh().authenticate(bearer(text));
    expect(reach.has(deleted)).toBe(false);
    expect(reach.has(foreign)).toBe(false);
  });
});

describe("401", () => {
  it.each([
    ["nothing", undefined],
    ["another scheme", "Basic c2stOnNr"],
    ["an empty token", "Bearer "],
    ["two tokens", "Bearer a b"],
    ["a JWT if no issuer is configured", "Bearer a.b.c"],
  ])("for %s", async (_what, authorization) => {
    expect(
      await refusal(fresh().authenticate({ authorization, organizationId: undefined, address: HERE })),
    ).toBe("unauthenticated");
  });

  it("for a key with a wrong checksum, without a query", async () => {
    const query = vi.spyOn(db.app, "query");
    const text = createKeyText();
    expect(
      await refusal(fresh().authenticate(bearer(`${text.slice(0, -1)}${text.endsWith("A") ? "B" : "A"}`))),
    ).toBe("unauthenticated");
    expect(query).not.toHaveBeenCalled();
    query.mockRestore();
  });

  it("for an unknown key, and once it is expired or revoked, for a known one", async () => {
    const owner = await makeUser(db, organization);
    const authenticator = fresh();
    expect(await refusal(authenticator.authenticate(bearer(createKeyText())))).toBe("unauthenticated");
    const { text } = await makeKey(db, organization, owner, { expiresAt: new Date(nowMs + 1_000) });
    await authenticator.authenticate(bearer(text));
    nowMs += 1_001;
    expect(await refusal(authenticator.authenticate(bearer(text)))).toBe("unauthenticated");
    const revoked = await makeKey(db, organization, owner);
    await db.owner.query("update api_keys set revoked_at = now() where id = $1", [revoked.id]);
    expect(await refusal(authenticator.authenticate(bearer(revoked.text)))).toBe("unauthenticated");
  });
});

describe("a key with a list of addresses", () => {
  const from = (address: string, text: string) => fresh().authenticate(bearer(text, undefined, address));

  it("works from them, and is refused from elsewhere exactly as an unknown key", async () => {
    const owner = await makeUser(db, organization);
    const { id, text } = await makeKey(db, organization, owner, {
      allowedCidrs: ["192.0.2.0/24", "2001:db8::/32"],
    });
    for (const address of [HERE, `::ffff:${HERE}`, "2001:db8::1"])
      expect((await from(address, text)).apiKeyId).toBe(id);
    const unknown = await from(HERE, createKeyText()).catch((error: unknown) => error);
    for (const address of ["192.0.3.7", "2001:db9::1", "::ffff:192.0.3.7", "unknown", ""])
      expect(await from(address, text).catch((error: unknown) => error)).toEqual(unknown);
    await db.owner.query("update users set removed_at = now() where id = $1", [owner]);
    expect(await from("192.0.3.7", text).catch((error: unknown) => error)).toEqual(unknown);
  });

  it("is checked at each request, also if the key is known from an earlier one", async () => {
    const { text } = await makeKey(db, organization, await makeUser(db, organization), {
      allowedCidrs: ["192.0.2.0/24"],
    });
    const authenticator = fresh();
    await authenticator.authenticate(bearer(text));
    expect(await refusal(authenticator.authenticate(bearer(text, undefined, "192.0.3.7")))).toBe(
      "unauthenticated",
    );
    await authenticator.authenticate(bearer(text));
  });
});

describe("403", () => {
  it("for a key whose owner was removed, left the organization, or whose organization is gone", async () => {
    const leave = [
      (user: string) => db.owner.query("update users set removed_at = now() where id = $1", [user]),
      async (user: string) =>
        db.owner.query("update users set organization_id = $2 where id = $1", [
          user,
          (await makeOrganization(db)).id,
        ]),
    ];
    for (const change of leave) {
      const owner = await makeUser(db, organization);
      const { text } = await makeKey(db, organization, owner);
      await change(owner);
      expect(await refusal(fresh().authenticate(bearer(text)))).toBe("permission_denied");
    }
    const doomed = await makeOrganization(db);
    const { text } = await makeKey(db, doomed, await makeUser(db, doomed));
    await db.owner.query("update organizations set deleted_at = now() where id = $1", [doomed.id]);
    expect(await refusal(fresh().authenticate(bearer(text)))).toBe("permission_denied");
  });

  it("for X-Organization-Id that names another organization; its own passes in any case", async () => {
    const { text } = await makeKey(db, organization, await makeUser(db, organization));
    const authenticator = fresh();
    expect(await refusal(authenticator.authenticate(bearer(text, (await makeOrganization(db)).id)))).toBe(
      "permission_denied",
    );
    expect(await refusal(authenticator.authenticate(bearer(text, "no-uuid")))).toBe("permission_denied");
    await authenticator.authenticate(bearer(text, organization.id.toUpperCase()));
  });
});

describe("a cached look-up", () => {
  it("spares the database for less than 5 s, then a revoked key is refused", async () => {
    const { id, text } = await makeKey(db, organization, await makeUser(db, organization));
    const authenticator = fresh();
    await authenticator.authenticate(bearer(text));
    const query = vi.spyOn(db.app, "query");
    await db.owner.query("update api_keys set revoked_at = now() where id = $1", [id]);
    nowMs += 1_000;
    await authenticator.authenticate(bearer(text));
    expect(query).not.toHaveBeenCalled();
    query.mockRestore();
    nowMs += 3_001;
    expect(await refusal(authenticator.authenticate(bearer(text)))).toBe("unauthenticated");
  });

  it("is shared by requests that come at the same time", async () => {
    const owner = await makeUser(db, organization);
    const { text } = await makeKey(db, organization, owner);
    await fresh().authenticate(bearer(text));
    const authenticator = fresh();
    const query = vi.spyOn(db.app, "query");
    await Promise.all(Array.from({ length: 50 }, () => authenticator.authenticate(bearer(text))));
    expect(query).toHaveBeenCalledTimes(1);
    query.mockRestore();
  });

  it("is forgotten for a user whose spaces changed", async () => {
    const owner = await makeUser(db, organization);
    const { text } = await makeKey(db, organization, owner);
    const authenticator = fresh();
    await authenticator.authenticate(bearer(text));
    const space = await makeSpace(db, organization, [[owner, "viewer"]]);
    authenticator.forgetUser(owner);
    expect((await authenticator.authenticate(bearer(text))).reach.get(space)?.role).toBe("viewer");
  });

  it("is no failure: after the database was away the next request is answered", async () => {
    const { text } = await makeKey(db, organization, await makeUser(db, organization));
    const authenticator = fresh();
    const query = vi
      .spyOn(db.app, "query")
      .mockImplementationOnce(
        () => Promise.reject(Object.assign(new Error("connect"), { code: "ECONNREFUSED" })) as never,
      );
    expect(await refusal(authenticator.authenticate(bearer(text)))).toBe("database_unavailable");
    query.mockRestore();
    await authenticator.authenticate(bearer(text));
  });
});
