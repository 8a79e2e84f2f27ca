import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { createAuditLog } from "../../src/auth/audit-log.ts";
import { createLastUsed } from "../../src/auth/last-used.ts";
import { createWriteBehind } from "../../src/auth/write-behind.ts";
import { appendAudit, type AuditEntry } from "../../src/db/audit/append.ts";
import { inTenant, type OrganizationRef } from "../../src/db/pool.ts";
import type { Principal } from "../../src/domain/tenancy/principal.ts";
import type { Log } from "../../src/process/log.ts";
import { createTestDatabase, type TestDatabase } from "../support/servers/database.ts";
import { makeKey, makeOrganization, makeUser } from "../support/tenants/callers.ts";

const log = { error: vi.fn<Log["error"]>() };
const entry: AuditEntry = {
  action: "documents:read",
  resource_type: "document",
  resource_id: "01900000-0000-7000-8000-0000000000d0",
  space_id: null,
  request_id: "r",
  outcome: "success",
};

let test: TestDatabase;
let organization: OrganizationRef;
let principal: Principal;

beforeAll(async () => {
  test = await createTestDatabase();
  organization = await makeOrganization(test.db);
  const userId = await makeUser(test.db, organization);
  const { id } = await makeKey(test.db, organization, userId);
  const user = { id: userId, email: "", name: "", avatar_url: null };
  principal = {
    authMethod: "api_key",
    user,
    organization: { ...organization, name: "", role: "member" },
    apiKeyId: id,
    capabilities: new Set(),
    isScoped: false,
    isMadeByOther: false,
    reach: new Map(),
  };
});
afterAll(() => test.drop());

const request = { address: "::ffff:192.0.2.7", userAgent: `curl/8.5.0 \0\u0085\x1b[31m${"x".repeat(300)}` };
const lastUsedAt = async () =>
  (
    await test.db.owner.query<{ at: Date | null }>("select last_used_at as at from api_keys where id = $1", [
      principal.apiKeyId,
    ])
  ).rows[0]!.at;
const auditRows = async () =>
  (
    await test.db.owner.query<{ action: string; api_key_id: string | null; auth_method: string }>(
      "select action, api_key_id, auth_method from audit_log",
    )
  ).rows;

it("the last use of a key is in the database within a second, and never goes back", async () => {
  const lastUsed = createLastUsed(test.db, log);
  const before = Date.now();
  for (let index = 0; index < 100; index += 1) lastUsed.note(principal, request);
  await vi.waitFor(async () => expect((await lastUsedAt())?.getTime()).toBeGreaterThanOrEqual(before), {
    timeout: 1_000,
    interval: 20,
  });
  const later = new Date(Date.now() + 60_000);
  await test.db.owner.query("update api_keys set last_used_at = $1", [later]);
  lastUsed.note(principal, request);
  await lastUsed.close();
  expect(await lastUsedAt()).toEqual(later);
});

it("the last use has an address and a client, bounded and without control characters", async () => {
  const lastUsed = createLastUsed(test.db, log);
  const { id } = await makeKey(test.db, organization, principal.user.id);
  const shown = async () =>
    (
      await test.db.owner.query(
        "select host(last_used_ip) as ip, last_used_user_agent as agent from api_keys where id = $1",
        [id],
      )
    ).rows[0];
  lastUsed.note({ ...principal, apiKeyId: id }, request);
  await lastUsed.flush();
  expect(await shown()).toEqual({
    ip: "192.0.2.7",
    agent: `curl/8.5.0 [31m${"x".repeat(300)}`.slice(0, 256),
  });
  lastUsed.note({ ...principal, apiKeyId: id }, { address: "unknown", userAgent: undefined });
  await lastUsed.close();
  expect(await shown()).toEqual({ ip: null, agent: null });
});

it("audit rows of reads are in the database within a second, with the key", async () => {
  const audit = createAuditLog(test.db, log);
  audit.record(principal, entry);
  await vi.waitFor(
    async () =>
      expect(await auditRows()).toEqual([
        { action: "documents:read", api_key_id: principal.apiKeyId, auth_method: "api_key" },
      ]),
    {
      timeout: 1_000,
      interval: 20,
    },
  );
  await audit.close();
});

it("audit rows whose write was committed and not answered are there once, and later ones follow", async () => {
  const before = (await auditRows()).length;
  let isLost = true;
  const query = async (text: string, values: unknown[]): Promise<unknown> => {
    const answer = await test.db.app.query(text, values);
    if (!isLost) return answer;
    isLost = false;
    throw new Error("Connection terminated unexpectedly");
  };
  const audit = createAuditLog({ ...test.db, app: { query } as unknown as typeof test.db.app }, log);
  for (let at = 0; at < 3; at += 1) audit.record(principal, entry);
  await expect(audit.flush()).rejects.toThrow("not reachable");
  audit.record(principal, entry);
  await audit.close();
  expect(await auditRows()).toHaveLength(before + 4);
});

it("the audit row of a change is written with the change or not at all", async () => {
  const before = (await auditRows()).length;
  const change = inTenant(test.db, organization, async (sql) => {
    await appendAudit(sql, principal, { ...entry, action: "documents:delete" });
    throw new Error("the change failed");
  });
  await expect(change).rejects.toThrow("the change failed");
  expect(await auditRows()).toHaveLength(before);
  await inTenant(test.db, organization, (sql) =>
    appendAudit(sql, { authMethod: "system", organization }, { ...entry, action: "documents:delete" }),
  );
  expect((await auditRows()).at(-1)).toEqual({
    action: "documents:delete",
    api_key_id: null,
    auth_method: "system",
  });
});

it("the service's role can neither change nor remove audit rows", async () => {
  for (const statement of [
    "update audit_log set action = 'x'",
    "delete from audit_log",
    "truncate audit_log",
  ]) {
    await expect(inTenant(test.db, organization, (sql) => sql.query(statement))).rejects.toThrow(
      "permission denied",
    );
  }
});

it("what could not be written is written later; a full queue drops the newest and logs it", async () => {
  const written: number[] = [];
  let isDown = true;
  const queue = createWriteBehind<number>({
    name: "test",
    maxEntries: 3,
    log,
    write: async (entries) => {
      if (isDown) throw new Error("down");
      written.push(...entries);
    },
  });
  for (const entry of [1, 2]) queue.add(entry);
  await expect(queue.flush()).rejects.toThrow("down");
  for (const entry of [3, 4, 5]) queue.add(entry);
  isDown = false;
  await queue.close();
  expect(written).toEqual([1, 2, 3]);
  expect(log.error).toHaveBeenCalledWith(
    { dropped: 2 },
    "test lost entries: more came than could be written",
  );
});
