/** Makes a backup: a dump of one snapshot of the database, then the objects, then the manifest. */
import { chmod, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { countAllRows, describeServer, type RowCounts } from "../db/transfer/backup-rows.ts";
import { inTransaction, type OwnerDatabase, type Sql } from "../db/pool.ts";
import { ExpectedFailure } from "../domain/expected-failure.ts";
import { syncFolder } from "../storage/stores/directory.ts";
import { watchDisk } from "../storage/disk-space.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { Manifest } from "../schema/files/backup.ts";
import { DUMP, INDEX, measure, newManifest, writeManifest } from "./manifest.ts";
import { saveObjects } from "./objects.ts";
import { roomBeside, whileRoom } from "./room.ts";
import { findPostgresTools, type PostgresTools, runPostgresTool } from "./postgres-tools.ts";

export interface Source {
  readonly db: OwnerDatabase;
  /** The owner's URL, for pg_dump. */
  readonly url: string;
  readonly store: ObjectStore;
  /** The cache of `npm start`, whose Postgres programs are used if PATH has none that fit. */
  readonly cacheDirs: readonly string[];
  readonly onObjects: (copied: number) => void;
  /** The disk that the service writes to, and what must stay free on it. */
  readonly dataDir: string;
  readonly floorBytes: number;
}

/** pg_dump and the counts read this one snapshot, which would time out during a long dump otherwise. */
const ONE_MOMENT =
  "begin isolation level repeatable read read only; " +
  "set local idle_in_transaction_session_timeout = 0; " +
  "select pg_export_snapshot() as snapshot, now() as at";
const LOCK_TIMEOUT = "60s";

/**
 * Makes the backup in `folder`, which must be empty or not exist. Everything is written under another name
 * and renamed at the end, so a failure leaves nothing. The service may run meanwhile; documents that are
 * deleted while this runs may lack their objects in it.
 * @throws ExpectedFailure if the folder is not empty, no pg_dump fits the server, or it fails
 * @see test/cli/commands/backup.own-stack.test.ts
 */
export async function createBackup(source: Source, folder: string): Promise<Manifest> {
  const target = resolve(folder);
  await refuseFilled(target);
  const { version } = await describeServer(source.db);
  const tools = await findPostgresTools({ server: Math.floor(version / 10_000) }, source.cacheDirs);
  const scratch = await mkdtemp(`${target}.partial-`).catch((error: NodeJS.ErrnoException) => {
    throw new ExpectedFailure(`Cannot write to ${dirname(target)} (${error.code ?? "unknown"}).`, error);
  });
  try {
    const assertRoom = await roomBeside(
      scratch,
      source.dataDir,
      watchDisk({ folders: { backup: scratch }, floorBytes: source.floorBytes }),
    );
    const { at, counts, migrations } = await whileRoom(assertRoom, (signal) =>
      saveDatabase(source, tools, { folder: scratch, signal }),
    );
    const objects = await saveObjects(
      source.store,
      scratch,
      counts.organizations.map(({ id }) => id),
      { onCopied: source.onObjects, assertRoom },
    );
    const manifest = newManifest({
      made_at: at.toISOString(),
      database: {
        dump: await measure(join(scratch, DUMP)),
        server_version: version,
        pg_dump: tools.major,
        migrations,
        ...counts,
      },
      objects: { index: await measure(join(scratch, INDEX)), ...objects },
    });
    await writeManifest(scratch, manifest);
    await rename(scratch, target);
    await syncFolder(dirname(target));
    return manifest;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function refuseFilled(folder: string): Promise<void> {
  const entries = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new ExpectedFailure(`${folder} is not a readable folder (${error.code ?? "unknown"}).`, error);
  });
  if (entries.length > 0)
    throw new ExpectedFailure(`${folder} is not empty: choose a folder that does not exist yet.`);
}

interface SavedDatabase {
  readonly at: Date;
  readonly counts: RowCounts;
  readonly migrations: string[];
}

async function saveDatabase(
  { db, url }: Source,
  tools: PostgresTools,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
): Promise<SavedDatabase> {
  const work = async (sql: Sql, begun: readonly Record<string, unknown>[]): Promise<SavedDatabase> => {
    const { snapshot, at } = begun[0] as { snapshot: string; at: Date };
    const path = join(folder, DUMP);
    const args = [
      "--format=custom",
      "--no-owner",
      "--no-privileges",
      "--no-comments",
      "--no-publications",
      "--no-subscriptions",
      "--no-unlogged-table-data",
    ];
    const dumped = runPostgresTool(tools, {
      name: "pg_dump",
      args: [
        ...args,
        "--extension=vector",
        `--snapshot=${snapshot}`,
        `--lock-wait-timeout=${LOCK_TIMEOUT}`,
        `--file=${path}`,
      ],
      url,
      signal,
    });
    // The snapshot must stay open until pg_dump has ended, whichever of the two fails first.
    const [dump, counted] = await Promise.allSettled([dumped, countIn(sql)]);
    if (dump.status === "rejected") throw dump.reason;
    if (counted.status === "rejected") throw counted.reason;
    await chmod(path, 0o600);
    return { at, ...counted.value };
  };
  return inTransaction(db.owner, work, ONE_MOMENT);
}

async function countIn(sql: Sql): Promise<Omit<SavedDatabase, "at">> {
  const counts = await countAllRows(sql);
  const { rows } = await sql.query<{ name: string }>("select name from migrations order by name");
  return { counts, migrations: rows.map(({ name }) => name) };
}
