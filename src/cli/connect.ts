/** The only place where a command finds the database and the master key: by the settings, else those of the embedded start in DATA_DIR. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PEPPER } from "../auth/api-keys.ts";
import { type Config, loadConfig } from "../config.ts";
import { loadInstanceSecret } from "../db/instance-secrets.ts";
import { isMigrated } from "../db/migrate.ts";
import { type Database, openDatabase } from "../db/pool.ts";
import type { MasterKey } from "../storage/keyring.ts";
import { openMasterKey } from "../storage/master-key.ts";
import { CommandError } from "./output.ts";

const POOL_SIZE = 2;
/** Where Postgres writes its port into postmaster.pid. */
const PORT_LINE = 3;

export interface Connection {
  readonly config: Config;
  readonly db: Database;
  readonly masterKey: () => Promise<MasterKey>;
  /** The secret that key hashes are made with. */
  readonly pepper: () => Promise<Buffer>;
  /** The instance secret with that name. */
  readonly secret: (name: string) => Promise<Buffer>;
}

/**
 * Runs `work` with a connection and closes it.
 * @throws CommandError where no database is configured or running, or it lacks migrations.
 */
export async function withDatabase<T>(work: (connection: Connection) => Promise<T>, options: { readonly mayLackMigrations: boolean } = { mayLackMigrations: false }): Promise<T> {
  const config = loadConfig();
  const db = openDatabase({ url: config.database.url ?? (await embeddedUrl(config.dataDir)), poolSize: POOL_SIZE, onIdleError: () => undefined });
  try {
    if (!options.mayLackMigrations) await assertMigrated(db);
    const secret = async (name: string): Promise<Buffer> => loadInstanceSecret(db, name, await masterKey(config));
    return await work({ config, db, secret, masterKey: () => masterKey(config), pepper: () => secret(PEPPER) });
  } finally {
    await db.close();
  }
}

async function assertMigrated(db: Database): Promise<void> {
  const isReady = await isMigrated(db).catch((error: unknown) => {
    // 42P01: the table of migrations does not exist.
    if (error instanceof Error && "code" in error && error.code === "42P01") return false;
    throw error;
  });
  if (!isReady) throw new CommandError("The database lacks migrations of this version: run `holdfast migrate` first.");
}

async function embeddedUrl(dataDir: string): Promise<string> {
  const [password, state] = await Promise.all([readText(join(dataDir, "postgres-password")), readText(join(dataDir, "postgres", "data", "postmaster.pid"))]);
  const port = state?.split("\n")[PORT_LINE];
  if (password === undefined || port === undefined) throw new CommandError(`No database: set DATABASE_URL, or start Holdfast on ${dataDir} (npm start) and run this beside it.`);
  return `postgres://postgres:${password}@127.0.0.1:${port.trim()}/holdfast`;
}

async function masterKey({ keys, dataDir }: Config): Promise<MasterKey> {
  if (keys.master !== undefined || keys.kmsKeyName !== undefined) return openMasterKey(keys);
  const kept = await readText(join(dataDir, "master.key"));
  if (kept === undefined) throw new CommandError("No master key: set MASTER_KEY or KMS_KEY_NAME to that of the running service, or DATA_DIR to its folder.");
  return openMasterKey({ ...keys, master: Buffer.from(kept, "base64") });
}

async function readText(path: string): Promise<string | undefined> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.trim() === "" ? undefined : text.trim();
}
