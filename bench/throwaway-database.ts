/**
 * Gives a bench a database: a new one on a given server, or an embedded server of its own. Both are deleted
 * afterwards.
 */
import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase, openOwner, type RoleName, ROLES } from "../src/db/pool.ts";
import { startPostgres } from "../src/embedded/servers/postgres.ts";
import type { OwnedDatabase } from "../test/support/servers/database.ts";
import { chooseCacheDir, makeDataDir, serverUser } from "../src/embedded/servers/server-user.ts";

export interface ThrowawayDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Opens it as the owner in each role, because the roles of a given server have no password of ours. */
export function openThrowaway(url: string, poolSize: number): OwnedDatabase {
  const ignore = (): void => undefined;
  const as = (role: RoleName): string => {
    const own = new URL(url);
    own.searchParams.set("options", `-c role=${ROLES[role]}`);
    return own.toString();
  };
  const db = openDatabase({
    url: as("app"),
    systemUrl: as("system"),
    maintenanceUrl: as("maintenance"),
    poolSize,
    onIdleError: ignore,
  });
  const owner = openOwner(url, ignore);
  return {
    ...db,
    owner,
    async close() {
      await Promise.all([db.close(), owner.end()]);
    },
  };
}

/** @param admin the URL of a role that may create databases; without it an embedded server is started */
export async function throwawayDatabase(admin: string | undefined): Promise<ThrowawayDatabase> {
  if (admin === undefined) return embeddedServer();
  const name = `bench_${randomBytes(8).toString("hex")}`;
  const run = async (statement: string): Promise<void> => {
    const owner = openOwner(admin, () => undefined);
    try {
      await owner.query(statement);
    } finally {
      await owner.end();
    }
  };
  await run(`create database ${name}`);
  const url = Object.assign(new URL(admin), { pathname: `/${name}` }).toString();
  return { url, drop: () => run(`drop database ${name} with (force)`) };
}

async function embeddedServer(): Promise<ThrowawayDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), "holdfast-bench-"));
  await chmod(dataDir, 0o711);
  const user = await serverUser();
  await makeDataDir(dataDir, user);
  const cacheDir = await chooseCacheDir({ configured: undefined, dataDir, user });
  const postgres = await startPostgres({
    dataDir,
    cacheDir,
    onProgress(line) {
      process.stderr.write(`${line}\n`);
    },
  });
  return {
    url: postgres.url,
    async drop() {
      await postgres.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
