/** What the database holds of keys for this version and the one before it, which runs beside it during an upgrade. */
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createKeyText, hashKey } from "../../src/auth/api-keys.ts";
import { createAuthenticator } from "../../src/auth/authenticate.ts";
import { issueApiKey, rollApiKey } from "../../src/auth/issue-api-key.ts";
import { createLeakedKeys } from "../../src/auth/leaked-keys.ts";
import { findApiKey } from "../../src/db/keys/api-keys.ts";
import { appendAudit } from "../../src/db/audit/append.ts";
import { migrate } from "../../src/db/migrate.ts";
import { inTenant, inTransaction, type OrganizationKey } from "../../src/db/pool.ts";
import { ensurePrivateSpace } from "../../src/db/tenancy/spaces.ts";
import { newId } from "../../src/domain/ids.ts";
import { makeKey, makeOrganization, makeSpace, makeUser, TEST_PEPPER } from "../support/tenants/callers.ts";
import { until } from "../support/until.ts";
import { createTestDatabase, type OwnedDatabase, type TestDatabase } from "../support/servers/database.ts";

let test: TestDatabase;
let db: OwnedDatabase;
let organization: OrganizationKey;
let owner: string;
let admin: string;
let shared: string;
let own: string;

async function makePeople(
  of: OwnedDatabase,
): Promise<{ organization: OrganizationKey; owner: string; admin: string; shared: string; own: string }> {
  const made = await makeOrganization(of);
  const [member, other] = [await makeUser(of, made), await makeUser(of, made, { role: "admin" })];
  const space = await makeSpace(of, made, [[member, "owner"]]);
  await inTenant(of, made, (sql) => ensurePrivateSpace(sql, made, member));
  const { rows } = await of.owner.query<{ id: string }>(
    "select id from spaces where owner_id = $1 and is_private",
    [member],
  );
  return { organization: made, owner: member, admin: other, shared: space, own: rows[0]!.id };
}

beforeAll(async () => {
  test = await createTestDatabase();
  db = test.db;
  ({ organization, owner, admin, shared, own } = await makePeople(db));
});
afterAll(() => test.drop());

const authenticate = (text: string) =>
  createAuthenticator({ db, pepper: TEST_PEPPER }).authenticate({
    authorization: `Bearer ${text}`,
    organizationId: undefined,
    address: "192.0.2.7",
  });
const refused = (text: string) =>
  expect(authenticate(text)).rejects.toMatchObject({ code: "unauthenticated" });
const reachOf = async (text: string) => [...(await authenticate(text)).reach.keys()].toSorted();

/** What a process of the version before is told of a key. */
async function toldBefore(text: string): Promise<{ reach: string[]; expiresAt: string | null } | null> {
  const { rows } = await db.app.query("select authenticate_key($1) as caller", [hashKey(TEST_PEPPER, text)]);
  const caller = rows[0].caller;
  return caller === null
    ? null
    : {
        reach: caller.spaces.map((space: { id: string }) => space.id).toSorted(),
        expiresAt: caller.key.expires_at,
      };
}

/** The statements of the version before, which does not know who made a key. */
async function insertAsBefore(
  of: OwnedDatabase,
  people: { organization: OrganizationKey; owner: string },
  actor: string | null,
): Promise<{ id: string; text: string }> {
  const { organization: home, owner: userId } = people;
  const [id, text] = [newId(), createKeyText()];
  const entry = {
    action: "api_keys:create",
    resource_type: "api_key",
    resource_id: id,
    space_id: null,
    request_id: null,
    outcome: "success",
  } as const;
  await inTenant(of, home, async (sql) => {
    await sql.query(
      "insert into api_keys (id, organization_id, user_id, name, prefix, hash, all_spaces, capabilities) values ($1, $2, $3, 'k', 'sk-', $4, true, '{read}')",
      [id, home.id, userId, hashKey(TEST_PEPPER, text)],
    );
    const caller = { authMethod: "jwt", apiKeyId: null, organization: home, user: { id: actor } } as never;
    await appendAudit(sql, actor === null ? { authMethod: "system", organization: home } : caller, entry);
  });
  return { id, text };
}

