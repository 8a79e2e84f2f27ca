/**
 * What an injected statement reaches with each login: every way out of row-level security, on every table of
 * tenants.
 */
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OrganizationRef, asTenant } from "../../../src/db/pool.ts";
import { attempt } from "../../support/tenants/attempt.ts";
import { makeOrganization } from "../../support/tenants/callers.ts";
import { type TestDatabase, createTestDatabase } from "../../support/servers/database.ts";
import { fillTable, insertStatement, tenantTables } from "../../support/matrix/fill-table.ts";

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

type Served = "app" | "system" | "maintenance";
const SERVED: Served[] = ["app", "system", "maintenance"];

/** What would end row-level security or give more rights, tried by every login. */
const ESCALATIONS = [
  "set role postgres",
  "set session authorization postgres",
  "set session_replication_role = replica",
  "alter role current_user superuser",
  "alter role current_user bypassrls",
  "create role planted superuser",
  "grant postgres to current_user",
  "alter table documents disable row level security",
  "alter table documents no force row level security",
  "alter table documents owner to current_user",
  "drop policy tenant on documents",
  "alter policy tenant on documents using (true)",
  "create policy planted on documents using (true)",
  "create trigger planted after insert on documents execute function forget_vectors()",
  "create table public.planted (id int)",
  "create function public.planted() returns int language sql security definer as 'select 1'",
  `create or replace function public.current_organization_id() returns uuid
     language sql as 'select null::uuid'`,
  "alter function public.authenticate_key(bytea) security invoker",
  "alter function public.forget_vectors() security definer",
  "create schema planted",
  "create extension pageinspect",
  "copy documents to program 'true'",
  "select pg_read_file('/etc/passwd')",
  "delete from migrations",
];

describe.each(SERVED)("the login of %s", (name) => {
  it("is itself whatever role it asks back", async () => {
    for (const statement of ["set role none", "reset role", "reset session authorization", "discard all"])
      expect(await attempt(test.db[name], [statement])).toEqual({
        error: undefined,
        user: `holdfast_${name}/holdfast_${name}`,
      });
  });

  it.each(ESCALATIONS)("may not: %s", async (statement) => {
    expect((await attempt(test.db[name], ["set role none", statement])).error).toMatch(
      /permission denied|must be (able|owner)|must be superuser|must have|Only roles with/,
    );
  });

  it("grants nothing: Postgres warns and does not", async () => {
    await attempt(test.db[name], [
      "grant select on documents to public",
      "grant all on chunks to holdfast_app, holdfast_system",
    ]);
    const { rows } = await test.db.owner.query(
      `select grantee::regrole::text
       from pg_class c, aclexplode(c.relacl)
       where c.oid in ('documents'::regclass, 'chunks'::regclass)
       group by grantee
       order by 1`,
    );
    expect(rows.map(({ grantee }) => grantee)).toEqual(["holdfast_app", "postgres"]);
  });

  it.each(SERVED.filter((other) => other !== name))("may not take on the role of %s", async (other) => {
    expect((await attempt(test.db[name], [`set role holdfast_${other}`])).error).toMatch(
      "permission denied to set role",
    );
  });

  it("has no attribute of power, no table of tenants and no group", async () => {
    const { rows } = await test.db[name].query(
      `select r.rolsuper or r.rolbypassrls or r.rolcreaterole or r.rolcreatedb or r.rolreplication as strong,
              (
                select count(*)::int
                from pg_class c
                where c.relowner = r.oid
                  and c.relnamespace = 'public'::regnamespace
              ) as owned,
              (select count(*)::int from pg_auth_members m where m.member = r.oid) as groups
       from pg_roles r
       where r.rolname = current_user`,
    );
    expect(rows).toEqual([{ strong: false, owned: 0, groups: 0 }]);
  });
});

/**
 * Ids, states, counts, names of files, and the answers that are kept for repeats. A new table belongs in
 * neither list unless that is meant.
 */
const READ_BY_SYSTEM = [
  "batches",
  "budgets_reached",
  "claim_turns",
  "claims",
  "deletions",
  "event_positions",
  "events",
  "hidden_runs",
  "idempotency_keys",
  "kept_turns",
  "language_fits",
  "mcp_answers",
  "mcp_sessions",
  "organizations",
  "pipeline_runs",
  "posting_runs",
  "posting_segments",
  "response_contents",
  "response_usage",
  "responses",
  "space_statistics",
  "turn_calls",
  "turns",
  "upload_intents",
  "vector_indexes",
  "webhook_deliveries",
  "webhooks",
];
/** Directories, wrapped keys, and the rows of the audit log, which are chained. */
const READ_BY_MAINTENANCE = [
  "agents",
  "api_key_spaces",
  "api_keys",
  "audit_chains",
  "audit_log",
  "embeddings",
  "organization_keys",
  "organizations",
  "space_members",
  "spaces",
  "superseded_keys",
  "users",
  "vector_indexes",
];

