/** How commands find the database and the master key: by the settings, else in DATA_DIR. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PEPPER } from "../auth/api-keys.ts";
import { type Config, loadConfig } from "../config/config.ts";
import { loadInstanceSecret } from "../db/instance/secrets.ts";
import { assertSchema } from "../db/migrate.ts";
import { type Database, type DatabaseUrls, type OwnerDatabase, openDatabase, openOwner } from "../db/pool.ts";
import type { MasterKey } from "../domain/tenancy/wrapped-keys.ts";
import { loginUrls } from "../embedded/servers/database-urls.ts";
import { loginPasswords } from "../embedded/secret-file.ts";
import { openMasterKey } from "../storage/keys/master-key.ts";
import { CommandError } from "./output.ts";

const POOL_SIZE = 2;
const PORT_LINE = 3;

export interface Connection {
  readonly config: Config;
  readonly db: Database;
  readonly masterKey: () => Promise<MasterKey>;
  /** The secret for hashes of API keys. */
  readonly pepper: () => Promise<Buffer>;
  readonly secret: (name: string) => Promise<Buffer>;
}

/**
 * Runs `work` with a connection and closes it.
 * @throws CommandError if no database is configured or running, ExpectedFailure if it lacks migrations,
 * policies or rights
 */
export async function withDatabase<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
  const config = loadConfig();
  const db = await openConfigured(config);
  try {
    await assertSchema(db);
    const secret = async (name: string): Promise<Buffer> =>
      loadInstanceSecret(db, name, await configuredMasterKey(config));
    return await work({
      config,
      db,
      secret,
      masterKey: () => configuredMasterKey(config),
      pepper: () => secret(PEPPER),
    });
  } finally {
    await db.close();
  }
}

/** Runs `work` as the schema's owner. @throws CommandError without that login or an embedded database */
export async function withOwner<T>(
  work: (db: OwnerDatabase, config: Config, ownerUrl: string) => Promise<T>,
): Promise<T> {
  const config = loadConfig();
  const { url, ownerUrl } = config.database;
  if (ownerUrl === undefined && url !== undefined)
    throw new CommandError(
      "Set DATABASE_OWNER_URL: DATABASE_URL is the application's login, which cannot change the schema.",
    );
  const own = ownerUrl ?? (await embeddedOwnerUrl(config.dataDir));
  const owner = openOwner(own, () => undefined);
  try {
    return await work({ owner }, config, own);
  } finally {
    await owner.end();
  }
}

/**
 * Opens the database of the settings or of the embedded start. It connects when first used; the caller closes
 * it.
 * @throws CommandError if there is none
 */
export async function openConfigured(config: Config): Promise<Database> {
  return openDatabase({ ...(await databaseUrls(config)), poolSize: POOL_SIZE, onIdleError: () => undefined });
}

/** The URLs of the settings, else of the embedded database. */
async function databaseUrls({ database, dataDir }: Config): Promise<DatabaseUrls> {
  const { url, systemUrl, maintenanceUrl } = database;
  if (url !== undefined && systemUrl === undefined)
    throw new CommandError("Also set DATABASE_SYSTEM_URL: DATABASE_URL is the application's login.");
  if (url !== undefined && systemUrl !== undefined) return { url, systemUrl, maintenanceUrl };
  const ownerUrl = await embeddedOwnerUrl(dataDir);
  const { app, system, maintenance } = loginUrls(ownerUrl, await loginPasswords(dataDir));
  return { url: app, systemUrl: system, maintenanceUrl: maintenance };
}

async function embeddedOwnerUrl(dataDir: string): Promise<string> {
  const [password, state] = await Promise.all([
    readText(join(dataDir, "postgres-password")),
    readText(join(dataDir, "postgres", "data", "postmaster.pid")),
  ]);
  const port = state?.split("\n")[PORT_LINE];
  if (password === undefined || port === undefined)
    throw new CommandError(
      `No database: set DATABASE_URL, or start Holdfast on ${dataDir} (npm start) and run this while it is running.`,
    );
  return `postgres://postgres:${password}@127.0.0.1:${port.trim()}/holdfast`;
}

/** The master key of the settings or of the embedded start. @throws CommandError if there is none */
export async function configuredMasterKey({ keys, dataDir }: Config): Promise<MasterKey> {
  if (keys.master !== undefined || keys.kmsKeyName !== undefined) return openMasterKey(keys);
  const kept = await readText(join(dataDir, "master.key"));
  if (kept === undefined)
    throw new CommandError(
      "No master key: set MASTER_KEY or KMS_KEY_NAME as for the running service, " +
        "or DATA_DIR to its folder.",
    );
  return openMasterKey({ ...keys, master: Buffer.from(kept, "base64") });
}

async function readText(path: string): Promise<string | undefined> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.trim() === "" ? undefined : text.trim();
}
