import { createSecretKey } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { appendAudit } from "../../../src/db/audit/append.ts";
import { chainAuditRows, deleteOldAuditRows } from "../../../src/db/audit/chain.ts";
import { checkChainPart, verifyAuditChain } from "../../../src/db/audit/chain-check.ts";
import { type OrganizationRef, inTenant, readTenant } from "../../../src/db/pool.ts";
import { makeOrganization } from "../../support/tenants/callers.ts";
import { type TestDatabase, createTestDatabase } from "../../support/servers/database.ts";

const SECRET = createSecretKey(Buffer.alloc(32, 3)).export();

let test: TestDatabase;
let organization: OrganizationRef;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(async () => {
  organization = await makeOrganization(test.db);
});

async function append(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const entry = {
      action: `documents:read${at}`,
      resource_type: "document",
      resource_id: null,
      space_id: null,
      request_id: null,
      outcome: "success" as const,
    };
    await inTenant(test.db, organization, (sql) =>
      appendAudit(sql, { authMethod: "system", organization }, entry),
    );
  }
}
const chain = (limit = 100) => chainAuditRows(test.db, SECRET, organization.id, limit);
const verify = (expected?: { seq: number; hash: string }) =>
  verifyAuditChain(test.db, SECRET, organization.id, expected);
const change = (sql: string) => test.db.owner.query(sql, [organization.id]);

it("rows are chained in their order, part by part, and once however many chainers there are", async () => {
  await append(7);
  expect(await verify()).toMatchObject({ checked: 0, unchained: 7, fault: null });
  expect(await chain(3)).toBe(3);
  const counts = await Promise.all([chain(), chain(), chain()]);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(4);
  expect(await verify()).toMatchObject({ checked: 7, unchained: 0, fault: null, head: { seq: 7 } });
});

it("who appends never waits for the chainer", async () => {
  await append(1);
  await chain();
  const client = await test.db.owner.connect();
  try {
    await client.query("begin");
    await client.query("select from audit_chains where organization_id = $1 for update", [organization.id]);
    await expect(append(1)).resolves.toBeUndefined();
  } finally {
    await client.query("rollback");
    client.release();
  }
});

it.each([
  [
    "a row that was changed",
    "update audit_log set action = 'documents:delete' where organization_id = $1 and chain_seq = 3",
    "changed",
    3,
  ],
  [
    "a row that was removed",
    "delete from audit_log where organization_id = $1 and chain_seq = 3",
    "missing",
    3,
  ],
  [
    "the last rows, removed",
    "delete from audit_log where organization_id = $1 and chain_seq > 4",
    "missing",
    5,
  ],
  [
    "a row whose hash was changed with it",
    `update audit_log
     set action = 'x',
         chain_hash = sha256('x')
     where organization_id = $1
       and chain_seq = 2`,
    "changed",
    2,
  ],
] as const)("%s is seen", async (_, statement, kind, seq) => {
  await append(5);
  await chain();
  await change(statement);
  expect((await verify()).fault).toEqual({ kind, seq });
});

it("a chain that somebody with the secret made anew differs from the head that was noted", async () => {
  await append(4);
  await chain();
  const { head } = await verify();
  expect((await verify(head)).fault).toBeNull();
  await change(
    "update audit_log set chain_seq = null, chain_hash = null, action = 'x' where organization_id = $1",
  );
  await change("delete from audit_chains where organization_id = $1");
  await chain();
  expect((await verify()).fault).toBeNull();
  expect((await verify(head)).fault).toEqual({ kind: "changed", seq: 4 });
});

it("old rows are deleted from the front, and the rest of the chain still holds", async () => {
  await append(6);
  await chain();
  await change(
    "update audit_log set at = now() - interval '401 days' where organization_id = $1 and chain_seq <= 2",
  );
  expect(await deleteOldAuditRows(test.db, organization.id, 400, 100)).toBe(2);
  expect(await verify()).toMatchObject({ checked: 4, fault: null });
  await append(1);
  await chain();
  expect(await verify()).toMatchObject({ checked: 5, fault: null, head: { seq: 7 } });
});