describe("in every tenant table", () => {
  let own: OrganizationRef;
  let other: OrganizationRef;
  let tables: Awaited<ReturnType<typeof tenantTables>>;
  beforeAll(async () => {
    own = await makeOrganization(test.db);
    other = await makeOrganization(test.db);
    tables = await tenantTables(test.db);
    for (const table of tables) if (table.name !== "organizations") await fillTable(test.db, table, other);
  });

  /**
   * Counts rows of `other` that an injected statement in the transaction of `own` reaches. A missing right
   * counts as no row.
   */
  async function reached(pool: pg.Pool, statement: string, values: unknown[]): Promise<number> {
    const client = await pool.connect();
    try {
      await client.query(`begin; select ${asTenant(own)}; reset role; set local role none`);
      return (await client.query(statement, values)).rowCount ?? 0;
    } catch (error) {
      if (/permission denied|row-level security/.test((error as Error).message)) return 0;
      throw error;
    } finally {
      client.release(true);
    }
  }

  it("a row of the other organization is there", async () => {
    expect(tables.length).toBeGreaterThan(30);
    for (const { name, column } of tables)
      expect([
        name,
        (await test.db.owner.query(`select from ${name} where ${column.name} = $1`, [other[column.key]]))
          .rowCount,
      ]).toEqual([name, 1]);
  });

  it("the application's login reads, changes, deletes and plants nothing of it", async () => {
    const found: string[] = [];
    for (const { name, column } of tables) {
      const value = [other[column.key]];
      if ((await reached(test.db.app, `select from ${name} where ${column.name} = $1`, value)) > 0)
        found.push(`${name} is read`);
      if (
        (await reached(
          test.db.app,
          `update ${name} set ${column.name} = ${column.name} where ${column.name} = $1`,
          value,
        )) > 0
      )
        found.push(`${name} is changed`);
      if ((await reached(test.db.app, `delete from ${name} where ${column.name} = $1`, value)) > 0)
        found.push(`${name} is deleted`);
      if ((await reached(test.db.app, await insertStatement(test.db, { name, column }), value)) > 0)
        found.push(`${name} is planted`);
    }
    expect(found).toEqual([]);
  });

  it("the system reads bookkeeping, maintenance reads directories, and neither reads content", async () => {
    const readable = async (login: "system" | "maintenance") => {
      const found = await Promise.all(
        tables.map(async ({ name, column }) =>
          (await reached(test.db[login], `select from ${name} where ${column.name} = $1`, [
            other[column.key],
          ])) > 0
            ? name
            : "",
        ),
      );
      return found.filter((name) => name !== "");
    };
    expect((await readable("system")).toSorted()).toEqual(READ_BY_SYSTEM);
    expect((await readable("maintenance")).toSorted()).toEqual(READ_BY_MAINTENANCE);
  });

  it("maintenance deletes rows of a closed organization through a function, and of no other", async () => {
    const remove = (organization: string, table: string) =>
      test.db.maintenance.query("select delete_rows_of_closed($1, $2, 100) as deleted", [
        organization,
        table,
      ]);
    await expect(remove(other.id, "chunks")).rejects.toThrow("the organization is not closed");
    await expect(test.db.maintenance.query("select count_rows_of_closed($1)", [other.id])).rejects.toThrow(
      "the organization is not closed",
    );
    await expect(test.db.maintenance.query("delete from chunks")).rejects.toThrow("permission denied");
    await expect(
      test.db.app.query("select delete_rows_of_closed($1, 'chunks', 100)", [other.id]),
    ).rejects.toThrow("permission denied for function");
    await test.db.owner.query("update organizations set deleted_at = now() where id = $1", [other.id]);
    await expect(remove(other.id, "migrations")).rejects.toThrow("the table holds no rows of organizations");
    await expect(remove(other.id, "organization_keys")).rejects.toThrow(
      "the table holds no rows of organizations",
    );
    expect((await remove(other.id, "chunks")).rows).toEqual([{ deleted: 1 }]);
    expect((await remove(other.id, "chunks")).rows).toEqual([{ deleted: 0 }]);
    // An organization that is gone has no rows, which is what a repeated step finds after the last row was
    // deleted.
    const gone = own.id.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    expect((await remove(gone, "chunks")).rows).toEqual([{ deleted: 0 }]);
  });
});