describe("a key that somebody else made for its owner", () => {
  it("reaches shared spaces alone, in this version and in the one before; one of the owner or of the operator reaches the private one too", async () => {
    const both = [shared, own].toSorted();
    for (const [createdBy, reach] of [
      [admin, [shared]],
      [owner, both],
      [null, both],
    ] as const) {
      const { text } = await makeKey(db, organization, owner, { createdBy });
      expect(await reachOf(text)).toEqual(reach);
      expect((await toldBefore(text))?.reach).toEqual(reach);
    }
    const { text } = await makeKey(db, organization, owner, { createdBy: admin, spaces: [own, shared] });
    expect(await reachOf(text)).toEqual([shared]);
  });

  it("cannot be narrowed to the private space, which is answered as if it did not exist", async () => {
    const request = { userId: owner, name: "k", capabilities: null, expiresAt: null, allowedCidrs: null };
    const issue = (createdBy: string | null) =>
      inTenant(db, organization, (sql) =>
        issueApiKey(sql, TEST_PEPPER, organization, { ...request, createdBy, spaces: [own] }),
      );
    await expect(issue(admin)).rejects.toMatchObject({ code: "not_found", message: "Space not found" });
    expect((await issue(owner)).spaces).toEqual([own]);
    expect((await issue(null)).spaces).toEqual([own]);
  });

  it("has its maker also where a process of the version before made it", async () => {
    const people = { organization, owner };
    const [byAdmin, bySelf, byOperator] = [
      await insertAsBefore(db, people, admin),
      await insertAsBefore(db, people, owner),
      await insertAsBefore(db, people, null),
    ];
    const { rows } = await db.owner.query(
      "select id, created_by from api_keys where id = any($1) order by id",
      [[byAdmin.id, bySelf.id, byOperator.id]],
    );
    expect(rows).toEqual([
      { id: byAdmin.id, created_by: admin },
      { id: bySelf.id, created_by: owner },
      { id: byOperator.id, created_by: null },
    ]);
    expect(await reachOf(byAdmin.text)).toEqual([shared]);
  });

  it("has its maker from the audit log where it was made before the upgrade", async () => {
    const old = await createTestDatabase({ isEmpty: true });
    try {
      const folder = join(import.meta.dirname, "../../src/db/migrations");
      const names = (await readdir(folder)).filter((name) => name < "0014").toSorted();
      await old.db.owner.query(
        "create table migrations (name text primary key, applied_at timestamptz not null default now())",
      );
      for (const name of names) {
        const text = await readFile(join(folder, name), "utf8");
        await inTransaction(old.db.owner, (sql) => sql.query(text));
        await old.db.owner.query("insert into migrations (name) values ($1)", [name]);
      }
      const people = await makePeople(old.db);
      const makers = [people.admin, people.owner, null];
      const keys = [];
      for (const maker of makers) keys.push(await insertAsBefore(old.db, people, maker));
      await migrate(old.db);
      const { rows } = await old.db.owner.query<{ created_by: string | null; reach: { id: string }[] }>(
        "select created_by, reach_of(user_id, id) as reach from api_keys where id = any($1) order by id",
        [keys.map((key) => key.id)],
      );
      expect(rows.map((row) => row.created_by)).toEqual(makers);
      expect(rows.map((row) => row.reach.length)).toEqual([1, 2, 2]);
    } finally {
      await old.drop();
    }
  });
});

describe("a key that is rolled", () => {
  const roll = (id: string, overlapSeconds: number, userId = owner) =>
    inTenant(db, organization, (sql) =>
      rollApiKey(sql, TEST_PEPPER, organization, {
        id,
        userId,
        isAdmin: userId === admin,
        overlapSeconds,
        expiresAt: (before) => before,
      }),
    );

  it("is the same key by both texts until the overlap ends; rolling again ends the older one", async () => {
    const { id, text } = await makeKey(db, organization, owner, {
      spaces: [shared],
      allowedCidrs: ["192.0.2.0/24"],
    });
    const second = await roll(id, 60);
    for (const one of [text, second.key])
      expect(await authenticate(one)).toMatchObject({ apiKeyId: id, isScoped: true });
    const third = await roll(id, 60);
    await refused(text);
    for (const one of [second.key, third.key]) expect((await authenticate(one)).apiKeyId).toBe(id);
    await db.owner.query("update superseded_keys set valid_until = now() where api_key_id = $1", [id]);
    await refused(second.key);
    expect((await authenticate(third.key)).apiKeyId).toBe(id);
    const fourth = await roll(id, 0);
    await refused(third.key);
    expect(fourth).toMatchObject({ id, overlap_ends_at: null, prefix: fourth.key.slice(0, 12) });
  });

  it("is revoked with both texts, and expires with both", async () => {
    const revoked = await makeKey(db, organization, owner);
    const after = await roll(revoked.id, 60);
    await db.owner.query("update api_keys set revoked_at = now() where id = $1", [revoked.id]);
    for (const one of [revoked.text, after.key]) await refused(one);
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
      expect(Date.parse((await toldBefore(one))!.expiresAt!)).toBe(expiresAt.getTime());
  });

  it("is known by both texts in the version before too, which does not let in one with a list of addresses", async () => {
    const { id, text } = await makeKey(db, organization, owner);
    const { key } = await roll(id, 60);
    expect((await toldBefore(key))!.expiresAt).toBeNull();
    expect(Date.parse((await toldBefore(text))!.expiresAt!)).toBeLessThanOrEqual(Date.now() + 60_000);
    const bound = await makeKey(db, organization, owner, { allowedCidrs: ["0.0.0.0/0"] });
    expect(await toldBefore(bound.text)).toBeNull();
  });

  it("is rolled by an administrator only if one made it, so that nobody is handed a private space", async () => {
    for (const createdBy of [owner, null]) {
      const { id } = await makeKey(db, organization, owner, { createdBy });
      await expect(roll(id, 60, admin)).rejects.toMatchObject({ code: "permission_denied" });
    }
    const { id } = await makeKey(db, organization, owner, { createdBy: admin });
    for (const who of [admin, owner]) expect(await reachOf((await roll(id, 60, who)).key)).toEqual([shared]);
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
    expect((await authenticate((await roll(id, 0)).key)).apiKeyId).toBe(id);
    await expect(roll(id, 0)).rejects.toMatchObject(refusal);
  });

  it("that is revoked or expired stays so", async () => {
    const { id } = await makeKey(db, organization, owner, { expiresAt: new Date(Date.now() - 1_000) });
    await expect(roll(id, 60)).rejects.toMatchObject({ code: "bad_request" });
    await db.owner.query("update api_keys set revoked_at = now(), expires_at = null where id = $1", [id]);
    await expect(roll(id, 60)).rejects.toMatchObject({ code: "bad_request" });
  });
});

