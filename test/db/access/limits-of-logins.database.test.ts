/** What maintenance and the system may not do with the audit log, with organizations and with cut-overs. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { requestOrganizationDeletion } from "../../../src/db/outbox/operations.ts";
import {
  deleteOrganizationRow,
  deleteOrganizationRows,
} from "../../../src/db/tenancy/closed-organization.ts";
import { type TestDatabase, createTestDatabase } from "../../support/servers/database.ts";
import { makeOrganization } from "../../support/tenants/callers.ts";

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it("maintenance links audit rows, and neither writes, changes nor deletes one before its time", async () => {
  const { id } = await makeOrganization(test.db);
  const insert = `
    insert into audit_log (id, organization_id, at, auth_method, action, resource_type, outcome, chain_seq)
    values (gen_random_uuid(), $1, $2, 'system', 'x', 'y', 'success', $3)`;
  const daysAgo = (days: number): Date => new Date(Date.now() - days * 24 * 60 * 60_000);
  for (const [days, seq] of [
    [0, 3],
    [398, 2],
    [401, 1],
    [402, null],
  ] as const)
    await test.db.owner.query(insert, [id, daysAgo(days), seq]);
  await expect(test.db.maintenance.query(insert, [id, daysAgo(0), 4])).rejects.toThrow("permission denied");
  await expect(
    test.db.maintenance.query("update audit_log set action = 'z' where organization_id = $1", [id]),
  ).rejects.toThrow("permission denied");
  const { rows: deleted } = await test.db.maintenance.query(
    "delete from audit_log where organization_id = $1 returning chain_seq",
    [id],
  );
  expect(deleted).toEqual([{ chain_seq: 1 }]);
  for (const login of ["app", "system"] as const)
    await expect(
      test.db[login].query("delete from audit_log where organization_id = $1", [id]),
    ).rejects.toThrow("permission denied");
});

it("maintenance closes an organization for good, and deletes none that is open", async () => {
  const organization = await makeOrganization(test.db);
  const maintenance = (statement: string) => test.db.maintenance.query(statement, [organization.id]);
  for (const value of ["now()", "null"])
    await expect(maintenance(`update organizations set deleted_at = ${value} where id = $1`)).rejects.toThrow(
      "permission denied",
    );
  await expect(
    test.db.maintenance.query(
      "insert into organizations (id, name, deleted_at) values (gen_random_uuid(), 'planted', now())",
    ),
  ).rejects.toThrow("permission denied");
  expect((await maintenance("delete from organizations where id = $1")).rowCount).toBe(0);
  await expect(test.db.app.query("select close_organization($1)", [organization.id])).rejects.toThrow(
    "permission denied for function",
  );
  const closedAt = async () => {
    const { rows } = await test.db.owner.query<{ deleted_at: Date | null }>(
      "select deleted_at from organizations where id = $1",
      [organization.id],
    );
    return rows[0]?.deleted_at;
  };
  expect(await closedAt()).toBeNull();
  await requestOrganizationDeletion(test.db, organization, 0);
  const first = await closedAt();
  expect(first).toBeInstanceOf(Date);
  await requestOrganizationDeletion(test.db, organization, 0);
  expect(await closedAt()).toEqual(first);
  await deleteOrganizationRows(test.db, organization);
  await expect(maintenance("update organizations set deleted_at = null where id = $1")).rejects.toThrow(
    "permission denied",
  );
  await deleteOrganizationRow(test.db, organization);
  expect(await closedAt()).toBeUndefined();
});

it("the system stores no cut-over of another time than now", async () => {
  await expect(
    test.db.system.query("insert into cut_overs (name, at) values ('planted', now() - interval '1 day')"),
  ).rejects.toThrow("permission denied");
});
