/** How logins are made, and what the service says about one that may do more than it should. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadConfig, requireReal } from "../../../src/config/config.ts";
import { openSharedDeps } from "../../../src/deps.ts";
import { describeStrongLogins, makeLogins } from "../../../src/db/instance/logins.ts";
import { migrate } from "../../../src/db/migrate.ts";
import { countFaults } from "../../../src/integrity/organization.ts";
import { requestOrganizationDeletion } from "../../../src/db/outbox/operations.ts";
import {
  countOrganizationRows,
  deleteOrganizationRows,
} from "../../../src/db/tenancy/closed-organization.ts";
import { type DatabaseUrls, inTenant, openDatabase, openOwner } from "../../../src/db/pool.ts";
import { attempt } from "../../support/tenants/attempt.ts";
import { makeOrganization, makeSpace, makeUser } from "../../support/tenants/callers.ts";
import { type TestDatabase, createTestDatabase, loginUrlsOf } from "../../support/servers/database.ts";
import { startProcess } from "../../support/stack/processes.ts";
import { until } from "../../support/until.ts";

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

describe("a login that may do more", () => {
  const settings = {
    TEMPORAL_ADDRESS: "127.0.0.1:1",
    MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
    NODE_ENV: "test",
    LOG_LEVEL: "warn",
  };
  const strong = async (urls: DatabaseUrls): Promise<string | undefined> => {
    const db = openDatabase({ ...urls, poolSize: 2, onIdleError: () => undefined });
    try {
      return await describeStrongLogins(db, urls);
    } finally {
      await db.close();
    }
  };
  /** Runs the statements of the message, with these passwords instead of its placeholders. */
  const run = async (message: string): Promise<void> => {
    const statements = message.match(/^ {2}(alter|grant|revoke) .*;$/gm) ?? [];
    expect(statements.length).toBeGreaterThan(0);
    for (const statement of statements)
      await test.db.owner.query(statement.replace(/<password of (\w+)>/, "$1-of-tests"));
  };
  const narrow = () => ({
    url: test.env.DATABASE_URL,
    systemUrl: test.env.DATABASE_SYSTEM_URL,
    maintenanceUrl: test.env.DATABASE_MAINTENANCE_URL,
  });

  it("that is a superuser is reported with statements that repair it", async () => {
    const message = await strong({ ...narrow(), url: test.url });
    expect(message).toContain('DATABASE_URL: "postgres" is a superuser');
    await run(message!);
    for (const variable of ["DATABASE_URL", "DATABASE_SYSTEM_URL", "DATABASE_MAINTENANCE_URL"]) {
      const { username } = new URL(
        new RegExp(`^ {2}${variable}=(\\S+)`, "m").exec(message!)![1]!.replace(/<host>.*/, "host/database"),
      );
      expect(new URL(test.env[variable as keyof typeof test.env]).username).toBe(username);
    }
    expect(await strong(narrow())).toBeUndefined();
    expect(await strong({ ...narrow(), systemUrl: test.url })).toContain(
      'DATABASE_SYSTEM_URL: "postgres" is a superuser',
    );
  });

  it("gives a warning, and the process starts if nothing forbids it", async () => {
    const api = startProcess("src/api/main.ts", {
      ...settings,
      ...test.env,
      DATABASE_URL: test.url,
      PORT: "0",
    });
    try {
      await until(
        "the warning is in the log",
        () => api.output().includes("alter role holdfast_app login password"),
        30_000,
      );
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

  it("ends the start in production, by the same words", async () => {
    const config = (urls: Record<string, string>) =>
      requireReal(loadConfig({ ...settings, ...urls, NODE_ENV: "production" }));
    await expect(openSharedDeps(config({ ...test.env, DATABASE_URL: test.url }), "test")).rejects.toThrow(
      /Narrow logins are required[^]*alter role holdfast_app login password/,
    );
    const deps = await openSharedDeps(config({ ...test.env }), "test");
    await deps.close();
  });

  it("that is the role of another part, or the user of two URLs, is refused without a grant", async () => {
    const { url, systemUrl, maintenanceUrl } = narrow();
    const message = await strong({ url: systemUrl!, systemUrl, maintenanceUrl });
    expect(message).toContain('DATABASE_URL: "holdfast_system" is the role of DATABASE_SYSTEM_URL');
    expect(message).not.toMatch(/^ {2}grant/m);
    expect(await strong({ url, systemUrl: maintenanceUrl, maintenanceUrl: systemUrl })).toMatch(
      new RegExp(
        '"holdfast_maintenance" is the role of DATABASE_MAINTENANCE_URL[^]*' +
          '"holdfast_system" is the role of DATABASE_SYSTEM_URL',
      ),
    );
    const user = `twin_${randomBytes(4).toString("hex")}`;
    await test.db.owner.query(`create role ${user} login password 'p' in role holdfast_app, holdfast_system`);
    try {
      const twin = Object.assign(new URL(test.url), { username: user, password: "p" }).toString();
      const both = await strong({ url: twin, systemUrl: twin, maintenanceUrl });
      expect(both).toContain(`DATABASE_URL: "${user}" is the user of DATABASE_SYSTEM_URL too`);
      expect(both).not.toMatch(/^ {2}(grant|revoke)/m);
    } finally {
      await test.db.owner.query(`drop role ${user}`);
    }
  });

  it("is not made of the role of another part, nor of one user for two URLs", async () => {
    const of = (user: string) =>
      Object.assign(new URL(test.url), { username: user, password: "p" }).toString();
    const usual = {
      app: test.env.DATABASE_URL,
      system: test.env.DATABASE_SYSTEM_URL,
      maintenance: test.env.DATABASE_MAINTENANCE_URL,
    };
    await expect(makeLogins(test.db, { ...usual, app: usual.maintenance })).rejects.toThrow(
      'DATABASE_URL: "holdfast_maintenance" is the role of DATABASE_MAINTENANCE_URL',
    );
    await expect(
      makeLogins(test.db, { ...usual, app: of("planted"), system: of("planted") }),
    ).rejects.toThrow('DATABASE_URL: "planted" is the user of DATABASE_SYSTEM_URL too');
    expect((await test.db.owner.query("select from pg_roles where rolname = 'planted'")).rowCount).toBe(0);
    expect(await strong(narrow())).toBeUndefined();
  });

  it("has its rights taken by the statements of the message", async () => {
    const user = `strong_${randomBytes(4).toString("hex")}`;
    await test.db.owner.query(
      `create role ${user} login password 'p' bypassrls createrole createdb noinherit;
       grant holdfast_system, pg_read_all_data to ${user}`,
    );
    try {
      const urls = {
        ...narrow(),
        url: Object.assign(new URL(test.url), { username: user, password: "p" }).toString(),
      };
      const message = await strong(urls);
      for (const fault of [
        "has bypassrls",
        "has createrole",
        "has createdb",
        "is no member of holdfast_app",
        "is a member of holdfast_system",
        "is a member of pg_read_all_data",
      ])
        expect(message).toContain(`DATABASE_URL: "${user}" ${fault}`);
      await run(message!);
      await test.db.owner.query(
        `alter role ${user} inherit; grant holdfast_app to ${user} with inherit true`,
      );
      expect(await strong(urls)).toBeUndefined();
    } finally {
      await test.db.owner.query(`drop role ${user}`);
    }
  });

  it("is none if members of the roles were made: policies bind them like the roles", async () => {
    const suffix = randomBytes(4).toString("hex");
    const of = (name: string) =>
      Object.assign(new URL(test.url), {
        username: `${name}_${suffix}`,
        password: "it's/a $secret",
      }).toString();
    const made = await makeLogins(test.db, {
      app: of("app"),
      system: of("system"),
      maintenance: of("maintenance"),
    });
    const urls = { url: of("app"), systemUrl: of("system"), maintenanceUrl: of("maintenance") };
    const db = openDatabase({ ...urls, poolSize: 2, onIdleError: () => undefined });
    try {
      expect(await describeStrongLogins(db, urls)).toBeUndefined();
      const [own] = [await makeOrganization(test.db), await makeOrganization(test.db)];
      const seen = (
        await inTenant(db, own, (sql) => sql.query<{ id: string }>("select id from organizations"))
      ).rows.map(({ id }) => id);
      expect(seen).toEqual([own.id]);
      expect((await attempt(db.app, ["set role holdfast_system"])).error).toMatch(
        "permission denied to set role",
      );
    } finally {
      await db.close();
      for (const login of made) await test.db.owner.query(`drop role ${login}`);
    }
  });
});

it("an owner that is no superuser migrates and hands over what maintenance needs", async () => {
  const managed = await createTestDatabase({ isEmpty: true });
  const owner = `managed_${randomBytes(4).toString("hex")}`;
  const database = new URL(managed.url).pathname.slice(1);
  // The roles exist already, because another database of the server made them. The owner administers them, as
  // if it had made them itself.
  await managed.db.owner.query(
    `create role ${owner} login password 'p' createrole;
     grant holdfast_app, holdfast_system, holdfast_maintenance to ${owner} with admin option`,
  );
  await managed.db.owner.query(`alter database ${database} owner to ${owner}`);
  await managed.db.owner.query("create extension vector");
  const pool = openOwner(
    Object.assign(new URL(managed.url), { username: owner, password: "p" }).toString(),
    () => undefined,
  );
  try {
    expect((await migrate({ owner: pool })).applied).toContain("the schema");
    const { app, system, maintenance } = loginUrlsOf(managed.url);
    expect(
      await describeStrongLogins(managed.db, { url: app, systemUrl: system, maintenanceUrl: maintenance }),
    ).toBeUndefined();
    const organization = await makeOrganization(managed.db);
    expect(new Set(Object.values(await countFaults(managed.db, organization)))).toEqual(new Set([0]));
    const user = await makeUser(managed.db, organization);
    const space = await makeSpace(managed.db, organization, [[user, "owner"]]);
    await inTenant(managed.db, organization, async (sql) => {
      await sql.query("delete from space_members where space_id = $1", [space]);
      await sql.query("delete from spaces where id = $1", [space]);
    });
    await managed.db.maintenance.query("create index concurrently planted on vectors.embeddings_0 (run_num)");
    await managed.db.maintenance.query("drop index concurrently vectors.planted");
    await requestOrganizationDeletion(managed.db, organization, 0);
    await deleteOrganizationRows(managed.db, organization);
    expect(await countOrganizationRows(managed.db, organization)).toBe(0);
  } finally {
    await pool.end();
    await managed.db.owner.query(`reassign owned by ${owner} to postgres; drop owned by ${owner}`);
    await managed.db.owner.query(`drop role ${owner}`);
    await managed.drop();
  }
});
