/** Restores a backup into an empty database and store. All of it is checked before anything changes. */
import { join, resolve } from "node:path";
import { makeRoles } from "../db/access/access.ts";
import { countAllRows, describeServer, type RowCounts } from "../db/transfer/backup-rows.ts";
import { migrate, type Migrated, ownMigrations } from "../db/migrate.ts";
import { inTransaction, type Sql } from "../db/pool.ts";
import { ExpectedFailure } from "../domain/expected-failure.ts";
import type { Source } from "./create.ts";
import type { Manifest, PartFile } from "../schema/files/backup.ts";
import { DUMP, INDEX, MANIFEST, measure, readManifest } from "./manifest.ts";
import { type Copied, checkObjects, restoreObjects } from "./objects.ts";
import { findPostgresTools, type PostgresTools, runPostgresTool } from "./postgres-tools.ts";

export interface RestoreOptions {
  /**
   * How many tables pg_restore fills and indexes in parallel. With more than one it cannot use a single
   * transaction, so a failure leaves a database that must be created again.
   */
  readonly jobs: number;
}

export interface Restored extends Migrated {
  readonly manifest: Manifest;
}

/**
 * Checks all hashes, then copies the objects, then restores the database in one transaction. The database
 * comes last, so that it is still empty for a repeat after a failure.
 * @throws ExpectedFailure if the backup is not whole or of a later version, the database is not empty, or
 * pg_restore reports any error
 */
export async function restoreBackup(
  target: Source,
  folder: string,
  { jobs }: RestoreOptions,
): Promise<Restored> {
  const from = resolve(folder);
  const manifest = await readManifest(join(from, MANIFEST));
  const tools = await fitTools(target, manifest);
  await assertEmpty(target);
  await checkParts(from, manifest, target.onObjects);
  const organizations = manifest.database.organizations.map(({ id }) => id);
  await restoreObjects(target.store, from, organizations, target.onObjects);
  await makeRoles(target.db);
  await fillDatabase(target, tools, join(from, DUMP), jobs);
  await compareRows(target, manifest);
  return { manifest, ...(await migrate(target.db)) };
}

async function fitTools({ db, cacheDirs }: Source, { database }: Manifest): Promise<PostgresTools> {
  const own = new Set(await ownMigrations());
  const later = database.migrations.filter((name) => !own.has(name));
  if (later.length > 0)
    throw new ExpectedFailure(
      `The backup is from a newer version of Holdfast: it has the migration ${later[0]}. ` +
        "Restore it with that version.",
    );
  const { version } = await describeServer(db);
  const here = Math.floor(version / 10_000);
  const there = Math.floor(database.server_version / 10_000);
  if (here < there)
    throw new ExpectedFailure(
      `The backup is of Postgres ${there}, but this server is ${here}: restore into that version or newer.`,
    );
  return findPostgresTools({ server: here, dump: database.pg_dump }, cacheDirs);
}

async function assertEmpty({ db }: Source): Promise<void> {
  const { hasVectors, taken, isBusy } = await describeServer(db);
  if (isBusy)
    throw new ExpectedFailure(
      "A restore is at work in this database, perhaps of a command that was killed: " +
        "wait until its pg_restore has ended, or end it.",
    );
  // A restore killed between its commit and `migrate` leaves all rows without the rights of a start.
  const wayOut =
    "Restore into a new one; where a restore was killed once its rows were there, " +
    "`holdfast migrate` and `holdfast backup verify --manifest` end it.";
  if (taken.length > 0)
    throw new ExpectedFailure(`The database is not empty: it has ${taken.join(", ")}. ${wayOut}`);
  if (!hasVectors)
    throw new ExpectedFailure("The server has no pgvector: install it for this version of Postgres.");
}

async function checkParts(
  folder: string,
  { database, objects }: Manifest,
  onObjects: (read: number) => void,
): Promise<void> {
  await checkPart(folder, DUMP, database.dump);
  await checkPart(folder, INDEX, objects.index);
  const found: Copied = await checkObjects(folder, onObjects);
  if (found.count !== objects.count || found.bytes !== objects.bytes)
    throw new ExpectedFailure(`${INDEX} has ${found.count} objects, and the manifest ${objects.count}.`);
}

async function checkPart(folder: string, name: string, { bytes, sha256 }: PartFile): Promise<void> {
  const found = await measure(join(folder, name)).catch((error: NodeJS.ErrnoException) => {
    throw new ExpectedFailure(`${join(folder, name)} cannot be read (${error.code ?? "unknown"}).`, error);
  });
  if (found.bytes !== bytes || found.sha256 !== sha256)
    throw new ExpectedFailure(`${join(folder, name)} was changed: its size or hash does not match.`);
}

async function fillDatabase(
  { url }: Source,
  tools: PostgresTools,
  path: string,
  jobs: number,
): Promise<void> {
  const whole = jobs === 1 ? ["--single-transaction"] : [`--jobs=${jobs}`];
  const args = [
    "--exit-on-error",
    "--no-owner",
    "--no-privileges",
    "--no-comments",
    ...whole,
    `--dbname=${decodeURIComponent(new URL(url).pathname.slice(1))}`,
    path,
  ];
  await runPostgresTool(tools, { name: "pg_restore", args, url });
}

/** Called before the schema is migrated, so that tables of later versions are not there yet. */
async function compareRows({ db }: Source, { database }: Manifest): Promise<void> {
  const count = (sql: Sql): Promise<RowCounts> => countAllRows(sql, Object.keys(database.rows));
  const { rows } = await inTransaction(db.owner, count, "begin isolation level repeatable read read only");
  const other = Object.entries(database.rows).filter(([table, saved]) => rows[table] !== saved);
  if (other.length === 0) return;
  const [table, saved] = other[0]!;
  throw new ExpectedFailure(
    `${other.length} tables have other rows than the manifest says: ${table} has ${rows[table] ?? 0}, ` +
      `and not ${saved}. Do not start Holdfast on this database.`,
  );
}
