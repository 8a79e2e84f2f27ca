/** Makes databases for tests on the server of HOLDFAST_TEST_DATABASE_URL, and drops them afterwards. */
import { randomBytes, randomInt } from "node:crypto";
import pg from "pg";
import { migrate } from "../../../src/db/migrate.ts";
import { type Database, type OwnerDatabase, openDatabase, openOwner } from "../../../src/db/pool.ts";
import { loginUrls } from "../../../src/embedded/servers/database-urls.ts";

/** The migrated database that test databases are copied from, if the set-up made one. */
export const TEMPLATE_DATABASE = "holdfast_test_template";

/** Passwords that the set-up gives to the roles. */
const PASSWORDS = { app: "app-of-tests", system: "system-of-tests", maintenance: "maintenance-of-tests" };

/** Pools of the service's logins, and one of the owner for what a test arranges. */
export type OwnedDatabase = Database & OwnerDatabase;

export interface TestDatabase {
  readonly db: OwnedDatabase;
  /** The URL of the owner, who is a superuser. */
  readonly url: string;
  /** The settings with the service's logins. */
  readonly env: DatabaseEnvironment;
  drop(): Promise<void>;
}

export interface DatabaseEnvironment {
  readonly DATABASE_URL: string;
  readonly DATABASE_SYSTEM_URL: string;
  readonly DATABASE_MAINTENANCE_URL: string;
}

/** Returns the settings with the service's logins for the database of `ownerUrl`. */
export function databaseEnvironment(ownerUrl: string): DatabaseEnvironment {
  const { app, system, maintenance } = loginUrlsOf(ownerUrl);
  return { DATABASE_URL: app, DATABASE_SYSTEM_URL: system, DATABASE_MAINTENANCE_URL: maintenance };
}

export function loginUrlsOf(ownerUrl: string): ReturnType<typeof loginUrls> {
  return loginUrls(ownerUrl, PASSWORDS);
}

/** Opens a database of the tests' server, or of a server whose logins {@link loginUrlsOf} made. */
export function openOwnedDatabase(ownerUrl: string, poolSize: number): OwnedDatabase {
  const { app, system, maintenance } = loginUrlsOf(ownerUrl);
  const ignore = (): void => undefined;
  const db = openDatabase({
    url: app,
    systemUrl: system,
    maintenanceUrl: maintenance,
    poolSize,
    onIdleError: ignore,
  });
  const owner = openOwner(ownerUrl, ignore);
  return {
    ...db,
    owner,
    async close() {
      await Promise.all([db.close(), owner.end()]);
    },
  };
}

/** Replaces the database in a URL. */
export function withDatabase(url: string, name: string): string {
  return Object.assign(new URL(url), { pathname: `/${name}` }).toString();
}

/**
 * Makes a database with all migrations, or an empty one. Safe to call from several test files at once.
 * @throws Error if HOLDFAST_TEST_DATABASE_URL, the URL of a role that may create databases, is not set.
 */
export async function createTestDatabase({
  isEmpty = false,
}: { isEmpty?: boolean } = {}): Promise<TestDatabase> {
  // oxlint-disable-next-line node/no-process-env -- the set-up of the tests hands the server over in it
  const admin = process.env["HOLDFAST_TEST_DATABASE_URL"];
  if (admin === undefined) throw new Error("HOLDFAST_TEST_DATABASE_URL is not set");
  const name = `test_${randomBytes(8).toString("hex")}`;
  await asAdmin(admin, async (client) => {
    // Copies are made one at a time: Postgres refuses a template that somebody is connected to.
    await client.query("select pg_advisory_lock(hashtext('holdfast test template'))");
    const { rowCount } = await client.query("select from pg_database where datname = $1", [
      TEMPLATE_DATABASE,
    ]);
    const madeTemplate = rowCount === 1 ? `template ${TEMPLATE_DATABASE}` : "";
    // Postgres would write each page of the copy into its log, which takes four times as long.
    await client.query(
      `create database ${name} ${isEmpty ? "template template0" : madeTemplate} strategy file_copy`,
    );
  });
  const url = withDatabase(admin, name);
  const db = openOwnedDatabase(url, 10);
  if (!isEmpty) {
    await migrate(db);
    await renumberSpaces(db);
  }
  return {
    db,
    url,
    env: databaseEnvironment(url),
    async drop() {
      await db.close();
      await asAdmin(admin, (client) => client.query(`drop database ${name} with (force)`));
    },
  };
}

/**
 * Gives each test database other space numbers. Processes cache lists by the number of a space, and one that
 * serves several test databases must not mix them up.
 */
async function renumberSpaces(db: OwnerDatabase): Promise<void> {
  await db.owner.query(`alter table spaces alter column num restart with ${randomInt(1, 1_000_000) * 1_000}`);
}

async function asAdmin(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
