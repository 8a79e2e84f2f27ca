/** Makes a back-up: the database as one snapshot shows it, then the objects, then the manifest. */
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
  /** The owner's, for pg_dump. */
  readonly url: string;
  readonly store: ObjectStore;
  /** Where `npm start` may keep a Postgres of its own, whose programs are used where PATH has none that fit. */
  readonly cacheDirs: readonly string[];
  readonly onObjects: (copied: number) => void;
  /** Where the service writes, and what must stay free there. */
  readonly dataDir: string;
  readonly floorBytes: number;
}

/** All that pg_dump and the counts see is of one moment; the time-out of a transaction that waits would end it before a long dump does. */
const ONE_MOMENT =
  "begin isolation level repeatable read read only; set local idle_in_transaction_session_timeout = 0; select pg_export_snapshot() as snapshot, now() as at";
const LOCK_TIMEOUT = "60s";

/**
 * Makes `folder`, which must not exist or be empty, whole or not at all: everything is written beside it and renamed at the end.
 * Documents that are deleted while it runs may lack their objects in it. The service may go on meanwhile.
 * @throws ExpectedFailure where the folder is not empty, no pg_dump suits the server, or it fails.
 */
export async function createBackup(source: Source, folder: string): Promise<Manifest> {
  const target = resolve(folder);
  await refuseFilled(target);
  const { version } = await describeServer(source.db);
  const tools = await findPostgresTools({ server: Math.floor(version / 10_000) }, source.cacheDirs);
  const scratch = await mkdtemp(`${target}.partial-`).catch((error: NodeJS.ErrnoException) => {
    throw new ExpectedFailure(
      `Nothing can be written in ${dirname(target)} (${error.code ?? "unknown"}).`,
      error,
    );
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
    throw new ExpectedFailure(`${folder} is no folder that can be read (${error.code ?? "unknown"}).`, error);
  });
  if (entries.length > 0)
    throw new ExpectedFailure(`${folder} is not empty: name a folder that is not there yet.`);
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
    // Whichever fails first, the snapshot is not left before pg_dump is done with it.
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
