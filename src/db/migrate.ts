/** The only place that changes the database's schema: applies migrations/NNNN_*.sql in order, each once. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Database, type OwnerDatabase, inTransaction, queryOnce } from "./pool.ts";

const FOLDER = join(import.meta.dirname, "migrations");

/**
 * Brings the schema up to date, in one transaction under a lock, so that several processes may call it at once.
 * @returns the names of the migrations that it applied.
 */
export async function migrate(db: OwnerDatabase): Promise<string[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith(".sql")).toSorted();
  return inTransaction(db.owner, async (sql) => {
    await sql.query("select pg_advisory_xact_lock(hashtext('holdfast migrations'))");
    await sql.query("create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())");
    const applied = new Set((await sql.query<{ name: string }>("select name from migrations")).rows.map((row) => row.name));
    const missing = names.filter((name) => !applied.has(name));
    for (const name of missing) {
      await sql.query(await readFile(join(FOLDER, name), "utf8"));
      await sql.query("insert into migrations (name) values ($1)", [name]);
    }
    return missing;
  });
}

/** True where every migration of this build has been applied. */
export async function isMigrated(db: Database): Promise<boolean> {
  return (await compareMigrations(db)).missing.length === 0;
}

/** How the database stands to this build: what it lacks, and what a newer version has applied to it. */
export async function compareMigrations(db: Database): Promise<{ missing: string[]; newer: string[] }> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith(".sql")).toSorted();
  const { rows } = await queryOnce<{ name: string }>(db.app, "select name from migrations order by name limit 10000");
  const applied = new Set(rows.map(({ name }) => name));
  return { missing: names.filter((name) => !applied.has(name)), newer: [...applied].filter((name) => !names.includes(name)) };
}
