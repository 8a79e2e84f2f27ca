import { afterAll, beforeAll, expect, it } from "vitest";
import { inTenant, inTransaction } from "../../src/db/pool.ts";
import { makeKey, makeOrganization, makeSpace, makeUser } from "../support/tenants/callers.ts";
import { createTestDatabase, type TestDatabase } from "../support/servers/database.ts";

/** Tables that belong to the instance and not to an organization. */
const WITHOUT_TENANT = new Set([
  "migrations",
  "cut_overs",
  "instance_secrets",
  "api_processes",
  "embedding_models",
  "provider_gates",
  "rate_limits",
]);

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it("every table whose rows name an organization has a policy that compares it", async () => {
  const { rows } = await test.db.owner.query<{ name: string; secured: boolean; policies: string[] }>(
    `select c.relname as name,
            c.relrowsecurity as secured,
            array(
              select pg_get_expr(p.polqual, c.oid)
              from pg_policy p
              where p.polrelid = c.oid
                and 'holdfast_app'::regrole = any(p.polroles)
            ) as policies
     from pg_class c
     where c.relnamespace = 'public'::regnamespace
       and c.relkind in ('r', 'p')
       and not c.relispartition
       and (c.relname = 'organizations' or exists (
         select
         from pg_attribute a
         where a.attrelid = c.oid
           and a.attname in ('organization_id', 'organization_num')
           and not a.attisdropped
       ))
     order by 1`,
  );
  expect(rows.length).toBeGreaterThan(10);
  const isWalled = (table: (typeof rows)[number]): boolean =>
    table.secured &&
    table.policies.length === 1 &&
    /current_organization_(id|num)\(\)/.test(table.policies[0]!);
  expect(rows.filter((table) => !isWalled(table))).toEqual([]);
});

it("the application has no right to other tables, except those of the instance", async () => {
  const { rows } = await test.db.owner.query<{ name: string }>(
    `select c.relname as name
     from pg_class c
     where c.relnamespace = 'public'::regnamespace
       and c.relkind in ('r', 'p')
       and not c.relrowsecurity
       and has_table_privilege('holdfast_app', c.oid, 'select')
     order by 1`,
  );
  expect(rows.map((row) => row.name).filter((name) => !WITHOUT_TENANT.has(name))).toEqual([]);
});

it("a transaction of another tenant sees nothing, changes nothing, and writes no rows for it", async () => {
  const [own, other] = [await makeOrganization(test.db), await makeOrganization(test.db)];
  const user = await makeUser(test.db, own);
  const space = await makeSpace(test.db, own, [[user, "owner"]]);
  await makeKey(test.db, own, user, { spaces: [space] });
  for (const table of ["organizations", "users", "spaces", "space_members", "api_keys", "api_key_spaces"]) {
    const column = table === "organizations" ? "id" : "organization_id";
    const query = `select from ${table} where ${column} = $1`;
    const seen = await inTenant(test.db, own, (sql) => sql.query(query, [own.id]));
    const foreign = await inTenant(test.db, other, (sql) => sql.query(query, [own.id]));
    const unset = await inTransaction(test.db.app, (sql) => sql.query(query, [own.id]));
    expect({ table, own: seen.rowCount! > 0, foreign: foreign.rowCount, unset: unset.rowCount }).toEqual({
      table,
      own: true,
      foreign: 0,
      unset: 0,
    });
  }
  expect(
    (
      await inTenant(test.db, other, (sql) =>
        sql.query("update spaces set name = 'taken' where id = $1", [space]),
      )
    ).rowCount,
  ).toBe(0);
  const intruding = inTenant(test.db, other, (sql) =>
    sql.query(
      "insert into space_members (space_id, user_id, organization_id, role) values ($1, $2, $3, 'owner')",
      [space, user, own.id],
    ),
  );
  await expect(intruding).rejects.toThrow("row-level security");
});

it("bookkeeping's role reads no people, keys or spaces", async () => {
  for (const table of [
    "users",
    "spaces",
    "space_members",
    "api_keys",
    "organization_keys",
    "instance_secrets",
    "audit_log",
  ]) {
    await expect(inTransaction(test.db.system, (sql) => sql.query(`select from ${table}`))).rejects.toThrow(
      `permission denied for table ${table}`,
    );
  }
});
