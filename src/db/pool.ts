/** The only place that opens connections to Postgres: one pool for each login, and the tenant's transaction. */
import pg from "pg";
import { DomainError } from "../domain/errors.ts";
import { ExpectedFailure } from "../domain/expected-failure.ts";
import { connect, inStatementSpan, namePool, observedSql } from "./statement-spans.ts";
import { cutWhenSilent } from "./silent-server.ts";

pg.types.setTypeParser(pg.types.builtins.INT8, (text) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError("a bigint from the database does not fit a number");
  return value;
});

/** What a query function needs: a connection that is in the right transaction already. */
export interface Sql {
  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(
    query: string | pg.QueryConfig,
    values?: unknown[],
  ): Promise<pg.QueryResult<Row>>;
}

export interface OrganizationKey {
  readonly id: string;
  readonly num: number;
}

export interface Database {
  /** Serves tenants; sees only the organization that its transaction names. */
  readonly app: pg.Pool;
  /** Dispatchers and reconcilers; sees bookkeeping of all organizations, no content. */
  readonly system: pg.Pool;
  /**
   * Directories, wrapped keys, the audit chain and indexes of vectors, over all organizations. Workers of the queue `embed` and the command line hold it.
   * @throws MissingLoginError where this process was not given its login.
   */
  readonly maintenance: pg.Pool;
  /** All that this process holds. */
  readonly held: ReadonlyMap<RoleName, pg.Pool>;
  close(): Promise<void>;
}

/** This process was not given the login that the work needs. */
class MissingLoginError extends ExpectedFailure {
  constructor() {
    super("This needs the database login of maintenance: DATABASE_MAINTENANCE_URL is not set.");
    this.name = "MissingLoginError";
  }
}

/** Who owns the schema. `holdfast migrate` alone logs in as it. */
export interface OwnerDatabase {
  readonly owner: pg.Pool;
}

/** The logins of a process. */
export interface DatabaseUrls {
  /** The application's; where `systemUrl` is missing, one that may take on every role, as releases before 0.4 had it. */
  readonly url: string;
  readonly systemUrl?: string | undefined;
  readonly maintenanceUrl?: string | undefined;
}

interface PoolSettings extends DatabaseUrls {
  readonly poolSize: number;
  readonly onIdleError: (error: Error) => void;
}

const STATEMENT_TIMEOUT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 5_000;

/** The roles that `migrations/` gives rights to: each is a login itself, or the one group that a login is a member of. */
export const ROLES = {
  app: "holdfast_app",
  system: "holdfast_system",
  maintenance: "holdfast_maintenance",
} as const;

export type RoleName = keyof typeof ROLES;

interface OpenPool {
  readonly url: string;
  /** Taken on by each connection of a login that may take on more than one. */
  readonly role: string | undefined;
  readonly max: number;
  /** 0: none; an index may take hours to build. */
  readonly statementTimeoutMs: number;
}

function openPool(
  name: RoleName | "owner",
  { url, role, max, statementTimeoutMs }: OpenPool,
  onIdleError: PoolSettings["onIdleError"],
): pg.Pool {
  assertReadable(url);
  const pool = new pg.Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    application_name: `holdfast ${name}`,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    ...(role === undefined ? {} : { options: `-c role=${role}` }),
  });
  // One that is lost between two queries of a transaction tells nobody else, and would end the process; the next query fails.
  pool.on("connect", (client) => client.on("error", () => undefined));
  pool.on("error", (error) => {
    // The client as a whole is no matter for a log.
    Reflect.deleteProperty(error, "client");
    onIdleError(error);
  });
  return namePool(pool, name);
}

/** A URL may name files of certificates, which are read when a client is made: here, and not first in the midst of a request. @throws ExpectedFailure. */
function assertReadable(connectionString: string): void {
  try {
    void new pg.Client({ connectionString });
  } catch (error) {
    throw new ExpectedFailure(
      `A database URL names a file that cannot be read: ${error instanceof Error ? error.message : ""}`,
      error,
    );
  }
}

