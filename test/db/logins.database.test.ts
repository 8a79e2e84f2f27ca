/** What the login of each part may do in Postgres when a statement is injected into it, and what the service says of one that may do more. */
import { randomBytes } from "node:crypto";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadConfig, requireReal } from "../../src/config.ts";
import { openSharedDeps } from "../../src/deps.ts";
import { describeStrongLogins, makeLogins } from "../../src/db/logins.ts";
import { migrate } from "../../src/db/migrate.ts";
import { type DatabaseUrls, type OrganizationKey, asTenant, inTenant, openDatabase, openOwner } from "../../src/db/pool.ts";
import { makeOrganization, makeSpace, makeUser } from "../support/callers.ts";
import { type TestDatabase, createTestDatabase, loginUrlsOf } from "../support/database.ts";
import { fillTable, insertStatement, tenantTables } from "../support/fill-table.ts";
import { startProcess } from "../support/processes.ts";
import { until } from "../support/until.ts";

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

type Served = "app" | "system" | "maintenance";
const SERVED: Served[] = ["app", "system", "maintenance"];

/** Each in a connection of its own, thrown away afterwards. */
async function attempt(pool: pg.Pool, statements: readonly string[]): Promise<{ error: string | undefined; user: string }> {
  const client = await pool.connect();
  try {
    let error: string | undefined;
    for (const statement of statements) await client.query(statement).catch((caught: Error) => (error = caught.message));
    const { rows } = await client.query<{ user: string }>("select current_user || '/' || session_user as user");
    return { error, user: rows[0]!.user };
  } finally {
    client.release(true);
  }
}

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
  "create schema planted",
  "create extension adminpack",
  "copy documents to program 'true'",
  "select pg_read_file('/etc/passwd')",
  "delete from migrations",
];

