/** What refused requests of keys leave behind: rows of the audit log, and the last use of the key. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineRoute } from "../../src/api/route.ts";
import { createAuditLog } from "../../src/auth/audit-log.ts";
import { createAuthenticator } from "../../src/auth/authenticate.ts";
import { createLastUsed } from "../../src/auth/last-used.ts";
import { chainAuditRows } from "../../src/db/audit/chain.ts";
import { verifyAuditChain } from "../../src/db/audit/chain-check.ts";
import { searchAuditLog } from "../../src/db/audit/read.ts";
import { type OrganizationRef, readTenant } from "../../src/db/pool.ts";
import { DomainError } from "../../src/domain/errors.ts";
import { newId } from "../../src/domain/ids.ts";
import { notFound } from "../../src/domain/not-found.ts";
import { createLog } from "../../src/process/log.ts";
import { SpaceId } from "../../src/schema/ids.ts";
import { Uuid } from "../../src/schema/fields.ts";
import { AuditQuery } from "../../src/schema/organization.ts";
import { startTinyApp, type TinyApp } from "../support/app/tiny-app.ts";
import { createTestDatabase, type TestDatabase } from "../support/servers/database.ts";
import { makeKey, makeOrganization, makeUser, TEST_PEPPER } from "../support/tenants/callers.ts";

const common = { status: 200, summary: "A test.", tags: ["Test"] } as const;
const audit = { action: "documents:read", resource: "document" } as const;
const params = z.object({ document_id: Uuid });

const ROUTES = [
  defineRoute("GET /data/:document_id", {
    ...common,
    access: "keys",
    audit,
    params,
    query: z.object({ page: z.coerce.number().optional(), space_id: SpaceId.optional() }),
    handle: async () => {
      throw notFound("document");
    },
  }),
  defineRoute("DELETE /data/:document_id", {
    ...common,
    access: "keys",
    capability: "write",
    audit,
    params,
    handle: async () => undefined,
  }),
  ...(["openai", "holdfast"] as const).map((form) =>
    defineRoute(`GET /${form}`, {
      ...common,
      form,
      access: "keys",
      query: z.object({ after: z.string() }),
      handle: async () => {
        throw new DomainError("bad_request", "The list has no such entry.", { param: "after" });
      },
    }),
  ),
  defineRoute("GET /me", { ...common, access: "jwt", handle: async () => undefined }),
  defineRoute("GET /operations", {
    ...common,
    access: "operator",
    handle: async () => undefined,
  }),
];

const ENTRY = {
  action: "documents:read",
  resource_type: "document",
  resource_id: null,
  space_id: null,
  request_id: null,
  outcome: "success",
} as const;

const SECRET = Buffer.alloc(32, 3);
const log = createLog({ level: "fatal", name: "test" });

let test: TestDatabase;
let organization: OrganizationRef;
let owner: string;
let auditLog: ReturnType<typeof createAuditLog>;
let lastUsed: ReturnType<typeof createLastUsed>;
let app: TinyApp;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(async () => {
  organization = await makeOrganization(test.db);
  owner = await makeUser(test.db, organization);
  auditLog = createAuditLog(test.db, log);
  lastUsed = createLastUsed(test.db, log);
  app = await startTinyApp(ROUTES, {
    authenticator: createAuthenticator({ db: test.db, pepper: TEST_PEPPER }),
    audit: auditLog,
    lastUsed,
  });
});
afterEach(async () => {
  await app.close();
  await auditLog.close();
  await lastUsed.close();
});

const ask = async (key: string, method: string, path: string): Promise<number> => {
  const { status } = await fetch(`${app.url}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "x-request-id": `${method} ${path}`.replaceAll(" ", ":") },
  });
  return status;
};

async function rows() {
  await auditLog.flush();
  const page = { page: 1, limit: 100 };
  const { items } = await readTenant(test.db, organization, (sql) =>
    searchAuditLog(sql, organization.id, { filters: [], order_by: [] }, page),
  );
  return items.toReversed();
}

const codes = async () => (await rows()).map(({ outcome, code, count }) => [outcome, code, count]);

describe("a refused request of a key", () => {
  it("that asks for ids out of its reach is a row with the first id, and one with the count of the rest", async () => {
    const { id: keyId, text } = await makeKey(test.db, organization, owner);
    const ids = Array.from({ length: 5 }, () => newId());
    for (const id of ids) expect(await ask(text, "GET", `/data/${id}`)).toBe(404);
    const route = "GET /v1/data/{document_id}";
    const row = { ...audit, outcome: "denied", code: "document_not_found", route, auth_method: "api_key" };
    const { resource: resource_type, ...rest } = row;
    const expected = { ...rest, resource_type, api_key_id: keyId, actor: { id: owner } };
    expect(await rows()).toMatchObject([
      { ...expected, resource_id: ids[0], count: 1, request_id: `GET:/data/${ids[0]}` },
      { ...expected, resource_id: ids[1], count: 4 },
    ]);
  });

  it("that sends something else than an id is a row without what was sent", async () => {
    const { text } = await makeKey(test.db, organization, owner);
    expect(await ask(text, "GET", "/data/secret-words")).toBe(422);
    expect(await rows()).toMatchObject([{ outcome: "denied", code: "invalid", resource_id: null }]);
    expect(JSON.stringify((await rows()).map(({ request_id: _sent, ...row }) => row))).not.toContain(
      "secret",
    );
  });

  it("that is wrong in another way is no row", async () => {
    const { text } = await makeKey(test.db, organization, owner);
    expect(await ask(text, "GET", `/data/${newId()}?page=x`)).toBe(422);
    expect(await rows()).toEqual([]);
  });

  it("that goes on after an id of somebody else on a list of OpenAI's is a row, and after a cursor none", async () => {
    const { text } = await makeKey(test.db, organization, owner);
    for (const form of ["openai", "holdfast"])
      expect(await ask(text, "GET", `/${form}?after=${newId()}`)).toBe(400);
    expect(await rows()).toMatchObject([{ outcome: "denied", code: "bad_request", route: "GET /v1/openai" }]);
  });

  it("is a row for a route that takes no keys, or not this one", async () => {
    const { text } = await makeKey(test.db, organization, owner, { capabilities: ["read"] });
    expect(await ask(text, "GET", "/me")).toBe(401);
    expect(await ask(text, "DELETE", `/data/${newId()}`)).toBe(403);
    expect(await ask(text, "GET", "/operations")).toBe(401);
    expect(await rows()).toMatchObject([
      { code: "login_required", action: "requests:refuse", resource_type: "route", route: "GET /v1/me" },
      { code: "key_out_of_scope", action: "documents:read" },
      { code: "invalid_token", route: "GET /v1/operations" },
    ]);
  });

  it("is a row for one that is revoked, expired, or used from elsewhere or for another organization", async () => {
    const revoked = await makeKey(test.db, organization, owner);
    await test.db.owner.query("update api_keys set revoked_at = now() where id = $1", [revoked.id]);
    const expired = await makeKey(test.db, organization, owner, { expiresAt: new Date(0) });
    const bound = await makeKey(test.db, organization, owner, { allowedCidrs: ["192.0.2.0/24"] });
    for (const { text } of [revoked, expired, bound])
      expect(await ask(text, "GET", `/data/${newId()}`)).toBe(401);
    const { text } = await makeKey(test.db, organization, owner);
    const { status } = await fetch(`${app.url}/v1/data/${newId()}`, {
      headers: { authorization: `Bearer ${text}`, "x-organization-id": newId() },
    });
    expect(status).toBe(403);
    expect(await codes()).toEqual([
      ["denied", "key_revoked", 1],
      ["denied", "key_expired", 1],
      ["denied", "invalid_api_key", 1],
      ["denied", "wrong_organization", 1],
    ]);
  });

  it("is no row if nobody has the key, or its organization is closed", async () => {
    const { text } = await makeKey(test.db, organization, owner);
    await test.db.owner.query("update organizations set deleted_at = now() where id = $1", [organization.id]);
    expect(await ask(text, "GET", `/data/${newId()}`)).toBe(403);
    const unknown = `${text.slice(0, -8)}${text.at(-1) === "A" ? "BBBBBBBB" : "AAAAAAAA"}`;
    expect(await ask(unknown, "GET", `/data/${newId()}`)).toBe(401);
    await auditLog.flush();
    const { rows: all } = await test.db.owner.query("select from audit_log where organization_id = $1", [
      organization.id,
    ]);
    expect(all).toEqual([]);
  });
});

it("rows are found by their outcome and code", async () => {
  const { text } = await makeKey(test.db, organization, owner);
  await ask(text, "GET", `/data/${newId()}`);
  await ask(text, "GET", "/me");
  auditLog.record({ authMethod: "system", organization }, ENTRY);
  await auditLog.flush();
  const found = async (filters: Record<string, string>) => {
    const search = AuditQuery.parse({ filters: JSON.stringify(filters) });
    const { items } = await readTenant(test.db, organization, (sql) =>
      searchAuditLog(sql, organization.id, search, search),
    );
    return items.map(({ outcome, code }) => [outcome, code]);
  };
  expect(await found({ outcome: "denied", code: "login_required" })).toEqual([["denied", "login_required"]]);
  expect(await found({ route__endswith: "{document_id}" })).toEqual([["denied", "document_not_found"]]);
  expect(await found({ outcome: "success" })).toEqual([["success", null]]);
});

it("a request that no route serves is a use of its key, and a row without its address", async () => {
  const { id, text } = await makeKey(test.db, organization, owner);
  const usedAt = async () => {
    await lastUsed.flush();
    const { rows: found } = await test.db.owner.query<{ at: Date | null }>(
      "select last_used_at as at from api_keys where id = $1",
      [id],
    );
    return found[0]!.at?.getTime() ?? 0;
  };
  expect(await usedAt()).toBe(0);
  expect(await ask(text, "PATCH", `/data/${newId()}`)).toBe(405);
  const first = await usedAt();
  expect(first).toBeGreaterThan(0);
  expect(await ask(text, "GET", "/nothing")).toBe(404);
  expect(await usedAt()).toBeGreaterThan(first);
  const row = { outcome: "denied", code: "route_not_found", action: "requests:refuse", count: 1 };
  expect(await rows()).toMatchObject([{ ...row, resource_id: null, route: "GET (no route)" }]);
});

it("keys that nobody has are counted for their address where no route serves them too", async () => {
  const small = await startTinyApp(ROUTES, {
    authenticator: createAuthenticator({ db: test.db, pepper: TEST_PEPPER }),
    settings: { REFUSAL_RATE_LIMIT_RPM: "2" },
  });
  const { text } = await makeKey(test.db, organization, owner);
  await test.db.owner.query("delete from api_keys where user_id = $1", [owner]);
  const statuses: number[] = [];
  for (let at = 0; at < 3; at += 1) {
    const answer = await fetch(`${small.url}/v1/nothing`, { headers: { authorization: `Bearer ${text}` } });
    statuses.push(answer.status);
  }
  await small.close();
  expect(statuses).toEqual([404, 404, 429]);
});

it("a row's code, route and count are in the chain of hashes", async () => {
  const { text } = await makeKey(test.db, organization, owner);
  await ask(text, "GET", `/data/${newId()}`);
  await auditLog.flush();
  await chainAuditRows(test.db, SECRET, organization.id, 100);
  expect((await verifyAuditChain(test.db, SECRET, organization.id)).fault).toBeNull();
  await test.db.owner.query(
    "update audit_log set outcome = replace(outcome, 'document_not_found', 'x') where organization_id = $1",
    [organization.id],
  );
  expect((await verifyAuditChain(test.db, SECRET, organization.id)).fault).toEqual({
    seq: 1,
    kind: "changed",
  });
});

it("a row of an organization that was deleted meanwhile does not keep those of others from being written", async () => {
  auditLog.record({ authMethod: "system", organization: { id: newId() } }, ENTRY);
  auditLog.record({ authMethod: "system", organization }, ENTRY);
  expect(await rows()).toHaveLength(1);
});