/** Opens no connection before it is needed. @throws ExpectedFailure where a URL names a file that cannot be read. `poolSize` bounds the application's connections; the others hold at most 4 each. */
export function openDatabase({
  url,
  systemUrl,
  maintenanceUrl,
  poolSize,
  onIdleError,
}: PoolSettings): Database {
  const isShared = systemUrl === undefined;
  const open = (
    name: RoleName,
    poolUrl: string,
    max: number,
    statementTimeoutMs = STATEMENT_TIMEOUT_MS,
  ): pg.Pool =>
    openPool(
      name,
      { url: poolUrl, role: isShared ? ROLES[name] : undefined, max, statementTimeoutMs },
      onIdleError,
    );
  const app = open("app", url, poolSize);
  const system = open("system", systemUrl ?? url, 4);
  const maintenanceLogin = isShared ? url : maintenanceUrl;
  const maintenance =
    maintenanceLogin === undefined ? undefined : open("maintenance", maintenanceLogin, 4, 0);
  const held = new Map<RoleName, pg.Pool>([
    ["app", app],
    ["system", system],
  ]);
  if (maintenance !== undefined) held.set("maintenance", maintenance);
  const stopWatching = cutWhenSilent(url, [...held.values()]);
  return {
    app,
    system,
    held,
    get maintenance() {
      if (maintenance === undefined) throw new MissingLoginError();
      return maintenance;
    },
    async close() {
      stopWatching();
      await Promise.all([...held.values()].map((pool) => pool.end()));
    },
  };
}

/** Opens no connection before it is needed, and at most 4; its statements have no time-out. The caller ends it. */
export function openOwner(url: string, onIdleError: PoolSettings["onIdleError"]): pg.Pool {
  return openPool("owner", { url, role: undefined, max: 4, statementTimeoutMs: 0 }, onIdleError);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** All statements of a transaction see the same state of the database. */
type Snapshot = "isolation level repeatable read";

/**
 * Runs `work` in one transaction of the `app` role that sees `organization` alone. Rolls back if `work` throws.
 * @throws DomainError `database_unavailable` if Postgres cannot be reached or goes away.
 */
export async function inTenant<T>(
  db: Database,
  organization: OrganizationKey,
  work: (sql: Sql) => Promise<T>,
  mode: "" | Snapshot | "read only" | `${Snapshot}, read only` = "",
): Promise<T> {
  return inTransaction(db.app, work, `begin ${mode}; select ${asTenant(organization)}`);
}

/** As {@link inTenant}, for work that only reads: Postgres refuses every statement that writes or locks. */
export async function readTenant<T>(
  db: Database,
  organization: OrganizationKey,
  work: (sql: Sql) => Promise<T>,
  isolation?: Snapshot,
): Promise<T> {
  return inTenant(db, organization, work, isolation ? `${isolation}, read only` : "read only");
}

/** What a `select` at the start of a transaction has in it, for the rest of it to see the organization alone. */
export function asTenant({ id, num }: OrganizationKey): string {
  if (!UUID.test(id) || !Number.isInteger(num)) throw new TypeError("not an organization");
  return `set_config('app.organization_id', '${id}', true), set_config('app.organization_num', '${num}', true)`;
}

/**
 * Runs `work` in one transaction on a connection of `pool`; rolls back when it throws.
 * @param begin one or more statements; `work` is given the rows of the last one.
 * @throws DomainError `database_unavailable` where Postgres cannot be reached or goes away.
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (sql: Sql, begun: readonly pg.QueryResultRow[]) => Promise<T>,
  begin = "begin",
): Promise<T> {
  const client = await connect(pool).catch((error: unknown) => {
    throw asDatabaseError(error);
  });
  let broken: Error | undefined;
  const sql = observedSql(client);
  try {
    // Of several statements there are several results, whatever the type says.
    const results = [await sql.query(begin)].flat();
    const result = await work(sql, results.at(-1)!.rows);
    await sql.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback").catch((rollbackError: Error) => (broken = rollbackError));
    throw asDatabaseError(error);
  } finally {
    client.release(broken);
  }
}

/** One statement outside a transaction, with the same error mapping. */
export async function queryOnce<Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  query: string | pg.QueryConfig,
  values?: unknown[],
): Promise<pg.QueryResult<Row>> {
  try {
    return await inStatementSpan(query, () => pool.query<Row>(query, values));
  } catch (error) {
    throw asDatabaseError(error);
  }
}

const OUTAGE_CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "57P01",
  "57P02",
  "57P03",
  "53300",
  "53100",
  "58030",
  "25P03",
  // A server that takes no writes, as a standby after a failover; a login that is refused, as while its password is changed.
  "25006",
  "28P01",
  "28000",
  // A database that is not there, as before `createdb` or while one is restored.
  "3D000",
]);
const OUTAGE_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout|Cannot use a pool after calling end)/;

function asDatabaseError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DomainError) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const outage = OUTAGE_CODES.has(code) || code.startsWith("08") || OUTAGE_MESSAGES.test(error.message);
  return outage
    ? new DomainError("database_unavailable", "The database is not reachable.", {
        retryAfterSeconds: 2,
        cause: error,
      })
    : error;
}

/** True where `error` is a violation of the unique index or constraint `name`. */
export function violates(error: unknown, name: string): boolean {
  return error instanceof pg.DatabaseError && error.code === "23505" && error.constraint === name;
}