describe("keys that are reported as leaked", () => {
  const quiet = { error: () => undefined, warn: () => undefined };
  const service = (onRevoked: (userId: string) => void = () => undefined) =>
    createLeakedKeys({ db, pepper: TEST_PEPPER, log: quiet, onRevoked });

  it("are revoked by any process that runs, if the one that accepted them dies", async () => {
    const { id, text } = await makeKey(db, organization, owner);
    await db.app.query("select report_leaked_keys($1, 100)", [
      [hashKey(TEST_PEPPER, text), hashKey(TEST_PEPPER, createKeyText())],
    ]);
    expect((await authenticate(text)).apiKeyId).toBe(id);
    const told: string[] = [];
    const later = service((userId) => told.push(userId));
    await until("a round has found it", () => told.length > 0, 10_000);
    expect(told).toEqual([owner]);
    await later.close();
    await refused(text);
    expect((await db.owner.query("select from leaked_keys")).rowCount).toBe(0);
    const { rows } = await db.owner.query(
      "select action, auth_method, actor_id, organization_id from audit_log where resource_id = $1",
      [id],
    );
    expect(rows).toEqual([
      {
        action: "api_keys:revoke_leaked",
        auth_method: "system",
        actor_id: null,
        organization_id: organization.id,
      },
    ]);
  });

  it("are revoked by one round for all who report while another runs", async () => {
    const { text } = await makeKey(db, organization, owner);
    const leaked = service();
    const hold = await db.owner.connect();
    try {
      await hold.query("begin");
      await hold.query("lock table leaked_keys in access exclusive mode");
      const connect = vi.spyOn(db.app, "connect");
      const rounds = Array.from({ length: 50 }, () => leaked.flush());
      await hold.query("commit");
      await Promise.all(rounds);
      expect(connect).toHaveBeenCalledTimes(2);
      connect.mockRestore();
    } finally {
      hold.release(true);
    }
    await leaked.report([text]);
    await leaked.flush();
    await refused(text);
    await leaked.close();
  });

  it("are revoked by a text of before while it is accepted, and not after", async () => {
    const [during, after] = [await makeKey(db, organization, owner), await makeKey(db, organization, owner)];
    const roll = (id: string, overlapSeconds: number) =>
      inTenant(db, organization, (sql) =>
        rollApiKey(sql, TEST_PEPPER, organization, {
          id,
          userId: owner,
          isAdmin: false,
          overlapSeconds,
          expiresAt: () => null,
        }),
      );
    const [first, second] = [await roll(during.id, 60), await roll(after.id, 0)];
    const leaked = service();
    await leaked.report([during.text, after.text]);
    await leaked.close();
    await refused(first.key);
    expect((await authenticate(second.key)).apiKeyId).toBe(after.id);
  });

  it("cost the database nothing if they cannot be keys, and are refused if too many wait", async () => {
    const leaked = service();
    const query = vi.spyOn(db.app, "query");
    await leaked.report(["", "sk-short", createKeyText().slice(1), `sk-hf-${"a".repeat(49)}`]);
    expect(query).not.toHaveBeenCalled();
    query.mockRestore();
    await leaked.close();
    await db.owner.query("insert into leaked_keys (hash) values ('\\x00')");
    const { rows } = await db.app.query("select report_leaked_keys($1, 1) as accepted", [
      [hashKey(TEST_PEPPER, createKeyText())],
    ]);
    expect(rows).toEqual([{ accepted: false }]);
  });
});
