/** Row-level security of every table of tenants, for each of the three roles. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inTenant } from "../../src/db/pool.ts";
import { makeOrganization, makeSpace, makeUser } from "../support/tenants/callers.ts";
import { type TestDatabase, createTestDatabase } from "../support/servers/database.ts";

/**
 * What `app` may do with the tables that belong to the instance. A new table is listed here or has an
 * organization.
 */
const INSTANCE_TABLES = [
  "api_processes",
  "cut_overs",
  "embedding_models",
  "instance_secrets",
  "leaked_keys",
  "migrations",
  "operations",
  "orphan_counts",
  "processes",
  "provider_gates",
  "rate_limits",
];

interface CatalogueRow {
  readonly name: string;
  readonly has_organization: boolean;
  readonly is_secured: boolean;
  readonly policies: string[];
  readonly app_may_read: boolean;
  readonly system_may_read: boolean;
  readonly is_partition: boolean;
}

let database: TestDatabase;
let tables: CatalogueRow[];

beforeAll(async () => {
  database = await createTestDatabase();
  const { rows } = await database.db.owner.query<CatalogueRow>(
    `select c.relname as name,
            c.relrowsecurity as is_secured,
            c.relispartition as is_partition,
            c.relname = 'organizations' or exists (
              select
              from pg_attribute a
              where a.attrelid = c.oid
                and a.attname in ('organization_id', 'organization_num')
                and not a.attisdropped
            ) as has_organization,
            array(
              select p.polname || ':' || r.rolname
              from pg_policy p, pg_roles r
              where p.polrelid = c.oid
                and r.oid = any(p.polroles)
            ) as policies,
            has_table_privilege('holdfast_app', c.oid, 'select') as app_may_read,
            has_table_privilege('holdfast_system', c.oid, 'select') as system_may_read
     from pg_class c
     where c.relnamespace in ('public'::regnamespace, 'vectors'::regnamespace)
       and c.relkind in ('r', 'p')
     order by c.relname`,
  );
  tables = rows;
});

afterAll(() => database.drop());

test("every table has an organization, or is named as one of the instance", () => {
  expect(tables.length).toBeGreaterThan(20);
  expect(tables.filter((table) => !table.has_organization).map((table) => table.name)).toEqual(
    INSTANCE_TABLES,
  );
});

test("every tenant table is secured, and what `app` reads of it passes the tenant's policy", () => {
  const tenant = tables.filter((table) => table.has_organization);
  expect(tenant.filter((table) => !table.is_secured).map((table) => table.name)).toEqual([]);
  expect(
    tenant
      .filter((table) => table.app_may_read && !table.policies.includes("tenant:holdfast_app"))
      .map((table) => table.name),
  ).toEqual([]);
});

test("partitions cannot be read past their table", () => {
  const partitions = tables.filter((table) => table.is_partition);
  expect(partitions).toHaveLength(64);
  expect(
    partitions.filter((table) => table.app_may_read || table.system_may_read || !table.is_secured),
  ).toEqual([]);
});

test("`system` reads bookkeeping, but no text, vector, person or key", () => {
  const readable = tables.filter((table) => table.system_may_read).map((table) => table.name);
  for (const content of [
    "chunks",
    "text_blocks",
    "postings",
    "embeddings",
    "embedding_cache",
    "documents",
    "folders",
    "users",
    "agents",
    "api_keys",
    "organization_keys",
    "instance_secrets",
    "audit_log",
  ]) {
    expect(readable).not.toContain(content);
  }
});

describe("the tenant of the transaction decides", () => {
  test("without one, and with another's, `app` sees nothing and writes nothing", async () => {
    const { db } = database;
    const [own, other] = [await makeOrganization(db), await makeOrganization(db)];
    const user = await makeUser(db, own);
    const space = await makeSpace(db, own, [[user, "owner"]]);
    const count = "select count(*)::int as count from spaces where id = $1";
    expect((await inTenant(db, own, (sql) => sql.query(count, [space]))).rows[0]).toEqual({ count: 1 });
    expect((await inTenant(db, other, (sql) => sql.query(count, [space]))).rows[0]).toEqual({ count: 0 });
    expect((await db.app.query(count, [space])).rows[0]).toEqual({ count: 0 });
    expect(
      (
        await inTenant(db, other, (sql) =>
          sql.query("update spaces set name = 'taken' where id = $1", [space]),
        )
      ).rowCount,
    ).toBe(0);
    await expect(
      inTenant(db, other, (sql) =>
        sql.query(
          `insert into spaces (id, organization_id, name, owner_id)
           values (gen_random_uuid(), $1, 'planted', $2)`,
          [own.id, user],
        ),
      ),
    ).rejects.toThrow(/row-level security/);
  });

  test("the setting does not outlive its transaction", async () => {
    const own = await makeOrganization(database.db);
    await inTenant(database.db, own, (sql) => sql.query("select 1"));
    const { rows } = await database.db.app.query(
      "select nullif(current_setting('app.organization_id', true), '') as organization",
    );
    expect(rows[0]).toEqual({ organization: null });
  });
});
