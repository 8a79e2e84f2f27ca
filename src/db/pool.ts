/** Opens one pool of connections for each login, and runs statements and transactions on them. */
import pg from "pg";
import { ExpectedFailure } from "../domain/expected-failure.ts";
import { isUuid } from "../domain/ids.ts";
import { forgetNoted, setTenantOf, tellNoted } from "./events/noted.ts";
import { CONNECT_TIMEOUT_MS, STATEMENT_TIMEOUT_MS, asDatabaseError, noteAnswer } from "./outages.ts";
import { cutWhenSilent } from "./silent-server.ts";
import type { OrganizationRef, Sql } from "./sql.ts";
import { connect, inStatementSpan, namePool, observedSql } from "./statement-spans.ts";

export type { OrganizationRef, Sql } from "./sql.ts";

pg.types.setTypeParser(pg.types.builtins.INT8, (text) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError("a bigint from the database does not fit a number");
  return value;
});

/** The pools of a process, one for each login that it was given. */
export interface Database {
  /** Serves tenants; a transaction sees the one organization that it names. */
  readonly app: pg.Pool;
  /** For dispatchers and reconcilers: sees the bookkeeping of all organizations, but no content. */
  readonly system: pg.Pool;
  /**
   * Sees directories, wrapped keys, the audit chain and vector indexes of all organizations. The command line
   * has it, and workers of the queue `embed`.
   * @throws MissingLoginError if this process was not given its login.
   */
  readonly maintenance: pg.Pool;
  /** Every pool that this process opened. */
  readonly pools: ReadonlyMap<RoleName, pg.Pool>;
  close(): Promise<void>;
}

/** This process was not given the login that the work needs. */
class MissingLoginError extends ExpectedFailure {
  constructor() {
    super("This needs the database login of maintenance: DATABASE_MAINTENANCE_URL is not set.");
    this.name = "MissingLoginError";
  }
}

/** The login that owns the schema: for `holdfast migrate`, and to make and restore backups. */
export interface OwnerDatabase {
  readonly owner: pg.Pool;
}

/** The logins of a process. */
export interface DatabaseUrls {
  /** The application's. */
  readonly url: string;
  readonly systemUrl: string;
  readonly maintenanceUrl?: string | undefined;
}

interface PoolSettings extends DatabaseUrls {
  readonly poolSize: number;
  readonly onIdleError: (error: Error) => void;
}

const IDLE_TIMEOUT_MS = 60_000;

/** Connections of each login but the application's. */
const OTHER_POOL_SIZE = 4;

/** The roles that rights are given to. A login is one of them, or a member of exactly one. */
export const ROLES = {
  app: "holdfast_app",
  system: "holdfast_system",
  maintenance: "holdfast_maintenance",
} as const;

export type RoleName = keyof typeof ROLES;

interface OpenPool {
  readonly url: string;
  readonly max: number;
  /** 0 means none: an index may take hours to build. */
  readonly statementTimeoutMs: number;
}

function openPool(
  name: RoleName | "owner",
  { url, max, statementTimeoutMs }: OpenPool,
  onIdleError: PoolSettings["onIdleError"],
): pg.Pool {
  assertReadable(url);
  const pool = new pg.Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    keepAlive: true,
    application_name: `holdfast ${name}`,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
  });
  // A connection that is lost between two queries of a transaction emits an error that nobody else listens
  // to, which would end the process. The next query fails anyway.
  pool.on("connect", (client) => client.on("error", () => undefined));
  pool.on("error", (error) => {
    // A log has no use for the whole client.
    Reflect.deleteProperty(error, "client");
    onIdleError(error);
  });
  return namePool(pool, name);
}

/** Reads a URL's certificates now, not in the first request. @throws ExpectedFailure if it cannot. */
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

/**
 * Opens the pools; connections are made when they are first needed. `poolSize` bounds those of the
 * application, the other logins have at most 4 each.
 * @throws ExpectedFailure if a URL names a file that cannot be read.
 */