it("the service's roles can only append, and only through the function", async () => {
  const statements = [
    `insert into audit_log (id, organization_id, auth_method, action, resource_type, outcome)
     values (gen_random_uuid(), current_organization_id(), 'system', 'x', 'y', 'z')`,
    "update audit_log set chain_seq = 1",
    "update audit_chains set seq = 0",
    "delete from audit_chains",
  ];
  for (const statement of statements)
    await expect(inTenant(test.db, organization, (sql) => sql.query(statement))).rejects.toThrow(
      "permission denied",
    );
  await expect(test.db.system.query("select from audit_log")).rejects.toThrow("permission denied");
});

/** Every part of the chain, `limit` rows each, as an organization reads it. */
async function parts(limit: number) {
  const all = [];
  for (let after = 0; ;) {
    const part = await readTenant(test.db, organization, (sql) =>
      checkChainPart(sql, { secret: SECRET, organizationId: organization.id, after, limit }),
    );
    if (part === undefined) throw new Error(`the chain ends before ${after}`);
    all.push(part);
    if (part.next === null) return all;
    after = part.next;
  }
}

it("an organization checks its own chain in parts, and each row once", async () => {
  await append(7);
  expect(await parts(3)).toMatchObject([{ checked: 0, unchained: 7, next: null, fault: null }]);
  await chain();
  await append(1);
  const { head } = await verify();
  expect(await parts(3)).toEqual([
    { after: 0, checked: 3, next: 3, unchained: 1, head, fault: null },
    { after: 3, checked: 3, next: 6, unchained: 1, head, fault: null },
    { after: 6, checked: 1, next: null, unchained: 1, head, fault: null },
  ]);
  expect(await parts(7)).toHaveLength(1);
});

it.each([
  ["changed", 5, "update audit_log set action = 'x' where organization_id = $1 and chain_seq = 5", 3],
  ["missing", 5, "delete from audit_log where organization_id = $1 and chain_seq = 5", 3],
  ["missing", 6, "delete from audit_log where organization_id = $1 and chain_seq > 5", 3],
  ["missing", 3, "delete from audit_log where organization_id = $1 and chain_seq in (3, 4)", 3],
  ["changed", 7, "update audit_chains set hash = base_hash where organization_id = $1", 7],
] as const)("a part finds a row that is %s, at %i", async (kind, seq, sql, limit) => {
  await append(7);
  await chain();
  await change(sql);
  expect((await parts(limit)).at(-1)).toMatchObject({ next: null, fault: { kind, seq } });
});

it("rows that were deleted by their age since the part before are passed over", async () => {
  await append(7);
  await chain();
  await change(
    "update audit_log set at = now() - interval '500 days' where organization_id = $1 and chain_seq <= 5",
  );
  await deleteOldAuditRows(test.db, organization.id, 400, 100);
  expect(
    await readTenant(test.db, organization, (sql) =>
      checkChainPart(sql, { secret: SECRET, organizationId: organization.id, after: 3, limit: 100 }),
    ),
  ).toMatchObject({ after: 5, checked: 2, next: null, fault: null });
});

it("no part begins behind the end, nor in another organization's chain", async () => {
  await append(2);
  await chain();
  const other = await makeOrganization(test.db);
  const check = (of: OrganizationRef, after: number) =>
    readTenant(test.db, of, (sql) =>
      checkChainPart(sql, { secret: SECRET, organizationId: organization.id, after, limit: 10 }),
    );
  expect(await check(organization, 3)).toBeUndefined();
  expect(await check(organization, 2)).toMatchObject({ checked: 0, fault: null });
  expect(await check(other, 0)).toMatchObject({ checked: 0, head: { seq: 0 } });
});
