/** What becomes of keys that are reported as leaked. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createKeyText, hashKey } from "../../src/auth/api-keys.ts";
import { createLeakedKeys } from "../../src/auth/leaked-keys.ts";
import { replaceKeyText } from "../../src/commands/keys/replace-key-text.ts";
import { inTenant, type OrganizationRef } from "../../src/db/pool.ts";
import { createTestDatabase, type OwnedDatabase, type TestDatabase } from "../support/servers/database.ts";
import { makeKey, TEST_PEPPER } from "../support/tenants/callers.ts";
import { authenticateKey, expectRefused, makeKeyPeople } from "../support/tenants/key-people.ts";
import { until } from "../support/until.ts";

let test: TestDatabase;
let db: OwnedDatabase;
let organization: OrganizationRef;
let owner: string;

beforeAll(async () => {
  test = await createTestDatabase();
  db = test.db;
  ({ organization, owner } = await makeKeyPeople(db));
});
afterAll(() => test.drop());

describe("keys that are reported as leaked", () => {
  const quiet = { error: () => undefined, warn: () => undefined };
  const service = (onRevoked: (userId: string) => void = () => undefined) =>
    createLeakedKeys({ db, pepper: TEST_PEPPER, log: quiet, onRevoked });

  it("are revoked by any process that runs, if the one that accepted them dies", async () => {
    const { id, text } = await makeKey(db, organization, owner);
    await db.app.query("select report_leaked_keys($1, 100)", [
      [hashKey(TEST_PEPPER, text), hashKey(TEST_PEPPER, createKeyText())],
    ]);
    expect((await authenticateKey(db, text)).apiKeyId).toBe(id);
    const told: string[] = [];
    const later = service((userId) => told.push(userId));
    await until("a round has found it", () => told.length > 0, 10_000);
    expect(told).toEqual([owner]);
    await later.close();
    await expectRefused(db, text);
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
    await expectRefused(db, text);
    await leaked.close();
  });

  it("are revoked by an earlier text while it is accepted, and not after", async () => {
    const [during, after] = [await makeKey(db, organization, owner), await makeKey(db, organization, owner)];
    const roll = (id: string, overlapSeconds: number) =>
      inTenant(db, organization, (sql) =>
        replaceKeyText(sql, TEST_PEPPER, organization, {
          id,
          userId: owner,
          isAdmin: false,
          overlapSeconds,
          expiresAt: undefined,
        }),
      );
    const [first, second] = [await roll(during.id, 60), await roll(after.id, 0)];
    const leaked = service();
    await leaked.report([during.text, after.text]);
    await leaked.close();
    await expectRefused(db, first.key);
    expect((await authenticateKey(db, second.key)).apiKeyId).toBe(after.id);
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