export function openDatabase({
  url,
  systemUrl,
  maintenanceUrl,
  poolSize,
  onIdleError,
}: PoolSettings): Database {
  const open = (
    name: RoleName,
    poolUrl: string,
    max: number,
    statementTimeoutMs = STATEMENT_TIMEOUT_MS,
  ): pg.Pool => openPool(name, { url: poolUrl, max, statementTimeoutMs }, onIdleError);
  const app = open("app", url, poolSize);
  const system = open("system", systemUrl, OTHER_POOL_SIZE);
  const maintenance =
    maintenanceUrl === undefined ? undefined : open("maintenance", maintenanceUrl, OTHER_POOL_SIZE, 0);
  const pools = new Map<RoleName, pg.Pool>([
    ["app", app],
    ["system", system],
  ]);
  if (maintenance !== undefined) pools.set("maintenance", maintenance);
  const stopWatching = cutWhenSilent(url, [...pools.values()]);
  return {
    app,
    system,
    pools,
    get maintenance() {
      if (maintenance === undefined) throw new MissingLoginError();
      return maintenance;
    },
    async close() {
      stopWatching();
      await Promise.all([...pools.values()].map((pool) => pool.end()));
    },
  };
}

/** Opens the owner's pool: at most 4 connections, without a time-out for statements. The caller ends it. */
export function openOwner(url: string, onIdleError: PoolSettings["onIdleError"]): pg.Pool {
  return openPool("owner", { url, max: OTHER_POOL_SIZE, statementTimeoutMs: 0 }, onIdleError);
}

/** All statements of a transaction see the same state of the database. */
type Snapshot = "isolation level repeatable read";

/**
 * Runs `work` in one transaction of the application's role that sees the rows of `organization` and no
 * others. Rolls back if `work` throws.
 * @throws DomainError `database_unavailable` if Postgres cannot be reached or goes away.
 * @see test/db/tenant-wall.database.test.ts
 * @example
 * const space = await inTenant(db, organization, (sql) =>
 *   insertSpace(sql, organization, userId, "Contracts"),
 * );
 */
export async function inTenant<T>(
  db: Database,
  organization: OrganizationRef,
  work: (sql: Sql) => Promise<T>,
  mode: "" | Snapshot | "read only" | `${Snapshot}, read only` = "",
): Promise<T> {
  const begin = `begin ${mode}; select ${asTenant(organization)}`;
  return inTransaction(
    db.app,
    (sql) => {
      setTenantOf(sql, organization.id);
      return work(sql);
    },
    begin,
  );
}

/** Like {@link inTenant}, for work that only reads: Postgres refuses every statement that writes or locks. */
export async function readTenant<T>(
  db: Database,
  organization: OrganizationRef,
  work: (sql: Sql) => Promise<T>,
  isolation?: Snapshot,
): Promise<T> {
  return inTenant(db, organization, work, isolation ? `${isolation}, read only` : "read only");
}

/** The expressions that a transaction's first `select` needs, so that the rest sees one organization. */
export function asTenant({ id, num }: OrganizationRef): string {
  // They become part of the text of a statement: `begin; select …` takes no parameters.
  if (!isUuid(id) || !Number.isInteger(num)) throw new TypeError("not an organization");
  return (
    `set_config('app.organization_id', '${id}', true), ` +
    `set_config('app.organization_num', '${num}', true)`
  );
}

/**
 * Runs `work` in one transaction on a connection of `pool`; rolls back if it throws.
 * @param begin one or more statements; `work` is given the rows of the last one.
 * @throws DomainError `database_unavailable` if Postgres cannot be reached or goes away.
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
    // Several statements give several results, although the type says one.
    const results = [await sql.query(begin)].flat();
    noteAnswer();
    const result = await work(sql, results.at(-1)!.rows);
    await sql.query("commit");
    noteAnswer();
    tellNoted(pool, sql);
    return result;
  } catch (error) {
    await client.query("rollback").catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    throw asDatabaseError(error, begin.includes("read only"));
  } finally {
    forgetNoted(sql);
    client.release(broken);
  }
}

/** Runs one statement outside a transaction. @throws DomainError `database_unavailable` without Postgres. */
export async function queryOnce<Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  query: string | pg.QueryConfig,
  values?: unknown[],
): Promise<pg.QueryResult<Row>> {
  try {
    const result = await inStatementSpan(query, () => pool.query<Row>(query, values));
    noteAnswer();
    return result;
  } catch (error) {
    throw asDatabaseError(error);
  }
}

/** Whether `error` is a violation of the unique index or constraint `name`. */
export function violates(error: unknown, name: string): boolean {
  return error instanceof pg.DatabaseError && error.code === "23505" && error.constraint === name;
}
