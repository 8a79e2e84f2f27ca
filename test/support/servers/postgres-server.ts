/** Starts a Postgres of a test's own that has none of Holdfast's roles or tables. */
import { chmod, glob, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { startPostgres } from "../../../src/embedded/servers/postgres.ts";
import { makeDataDir, serverUser } from "../../../src/embedded/servers/server-user.ts";
import { atEnd } from "../run/at-end.ts";
import { type DatabaseEnvironment, databaseEnvironment, withDatabase } from "./database.ts";

/** The settings of `holdfast migrate --create-logins` and of the processes. */
export type OwnedEnvironment = DatabaseEnvironment & { readonly DATABASE_OWNER_URL: string };

export interface NewServer {
  /** Makes an empty database. @returns the settings of all its logins, which may not exist yet. */
  makeDatabase(name: string): Promise<OwnedEnvironment>;
  /** Drops the database and the service's roles, so that the server is like new. */
  forget(name: string): Promise<void>;
  query<Row extends pg.QueryResultRow>(database: string, text: string): Promise<Row[]>;
  close(): Promise<void>;
}

const cacheDir = (): string => process.env["HOLDFAST_TEST_CACHE_DIR"] ?? "";

/** Returns the path of a program of the tests' Postgres, e.g. `pg_dump`. */
export async function postgresTool(name: string): Promise<string> {
  for await (const path of glob(join(cacheDir(), `embedded-postgres-*/**/bin/${name}`))) return path;
  throw new Error(`${name} is not beside the tests' Postgres`);
}

export async function startNewServer(): Promise<NewServer> {
  const dataDir = await mkdtemp(join(process.env["HOLDFAST_TEST_RUN_DIR"] ?? tmpdir(), "holdfast-server-"));
  await chmod(dataDir, 0o711);
  await makeDataDir(dataDir, await serverUser());
  const server = await startPostgres({
    dataDir,
    cacheDir: cacheDir(),
    onProgress: () => undefined,
    sharedBuffersMiB: 64,
    isDurable: false,
  });
  const hasEnded = atEnd(() => server.kill());
  const query = async <Row extends pg.QueryResultRow>(database: string, text: string): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: withDatabase(server.url, database) });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    query,
    async makeDatabase(name) {
      await query("postgres", `create database ${name}`);
      const url = withDatabase(server.url, name);
      return { ...databaseEnvironment(url), DATABASE_OWNER_URL: url };
    },
    async forget(name) {
      await query("postgres", `drop database ${name} with (force)`);
      await query(
        "postgres",
        "drop role holdfast_app; drop role holdfast_system; drop role holdfast_maintenance",
      );
    },
    async close() {
      hasEnded();
      await server.stop();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}
