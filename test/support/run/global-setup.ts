/**
 * Starts a real Postgres and a real Temporal in a folder of their own, independent of other servers on the
 * machine.
 */
import { chmod, mkdtemp, rm, statfs } from "node:fs/promises";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Postgres, startPostgres } from "../../../src/embedded/servers/postgres.ts";
import { chooseCacheDir, makeDataDir, serverUser } from "../../../src/embedded/servers/server-user.ts";
import { type Temporal, startTemporal } from "../../../src/embedded/servers/temporal.ts";
import { makeLogins } from "../../../src/db/instance/logins.ts";
import { migrate } from "../../../src/db/migrate.ts";
import { type OwnerDatabase, openOwner } from "../../../src/db/pool.ts";
import { atEnd } from "./at-end.ts";
import { TEMPLATE_DATABASE, loginUrlsOf, withDatabase } from "../servers/database.ts";
import { freePort } from "../../../src/embedded/ports.ts";

const onProgress = (line: string): void => void process.stderr.write(`${line}\n`);

/** The run's servers, for tests that take them away. */
export interface RunningParts {
  stop(): Promise<void>;
  /** Kills Postgres as the loss of its machine would, and starts it again at the same address. */
  killPostgres(): Promise<void>;
  restartPostgres(): Promise<void>;
  /** Starts a Temporal that keeps everything in memory, and puts its address into the environment. */
  startTemporal(): Promise<Temporal>;
}

/** Starts both for benches and other callers that are not a test run. */
export default async function setup(): Promise<() => Promise<void>> {
  const parts = await startParts({ isDurable: false });
  const temporal = await parts.startTemporal();
  return async () => {
    await temporal.stop();
    await parts.stop();
  };
}

/**
 * Starts Postgres and puts the addresses into the variables HOLDFAST_TEST_* of the environment. Without
 * `isDurable`, a Postgres that is killed may lose its last commits; that is faster, and enough for tests that
 * never kill it.
 */
export async function startParts({
  isDurable,
  folder = tmpdir(),
}: {
  readonly isDurable: boolean;
  readonly folder?: string;
}): Promise<RunningParts> {
  const dataDir = await mkdtemp(join(folder, "holdfast-test-"));
  await chmod(dataDir, 0o711);
  const user = await serverUser();
  await makeDataDir(dataDir, user);
  const cacheDir = await chooseCacheDir({ configured: process.env["HOLDFAST_CACHE"], dataDir, user });
  const options = { dataDir, cacheDir, onProgress };
  const port = await freePort();
  const openPostgres = (): Promise<Postgres> =>
    startPostgres({ ...options, port, sharedBuffersMiB: 512, isDurable });
  let postgres = await openPostgres();
  let temporal: Temporal | undefined;
  const hasEnded = atEnd(() => {
    postgres.kill();
    temporal?.kill();
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
  });
  const stop = async (): Promise<void> => {
    hasEnded();
    await postgres.stop();
    // Processes that are ending may still write to the compile cache.
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  try {
    await makeTemplate(postgres.url);
  } catch (error) {
    await stop();
    throw error;
  }
  process.env["HOLDFAST_TEST_DATABASE_URL"] = postgres.url;
  process.env["HOLDFAST_TEST_CACHE_DIR"] = cacheDir;
  process.env["HOLDFAST_TEST_RUN_DIR"] = dataDir;
  // Most of the processor time of a starting process is spent on compiling its code, and a test run starts
  // more than a hundred processes.
  process.env["NODE_COMPILE_CACHE"] ??= join(dataDir, "compiled");
  return {
    stop,
    async killPostgres() {
      postgres.kill();
      await postgres.exited;
    },
    async restartPostgres() {
      postgres = await openPostgres();
    },
    async startTemporal() {
      temporal = await startTemporal({
        ...options,
        port: await freePort(),
        uiPort: await freePort(),
        inMemory: true,
        hasUi: false,
      });
      process.env["HOLDFAST_TEST_TEMPORAL_ADDRESS"] = temporal.address;
      return temporal;
    },
  };
}

const GIBIBYTE = 1024 ** 3;

/**
 * Returns a folder in memory if there is plenty; not for benches, which measure disks too. A run of the tests
 * makes and drops more than a hundred databases of hundreds of files, and ext4 looks for an inode longer the
 * more of them were freed within the last minute: tests that need only Postgres take twice as long on it.
 * @see https://elixir.bootlin.com/linux/v6.12/source/fs/ext4/ialloc.c `recently_deleted`
 */
export async function quickFolder(): Promise<string> {
  const shared = await statfs("/dev/shm").catch(() => undefined);
  const hasRoom =
    shared !== undefined &&
    shared.bavail * shared.bsize > 4 * GIBIBYTE &&
    process.availableMemory() > 8 * GIBIBYTE;
  return hasRoom ? "/dev/shm" : tmpdir();
}

/**
 * Makes the migrated database that test databases are copied from. Its roles, which all databases of the
 * server share, may log in.
 */
async function makeTemplate(adminUrl: string): Promise<void> {
  await asOwner(adminUrl, ({ owner }) => owner.query(`create database ${TEMPLATE_DATABASE}`));
  await asOwner(withDatabase(adminUrl, TEMPLATE_DATABASE), async (template) => {
    await migrate(template);
    await makeLogins(template, loginUrlsOf(adminUrl));
  });
}

async function asOwner(url: string, work: (db: OwnerDatabase) => Promise<unknown>): Promise<void> {
  const owner = openOwner(url, () => undefined);
  try {
    await work({ owner });
  } finally {
    await owner.end();
  }
}