describe.each(SERVED)("the login of %s", (name) => {
  it("is itself whatever role it asks back", async () => {
    for (const statement of ["set role none", "reset role", "reset session authorization", "discard all"])
      expect(await attempt(test.db[name], [statement])).toEqual({ error: undefined, user: `holdfast_${name}/holdfast_${name}` });
  });

  it.each(ESCALATIONS)("may not: %s", async (statement) => {
    expect((await attempt(test.db[name], [statement])).error).toMatch(/permission denied|must be (able|owner)|must be superuser|must have|not available|Only roles with/);
  });

  it("grants nothing: Postgres warns and does not", async () => {
    await attempt(test.db[name], ["grant select on documents to public", "grant all on chunks to holdfast_app, holdfast_system"]);
    const { rows } = await test.db.owner.query(
      "select grantee::regrole::text from pg_class c, aclexplode(c.relacl) where c.oid in ('documents'::regclass, 'chunks'::regclass) group by grantee order by 1",
    );
    expect(rows.map(({ grantee }) => grantee)).toEqual(["holdfast_app", "postgres"]);
  });

  it.each(SERVED.filter((other) => other !== name))("may not take on the role of %s", async (other) => {
    expect((await attempt(test.db[name], [`set role holdfast_${other}`])).error).toMatch("permission denied to set role");
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
      await client.query(`begin; select ${asTenant(own)}`);
      await client.query("reset role; set local role none; set local row_security = off").catch(() => undefined);
      await client.query(`rollback; begin; select ${asTenant(own)}; reset role; set local role none`);
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
      expect([name, (await test.db.owner.query(`select from ${name} where ${column.name} = $1`, [other[column.key]])).rowCount]).toEqual([name, 1]);
  });

  it("the application's login reads, changes, deletes and plants nothing of it", async () => {
    const found: string[] = [];
    for (const { name, column } of tables) {
      const value = [other[column.key]];
      if ((await reached(test.db.app, `select from ${name} where ${column.name} = $1`, value)) > 0) found.push(`${name} is read`);
      if ((await reached(test.db.app, `update ${name} set ${column.name} = ${column.name} where ${column.name} = $1`, value)) > 0) found.push(`${name} is changed`);
      if ((await reached(test.db.app, `delete from ${name} where ${column.name} = $1`, value)) > 0) found.push(`${name} is deleted`);
      if ((await reached(test.db.app, await insertStatement(test.db, { name, column }), value)) > 0) found.push(`${name} is planted`);
    }
    expect(found).toEqual([]);
  });

  it("the system's login reads bookkeeping alone, and maintenance directories, and neither any content", async () => {
    const content = ["documents", "chunks", "text_blocks", "embedding_cache", "postings", "raw_files", "folders", "kept_turn_pieces"];
    const readable = async (login: "system" | "maintenance") => {
      const found = await Promise.all(
        tables.map(async ({ name, column }) => ((await reached(test.db[login], `select from ${name} where ${column.name} = $1`, [other[column.key]])) > 0 ? name : "")),
      );
      return found.filter((name) => name !== "");
    };
    expect((await readable("system")).filter((name) => [...content, "users", "spaces", "api_keys", "organization_keys", "audit_log", "embeddings"].includes(name))).toEqual([]);
    expect((await readable("maintenance")).filter((name) => content.includes(name))).toEqual([]);
  });

  it("maintenance deletes rows through a function, of an organization that was closed and of no other", async () => {
    const remove = (organization: string, table: string) => test.db.maintenance.query("select delete_rows_of_closed($1, $2, 100) as deleted", [organization, table]);
    await expect(remove(other.id, "chunks")).rejects.toThrow("the organization is not closed");
    await expect(test.db.maintenance.query("select count_rows_of_closed($1)", [other.id])).rejects.toThrow("the organization is not closed");
    await expect(test.db.maintenance.query("delete from chunks")).rejects.toThrow("permission denied");
    await expect(test.db.app.query("select delete_rows_of_closed($1, 'chunks', 100)", [other.id])).rejects.toThrow("permission denied for function");
    await test.db.owner.query("update organizations set deleted_at = now() where id = $1", [other.id]);
    await expect(remove(other.id, "migrations")).rejects.toThrow("the table holds no rows of organizations");
    await expect(remove(other.id, "organization_keys")).rejects.toThrow("the table holds no rows of organizations");
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

it("a deleted space takes its vectors with it, whoever deletes it", async () => {
  const organization = await makeOrganization(test.db);
  const space = await makeSpace(test.db, organization, [[await makeUser(test.db, organization), "owner"]]);
  const { rows } = await test.db.owner.query<{ num: number }>("select num from spaces where id = $1", [space]);
  const vector = "insert into embeddings (organization_num, space_num, run_num, chunk_index, model_num, embedding) values ($1, $2, 1, 0, 1, '[1]')";
  await inTenant(test.db, organization, (sql) => sql.query(vector, [organization.num, rows[0]!.num]));
  await inTenant(test.db, organization, async (sql) => {
    await sql.query("delete from space_members where space_id = $1", [space]);
    await sql.query("delete from spaces where id = $1", [space]);
  });
  expect((await test.db.owner.query("select from embeddings where space_num = $1", [rows[0]!.num])).rowCount).toBe(0);
});

describe("a login that may do more", () => {
  const settings = { TEMPORAL_ADDRESS: "127.0.0.1:1", MASTER_KEY: Buffer.alloc(32, 7).toString("base64"), NODE_ENV: "test", LOG_LEVEL: "warn" };
  const strong = async (urls: DatabaseUrls): Promise<string | undefined> => {
    const db = openDatabase({ ...urls, poolSize: 2, onIdleError: () => undefined });
    return describeStrongLogins(db, urls).finally(() => db.close());
  };
  /** Runs what the message says, with these passwords in the place of the names. */
  const run = async (message: string): Promise<void> => {
    const statements = message.match(/^ {2}(alter|grant|revoke) .*;$/gm) ?? [];
    expect(statements.length).toBeGreaterThan(0);
    for (const statement of statements) await test.db.owner.query(statement.replace(/<password of (\w+)>/, "$1-of-tests"));
  };
  const narrow = (): DatabaseUrls => ({ url: test.env.DATABASE_URL, systemUrl: test.env.DATABASE_SYSTEM_URL, maintenanceUrl: test.env.DATABASE_MAINTENANCE_URL });

  it("that is one for everything is told with the statements that mend it, and these do", async () => {
    const message = await strong({ url: test.url });
    expect(message).toContain('DATABASE_URL: "postgres" is the one login of the service');
    await run(message!);
    for (const variable of ["DATABASE_URL", "DATABASE_SYSTEM_URL", "DATABASE_MAINTENANCE_URL"]) {
      const { username } = new URL(new RegExp(`^ {2}${variable}=(\\S+)`, "m").exec(message!)![1]!.replace(/<host>.*/, "host/database"));
      expect(new URL(test.env[variable as keyof typeof test.env]).username).toBe(username);
    }
    expect(await strong(narrow())).toBeUndefined();
    // Whether or not it says so, it is held to be that of a superuser where another part has it.
    expect(await strong({ ...narrow(), systemUrl: test.url })).toContain('DATABASE_SYSTEM_URL: "postgres" is a superuser');
  });

  it("is warned of, and starts where nothing forbids it", async () => {
    const api = startProcess("src/api/main.ts", { ...settings, DATABASE_URL: test.url, PORT: "0" });
    try {
      await until("the warning is in the log", () => api.output().includes("alter role holdfast_app login password"), 30_000);
      const line = api
        .output()
        .split("\n")
        .find((one) => one.includes("alter role holdfast_app"))!;
      expect(JSON.parse(line)).toMatchObject({ level: "warn" });
      expect(line).not.toContain(new URL(test.url).password);
    } finally {
      await api.kill("SIGKILL");
    }
  });

  it("ends the start where the settings require narrow ones, by the same words", async () => {
    const config = (urls: Record<string, string>) => requireReal(loadConfig({ ...settings, ...urls, REQUIRE_DATABASE_LOGINS: "true" }));
    await expect(openSharedDeps(config({ DATABASE_URL: test.url }), "test")).rejects.toThrow(/REQUIRE_DATABASE_LOGINS is set[^]*alter role holdfast_app login password/);
    const deps = await openSharedDeps(config({ ...test.env }), "test");
    await deps.close();
  });

  it("has its rights taken by the statements of the message", async () => {
    const user = `strong_${randomBytes(4).toString("hex")}`;
    await test.db.owner.query(`create role ${user} login password 'p' bypassrls createrole createdb noinherit; grant holdfast_system, pg_read_all_data to ${user}`);
    try {
      const urls = { ...narrow(), url: Object.assign(new URL(test.url), { username: user, password: "p" }).toString() };
      const message = await strong(urls);
      for (const fault of ["has bypassrls", "has createrole", "has createdb", "is no member of holdfast_app", "is a member of holdfast_system", "is a member of pg_read_all_data"])
        expect(message).toContain(`DATABASE_URL: "${user}" ${fault}`);
      await run(message!);
      await test.db.owner.query(`alter role ${user} inherit; grant holdfast_app to ${user} with inherit true`);
      expect(await strong(urls)).toBeUndefined();
    } finally {
      await test.db.owner.query(`drop role ${user}`);
    }
  });

  it("is none where members of the roles were made for it, which the policies bind as they bind the roles", async () => {
    const suffix = randomBytes(4).toString("hex");
    const of = (name: Served) => Object.assign(new URL(test.url), { username: `${name}_${suffix}`, password: "it's/a $secret" }).toString();
    const made = await makeLogins(test.db, { app: of("app"), system: of("system"), maintenance: of("maintenance") });
    const urls = { url: of("app"), systemUrl: of("system"), maintenanceUrl: of("maintenance") };
    const db = openDatabase({ ...urls, poolSize: 2, onIdleError: () => undefined });
    try {
      expect(await describeStrongLogins(db, urls)).toBeUndefined();
      const [own, other] = [await makeOrganization(test.db), await makeOrganization(test.db)];
      const seen = (await inTenant(db, own, (sql) => sql.query<{ id: string }>("select id from organizations"))).rows.map(({ id }) => id);
      expect(seen).toEqual([own.id]);
      expect(seen).not.toContain(other.id);
      expect((await attempt(db.app, ["set role holdfast_system"])).error).toMatch("permission denied to set role");
    } finally {
      await db.close();
      for (const login of made) await test.db.owner.query(`drop role ${login}`);
    }
  });
});

it("an owner that is no superuser, as managed servers give one, migrates and hands over what maintenance needs", async () => {
  const managed = await createTestDatabase({ isEmpty: true });
  const owner = `managed_${randomBytes(4).toString("hex")}`;
  const database = new URL(managed.url).pathname.slice(1);
  // The roles are there already, as another database of the server made them: it administers them, as if it had made them itself.
  await managed.db.owner.query(`create role ${owner} login password 'p' createrole; grant holdfast_app, holdfast_system, holdfast_maintenance to ${owner} with admin option`);
  await managed.db.owner.query(`alter database ${database} owner to ${owner}`);
  await managed.db.owner.query("create extension vector");
  const pool = openOwner(Object.assign(new URL(managed.url), { username: owner, password: "p" }).toString(), () => undefined);
  try {
    expect((await migrate({ owner: pool })).length).toBeGreaterThan(10);
    const { app, system, maintenance } = loginUrlsOf(managed.url);
    expect(await describeStrongLogins(managed.db, { url: app, systemUrl: system, maintenanceUrl: maintenance })).toBeUndefined();
    const organization = await makeOrganization(managed.db);
    expect((await inTenant(managed.db, organization, (sql) => sql.query("select * from count_faults('{}', '{}')"))).rows).toEqual([
      { published_incomplete: 0, published_hidden: 0, runs_without_claim: 0, documents_without_file: 0, statistics_wrong: 0 },
    ]);
    await managed.db.maintenance.query("create index concurrently planted on vectors.embeddings_0 (run_num)");
    await managed.db.maintenance.query("drop index concurrently vectors.planted");
    await managed.db.owner.query("update organizations set deleted_at = now() where id = $1", [organization.id]);
    expect((await managed.db.maintenance.query("select count_rows_of_closed($1) as count", [organization.id])).rows).toEqual([{ count: 0 }]);
  } finally {
    await pool.end();
    await managed.db.owner.query(`reassign owned by ${owner} to postgres; drop owned by ${owner}`);
    await managed.db.owner.query(`drop role ${owner}`);
    await managed.drop();
  }
});
