/** What each login of the service reaches when a statement is injected into it: every way out of row-level security, on every tenant table there is. */
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { storeCutOver } from "../../src/db/instance/cut-overs.ts";
import { requestOrganizationDeletion } from "../../src/db/outbox/operations.ts";
import { deleteOrganizationRow, deleteOrganizationRows } from "../../src/db/tenancy/closed-organization.ts";
import { type OrganizationKey, asTenant } from "../../src/db/pool.ts";
import { attempt } from "../support/tenants/attempt.ts";
import { makeOrganization } from "../support/tenants/callers.ts";
import { type TestDatabase, createTestDatabase } from "../support/servers/database.ts";
import { fillTable, insertStatement, tenantTables } from "../support/matrix/fill-table.ts";

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
  "create or replace function public.current_organization_id() returns uuid language sql as 'select null::uuid'",
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
      "select grantee::regrole::text from pg_class c, aclexplode(c.relacl) where c.oid in ('documents'::regclass, 'chunks'::regclass) group by grantee order by 1",
    );
    expect(rows.map(({ grantee }) => grantee)).toEqual(["holdfast_app", "postgres"]);
  });

  it.each(SERVED.filter((other) => other !== name))("may not take on the role of %s", async (other) => {
    expect((await attempt(test.db[name], [`set role holdfast_${other}`])).error).toMatch(
      "permission denied to set role",
    );
  });

  it("is no superuser, owns no table of tenants, leaves no row-level security and makes no role", async () => {
    const { rows } = await test.db[name].query(
      `select r.rolsuper or r.rolbypassrls or r.rolcreaterole or r.rolcreatedb or r.rolreplication as strong,
         (select count(*)::int from pg_class c where c.relowner = r.oid and c.relnamespace = 'public'::regnamespace) as owned,
         (select count(*)::int from pg_auth_members m where m.member = r.oid) as groups
       from pg_roles r where r.rolname = current_user`,
    );
    expect(rows).toEqual([{ strong: false, owned: 0, groups: 0 }]);
  });
});

/** Bookkeeping: ids, states, counts, names of files, and the answers that are kept for repeats. A new table is in neither list unless that was meant. */
const READ_BY_SYSTEM = [
  "batches",
  "claim_turns",
  "claims",
  "deletions",
  "hidden_runs",
  "idempotency_keys",
  "kept_turns",
  "organizations",
  "pipeline_runs",
  "posting_runs",
  "posting_segments",
  "space_statistics",
  "turn_calls",
  "turns",
  "upload_intents",
  "vector_indexes",
];
/** Directories, wrapped keys, and the audit log's rows for its chain. */
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
  let own: OrganizationKey;
  let other: OrganizationKey;
  let tables: Awaited<ReturnType<typeof tenantTables>>;
  beforeAll(async () => {
    [own, other] = [await makeOrganization(test.db), await makeOrganization(test.db)];
    tables = await tenantTables(test.db);
    for (const table of tables) if (table.name !== "organizations") await fillTable(test.db, table, other);
  });

  /** What one injected statement in the transaction of `own` reaches of `other`; an answer that there is no right to is as good as no row. */
  async function reached(pool: pg.Pool, statement: string, values: unknown[]): Promise<number> {
    const client = await pool.connect();
    try {
      await client.query(`begin; select ${asTenant(own)}; reset role; set local role none`);
      return (await client.query(statement, values)).rowCount ?? 0;
    } catch (error) {
      expect((error as Error).message).toMatch(/permission denied|row-level security/);
      return 0;
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

  it("the system's login reads bookkeeping alone, and maintenance directories, and neither any content", async () => {
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

  it("maintenance deletes rows through a function, of an organization that was closed and of no other", async () => {
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
    // One that is gone altogether has nothing: a step that is repeated after the last row went.
    expect(
      (
        await remove(
          own.id.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
          "chunks",
        )
      ).rows,
    ).toEqual([{ deleted: 0 }]);
  });
});

it("maintenance links audit rows, and neither writes, changes nor deletes one before its time", async () => {
  const { id } = await makeOrganization(test.db);
  const insert =
    "insert into audit_log (id, organization_id, at, auth_method, action, resource_type, outcome, chain_seq) values (gen_random_uuid(), $1, $2, 'system', 'x', 'y', 'success', $3)";
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
  expect(
    (
      await test.db.maintenance.query(
        "delete from audit_log where organization_id = $1 returning chain_seq",
        [id],
      )
    ).rows,
  ).toEqual([{ chain_seq: 1 }]);
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
  const closedAt = async () =>
    (
      await test.db.owner.query<{ deleted_at: Date | null }>(
        "select deleted_at from organizations where id = $1",
        [organization.id],
      )
    ).rows[0]?.deleted_at;
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

it("the system stores a cut-over as of now and of no other time", async () => {
  await expect(
    test.db.system.query("insert into cut_overs (name, at) values ('planted', now() - interval '1 day')"),
  ).rejects.toThrow("permission denied");
  expect(Math.abs((await storeCutOver(test.db.system, "tried")).getTime() - Date.now())).toBeLessThan(60_000);
});
