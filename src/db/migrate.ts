/**
 * Brings the database's schema up to date: applies `migrations/NNNN_*.sql` in order, each once, and repairs
 * roles, policies and rights.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ExpectedFailure } from "../domain/expected-failure.ts";
import { ensureRoles, findAccessFaults, isDenied, listFaults, mendAccess } from "./access/access.ts";
import { describeFault } from "./access/statements.ts";
import { type Database, type OwnerDatabase, inTransaction, queryOnce, type Sql } from "./pool.ts";

const CREATE_MIGRATIONS = `
  create table if not exists migrations (
    name       text primary key,
    applied_at timestamptz not null default now()
  )`;

const FOLDER = join(import.meta.dirname, "migrations");

/** The migrations of 0.10 come before it. */
const FIRST_OF_THIS_VERSION = "0042";

const UNDEFINED_TABLE = "42P01";
const INSUFFICIENT_PRIVILEGE = "42501";

/** What a run of {@link migrate} did. */
export interface Migrated {
  /** Names of migrations. */
  readonly applied: string[];
  /**
   * What was wrong with roles, policies and rights, a line each. Migrations that ran just now should leave
   * nothing.
   */
  readonly mended: string[];
}

/**
 * Brings the schema up to date and makes roles, policies and rights what this version declares. Runs in one
 * transaction under a lock, so several processes may call it at once. Idempotent. If a later version migrated
 * the schema, what that version added stays.
 * @throws ExpectedFailure if the database is older than 0.10, or if something is wrong that this login may not
 *   repair, or nobody can. Nothing is changed then.
 * @see test/db/migrate.database.test.ts
 * @see test/db/access/access.database.test.ts
 */
export async function migrate(db: OwnerDatabase): Promise<Migrated> {
  const names = await ownMigrations();
  const work = async (sql: Sql): Promise<Migrated> => {
    await sql.query("select pg_advisory_xact_lock(hashtext('holdfast migrations'))");
    await assertNotOlder(sql, names);
    await ensureRoles(sql);
    await sql.query(CREATE_MIGRATIONS);
    const applied = new Set(
      (await sql.query<{ name: string }>("select name from migrations")).rows.map((row) => row.name),
    );
    const missing = names.filter((name) => !applied.has(name));
    for (const name of missing) {
      await sql.query(await readFile(join(FOLDER, name), "utf8"));
      await sql.query("insert into migrations (name) values ($1)", [name]);
    }
    const isNewer = [...applied].some((name) => !names.includes(name));
    return { applied: missing, mended: await mendAccess(sql, isNewer) };
  };
  try {
    return await inTransaction(db.owner, work);
  } catch (error) {
    if (!isDenied(error)) throw error;
    throw new ExpectedFailure(
      `This login may not migrate the database (${error.message}): ` +
        "DATABASE_OWNER_URL must name the owner of the database and its schema.",
      error,
    );
  }
}

/** @throws ExpectedFailure for a database that 0.10 has not migrated, or whose payloads need not be bound. */
async function assertNotOlder(sql: Sql, names: readonly string[]): Promise<void> {
  const { rows: tables } = await sql.query("select to_regclass('public.migrations') is not null as found");
  if (!tables[0]!["found"]) return;
  const { rows } = await sql.query<{ name: string }>("select name from migrations");
  if (rows.length === 0) return;
  const applied = new Set(rows.map(({ name }) => name));
  const lacking = names.find((name) => name < FIRST_OF_THIS_VERSION && !applied.has(name));
  if (lacking !== undefined)
    throw new ExpectedFailure(
      `The database is older than version 0.10, since it lacks ${lacking}: ` +
        "upgrade it with 0.10.0 first, then with this version.",
    );
  const { rowCount } = await sql.query("select from cut_overs where name = 'bound_payloads'");
  if (rowCount === 0)
    throw new ExpectedFailure(
      "The database still lets payloads of versions before 0.4 in: " +
        "run `holdfast seals cut-over` with 0.10 first, then upgrade.",
    );
}

/** Lists the names of this version's migrations in their order. */
export async function ownMigrations(): Promise<string[]> {
  return (await readdir(FOLDER)).filter((name) => name.endsWith(".sql")).toSorted();
}

/**
 * Compares the migrations that were applied with those of this version.
 * @returns what the database lacks and what a later version applied to it; undefined if this login may not
 *   read that.
 */
export async function compareMigrations(
  db: Database,
): Promise<{ missing: string[]; newer: string[] } | undefined> {
  const names = await ownMigrations();
  const rows = await appliedMigrations(db);
  if (rows === undefined) return undefined;
  const applied = new Set(rows);
  return {
    missing: names.filter((name) => !applied.has(name)),
    newer: rows.filter((name) => !names.includes(name)),
  };
}

/**
 * Checks whether every role, policy and right is as this version declares it: two statements, by the
 * application's login.
 * @returns what is wrong, a line each.
 */
export async function describeAccessFaults(db: Database): Promise<string[]> {
  return accessFaults(db, ((await compareMigrations(db))?.newer.length ?? 0) > 0);
}

async function accessFaults(db: Database, isNewer: boolean): Promise<string[]> {
  const faults = await findAccessFaults(
    { query: (query, values) => queryOnce(db.app, query, values) },
    isNewer,
  );
  return faults.map(describeFault);
}

/** @returns undefined if this login may not read them. */
async function appliedMigrations(db: Database): Promise<string[] | undefined> {
  try {
    return (
      await queryOnce<{ name: string }>(db.app, "select name from migrations order by name limit 10000")
    ).rows.map(({ name }) => name);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === UNDEFINED_TABLE) return [];
    if (code === INSUFFICIENT_PRIVILEGE) return undefined;
    throw error;
  }
}

/**
 * Checks that the database is as this version needs it. Rights are checked once no migration is missing,
 * because migrations give them.
 * @throws ExpectedFailure that says what is missing or wrong, and which command repairs it.
 */
export async function assertSchema(db: Database): Promise<void> {
  // If this login may not read them, the missing right is among the faults.
  const { missing, newer } = (await compareMigrations(db)) ?? { missing: [], newer: [] };
  if (missing.length > 0)
    throw new ExpectedFailure(
      `The database lacks migrations of this version (${listFaults(missing)}): ` +
        "run `holdfast migrate` first.",
    );
  const faults = await accessFaults(db, newer.length > 0);
  if (faults.length > 0)
    throw new ExpectedFailure(
      `The database is not as this version needs it: ${listFaults(faults)}. ` +
        "Run `holdfast migrate` as the owner of the schema.",
    );
}
