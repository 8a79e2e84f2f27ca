/** What rolling a key does to its texts, in this version and in the one before it. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashKey } from "../../../src/auth/api-keys.ts";
import { replaceKeyText } from "../../../src/commands/keys/replace-key-text.ts";
import { findApiKey } from "../../../src/db/keys/api-keys.ts";
import { inTenant, type OrganizationRef } from "../../../src/db/pool.ts";
import { createTestDatabase, type OwnedDatabase, type TestDatabase } from "../../support/servers/database.ts";
import { makeKey, makeUser, TEST_PEPPER } from "../../support/tenants/callers.ts";
import {
  authenticateKey,
  expectRefused,
  makeKeyPeople,
  reachOfKey,
  seenByVersionBefore,
} from "../../support/tenants/key-people.ts";

let test: TestDatabase;
let db: OwnedDatabase;
let organization: OrganizationRef;
let owner: string;
let admin: string;
let shared: string;

beforeAll(async () => {
  test = await createTestDatabase();
  db = test.db;
  ({ organization, owner, admin, shared } = await makeKeyPeople(db));
});
afterAll(() => test.drop());

describe("a key that is rolled", () => {
  const roll = (id: string, overlapSeconds: number, userId = owner) =>
    inTenant(db, organization, (sql) =>
      replaceKeyText(sql, TEST_PEPPER, organization, {
        id,
        userId,
        isAdmin: userId === admin,
        overlapSeconds,
        expiresAt: undefined,
      }),
    );

  it("is the same key by both texts until the overlap ends; rolling again ends the older one", async () => {
    const { id, text } = await makeKey(db, organization, owner, {
      spaces: [shared],
      allowedCidrs: ["192.0.2.0/24"],
    });
    const second = await roll(id, 60);
    for (const one of [text, second.key])
      expect(await authenticateKey(db, one)).toMatchObject({ apiKeyId: id, isScoped: true });
    const third = await roll(id, 60);
    await expectRefused(db, text);
    for (const one of [second.key, third.key]) expect((await authenticateKey(db, one)).apiKeyId).toBe(id);
    await db.owner.query(
      "update superseded_keys set valid_until = now() - interval '1 second' where api_key_id = $1",
      [id],
    );
    await expectRefused(db, second.key);
    expect((await authenticateKey(db, third.key)).apiKeyId).toBe(id);
    const fourth = await roll(id, 0);
    await expectRefused(db, third.key);
    expect(fourth).toMatchObject({ id, overlap_ends_at: null, prefix: fourth.key.slice(0, 12) });
  });

  it("is revoked with both texts, and expires with both", async () => {
    const revoked = await makeKey(db, organization, owner);
    const after = await roll(revoked.id, 60);
    await db.owner.query("update api_keys set revoked_at = now() where id = $1", [revoked.id]);
    for (const one of [revoked.text, after.key]) await expectRefused(db, one);
    const expiresAt = new Date(Date.now() + 60_000);
    const brief = await makeKey(db, organization, owner, { expiresAt });
    const rolled = await roll(brief.id, 604_800);
    expect(rolled.expires_at).toEqual(expiresAt);
    expect(rolled.overlap_ends_at).toEqual(expiresAt);
    const overlapOf = async (id: string, change: string) => {
      await db.owner.query(`update api_keys set ${change} where id = $1`, [id]);
      return (await inTenant(db, organization, (sql) => findApiKey(sql, id)))!.overlap_ends_at;
    };
    expect(await overlapOf(revoked.id, "name = 'revoked'")).toBeNull();
    expect(await overlapOf(brief.id, "expires_at = expires_at - interval '30 seconds'")).toEqual(
      new Date(expiresAt.getTime() - 30_000),
    );
    expect(await overlapOf(brief.id, "expires_at = now() - interval '1 second'")).toBeNull();
    await db.owner.query("update api_keys set expires_at = $2 where id = $1", [brief.id, expiresAt]);
    for (const one of [brief.text, rolled.key])
      expect(Date.parse((await seenByVersionBefore(db, one))!.expiresAt!)).toBe(expiresAt.getTime());
  });

  it("is known by both texts in the version before too, unless it has a list of addresses", async () => {
    const { id, text } = await makeKey(db, organization, owner);
    const { key } = await roll(id, 60);
    expect((await seenByVersionBefore(db, key))!.expiresAt).toBeNull();
    expect(Date.parse((await seenByVersionBefore(db, text))!.expiresAt!)).toBeLessThanOrEqual(
      Date.now() + 60_000,
    );
    const bound = await makeKey(db, organization, owner, { allowedCidrs: ["0.0.0.0/0"] });
    expect(await seenByVersionBefore(db, bound.text)).toBeNull();
  });

  it("is rolled by an administrator only if one made it: others may reach a private space", async () => {
    for (const createdBy of [owner, null]) {
      const { id } = await makeKey(db, organization, owner, { createdBy });
      await expect(roll(id, 60, admin)).rejects.toMatchObject({ code: "permission_denied" });
    }
    const { id } = await makeKey(db, organization, owner, { createdBy: admin });
    for (const who of [admin, owner])
      expect(await reachOfKey(db, (await roll(id, 60, who)).key)).toEqual([shared]);
    await expect(roll(id, 60, await makeUser(db, organization))).rejects.toMatchObject({ code: "not_found" });
  });

  it("is rolled at most 20 times a day, since each roll leaves its text for good", async () => {
    const { id, text } = await makeKey(db, organization, owner, { createdBy: owner });
    for (let at = 0; at < 20; at += 1) await roll(id, 0);
    const refusal = {
      code: "rate_limited",
      message: "An API key can be rolled at most 20 times a day.",
      retryAfterSeconds: expect.any(Number),
    };
    await expect(roll(id, 0)).rejects.toMatchObject(refusal);
    await db.owner.query(
      "update superseded_keys set created_at = created_at - interval '1 day' where hash = $1",
      [hashKey(TEST_PEPPER, text)],
    );
    expect((await authenticateKey(db, (await roll(id, 0)).key)).apiKeyId).toBe(id);
    await expect(roll(id, 0)).rejects.toMatchObject(refusal);
  });

  it("that is revoked or expired stays so", async () => {
    const { id } = await makeKey(db, organization, owner, { expiresAt: new Date(Date.now() - 1_000) });
    await expect(roll(id, 60)).rejects.toMatchObject({ code: "bad_request" });
    await db.owner.query("update api_keys set revoked_at = now(), expires_at = null where id = $1", [id]);
    await expect(roll(id, 60)).rejects.toMatchObject({ code: "bad_request" });
  });
});
