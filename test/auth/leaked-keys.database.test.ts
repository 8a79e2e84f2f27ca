/** Keys whose texts are reported as leaked: who revokes them, and by which texts. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createKeyText, hashKey } from "../../src/auth/api-keys.ts";
import { rollApiKey } from "../../src/auth/issue-api-key.ts";
import { createLeakedKeys } from "../../src/auth/leaked-keys.ts";
import { inTenant, type OrganizationKey } from "../../src/db/pool.ts";
import { createTestDatabase, type OwnedDatabase, type TestDatabase } from "../support/servers/database.ts";
import { makeKey, TEST_PEPPER } from "../support/tenants/callers.ts";
import { authenticateKey, makeKeyOwners } from "../support/tenants/key-owners.ts";
import { until } from "../support/until.ts";

let test: TestDatabase;
let db: OwnedDatabase;
let organization: OrganizationKey;
let owner: string;

beforeAll(async () => {
  test = await createTestDatabase();
  db = test.db;
  ({ organization, owner } = await makeKeyOwners(db));
});
afterAll(() => test.drop());

const authenticate = (text: string) => authenticateKey(db, text);
const refused = (text: string) =>
  expect(authenticate(text)).rejects.toMatchObject({ code: "unauthenticated" });

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

  it("are revoked by an older text while it is accepted, and not after", async () => {
    const during = await makeKey(db, organization, owner);
    const after = await makeKey(db, organization, owner);
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
    const first = await roll(during.id, 60);
    const second = await roll(after.id, 0);
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
