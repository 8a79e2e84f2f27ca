/**
 * Brings the database's schema up to date: a new database gets `schema/*.sql`; then `migrations/NNNN_*.sql`
 * are applied in order, each once, and roles, policies and rights are repaired.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ExpectedFailure } from "../domain/expected-failure.ts";
import { ensureRoles, findAccessFaults, isDenied, listFaults, mendAccess } from "./access/access.ts";
import { describeFault } from "./access/statements.ts";
import { type Database, type OwnerDatabase, inTransaction, queryOnce, type Sql } from "./pool.ts";
import { MIGRATIONS_OF_0_10, readSchema } from "./schema/files.ts";

const CREATE_MIGRATIONS = `
  create table if not exists migrations (
    name       text primary key,
    applied_at timestamptz not null default now()
  )`;

const FOLDER = join(import.meta.dirname, "migrations");

const UNDEFINED_TABLE = "42P01";
const INSUFFICIENT_PRIVILEGE = "42501";

/** What a run of {@link migrate} did. */
export interface Migrated {
  /** Names of migrations; first "the schema" if the database was new. */
  readonly applied: string[];
  /** What was wrong with roles, policies and rights, a line each; nothing of a new database. */
  readonly mended: string[];
}

/**
 * Brings the schema up to date and makes roles, policies and rights what this version declares. Runs in one
 * transaction under a lock, so several processes may call it at once. Idempotent. If a later version migrated
 * the schema, what that version added stays.
 * @throws ExpectedFailure if the database is older than 0.10, or if something is wrong that this login may
 *   not repair, or nobody can. Nothing is changed then.
 * @see test/db/access/access.database.test.ts
 */
export async function migrate(db: OwnerDatabase): Promise<Migrated> {
  const names = await ownMigrations();
  const work = async (sql: Sql): Promise<Migrated> => {
    await sql.query("select pg_advisory_xact_lock(hashtext('holdfast migrations'))");
    const known = await readApplied(sql);
    if (known.length > 0) await assertNotOlder(sql, known);
    await ensureRoles(sql);
    const isNew = known.length === 0;
    if (isNew) await makeSchema(sql);
    const applied = new Set(isNew ? MIGRATIONS_OF_0_10 : known);
    const missing = names.filter((name) => !applied.has(name));
    for (const name of missing) {
      await sql.query(await readFile(join(FOLDER, name), "utf8"));
      await noteApplied(sql, [name]);
    }
    const mended = await mendAccess(
      sql,
      known.some((name) => !names.includes(name)),
    );
    return isNew ? { applied: ["the schema", ...missing], mended: [] } : { applied: missing, mended };
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

/** @returns no name of a new database. */
async function readApplied(sql: Sql): Promise<string[]> {
  const { rows } = await sql.query<{ found: boolean }>(
    "select to_regclass('public.migrations') is not null as found",
  );
  if (!rows[0]!.found) return [];
  const applied = await sql.query<{ name: string }>("select name from migrations");
  return applied.rows.map(({ name }) => name);
}

async function makeSchema(sql: Sql): Promise<void> {
  await sql.query(CREATE_MIGRATIONS);
  await sql.query(await readSchema());
  await noteApplied(sql, MIGRATIONS_OF_0_10);
}

async function noteApplied(sql: Sql, names: readonly string[]): Promise<void> {
  await sql.query("insert into migrations (name) select unnest($1::text[])", [names]);
}

/** @throws ExpectedFailure for a database that 0.10 has not finished with: its message says with what. */
async function assertNotOlder(sql: Sql, applied: readonly string[]): Promise<void> {
  const lacking = MIGRATIONS_OF_0_10.find((name) => !applied.includes(name));
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
  const { rows } = await sql.query<{ until: Date | null }>(
    "select max(expires_at) as until from responses where not is_itemized and expires_at > now()",
  );
  const until = rows[0]!.until?.toISOString();
  if (until !== undefined)
    throw new ExpectedFailure(
      `Responses that version 0.9 wrote are kept until ${until}: upgrade after that, or when they are deleted.`,
    );
}

/** Lists the names of this version's migrations in their order, with those that the schema stands for. */
export async function ownMigrations(): Promise<string[]> {
  const later = (await readdir(FOLDER)).filter((name) => name.endsWith(".sql"));
  return [...MIGRATIONS_OF_0_10, ...later.toSorted()];
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

/** Compares roles, policies and rights with this version's. @returns what is wrong, a line each. */
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
