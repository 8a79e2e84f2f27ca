/** The only place that opens connections to Postgres: one pool for each database role, and the tenant's transaction. */
import pg from "pg";
import { DomainError } from "../domain/errors.ts";
import { connect, inStatementSpan, namePool, observedSql } from "./observed.ts";
import { cutWhenSilent } from "./silent-server.ts";

pg.types.setTypeParser(pg.types.builtins.INT8, (text) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError("a bigint from the database does not fit a number");
  return value;
});

/** What a query function needs: a connection that is in the right transaction already. */
export interface Sql {
  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(query: string | pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult<Row>>;
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
  /** Migrations, provisioning, index builds. */
  readonly owner: pg.Pool;
  close(): Promise<void>;
}

interface PoolSettings {
  readonly url: string;
  readonly poolSize: number;
  readonly onIdleError: (error: Error) => void;
}

const STATEMENT_TIMEOUT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 5_000;

/** Opens no connection before it is needed. `poolSize` bounds the `app` role's connections; the other two hold at most 4 each. */
export function openDatabase(settings: PoolSettings): Database {
  const open = (role: string | null, max: number): pg.Pool => {
    const pool = new pg.Pool({
      connectionString: settings.url,
      max,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      application_name: `holdfast ${role ?? "owner"}`,
      statement_timeout: role === null ? 0 : STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
      ...(role === null ? {} : { options: `-c role=${role}` }),
    });
    // One that is lost between two queries of a transaction tells nobody else, and would end the process; the next query fails.
    pool.on("connect", (client) => client.on("error", () => undefined));
    pool.on("error", (error) => {
      // The client as a whole is no matter for a log.
      Reflect.deleteProperty(error, "client");
      settings.onIdleError(error);
    });
    return pool;
  };
  const pools = { app: namePool(open("holdfast_app", settings.poolSize), "app"), system: namePool(open("holdfast_system", 4), "system"), owner: namePool(open(null, 4), "owner") };
  const stopWatching = cutWhenSilent(settings.url, [pools.app, pools.system]);
  return {
    ...pools,
    async close() {
      stopWatching();
      await Promise.all([pools.app.end(), pools.system.end(), pools.owner.end()]);
    },
  };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Runs `work` in one transaction of the `app` role that sees `organization` alone. Rolls back when `work` throws.
 * @throws DomainError `database_unavailable` where Postgres cannot be reached or goes away.
 */
export async function inTenant<T>(db: Database, organization: OrganizationKey, work: (sql: Sql) => Promise<T>, mode: "" | "isolation level repeatable read" = ""): Promise<T> {
  return inTransaction(db.app, work, `begin ${mode}; select ${asTenant(organization)}`);
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
export async function inTransaction<T>(pool: pg.Pool, work: (sql: Sql, begun: readonly pg.QueryResultRow[]) => Promise<T>, begin = "begin"): Promise<T> {
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
export async function queryOnce<Row extends pg.QueryResultRow>(pool: pg.Pool, query: string | pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult<Row>> {
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
]);
const OUTAGE_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout|Cannot use a pool after calling end)/;

function asDatabaseError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DomainError) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const outage = OUTAGE_CODES.has(code) || code.startsWith("08") || OUTAGE_MESSAGES.test(error.message);
  return outage ? new DomainError("database_unavailable", "The database is not reachable.", { retryAfterSeconds: 2, cause: error }) : error;
}

/** True where `error` is a violation of the unique index or constraint `name`. */
export function violates(error: unknown, name: string): boolean {
  return error instanceof pg.DatabaseError && error.code === "23505" && error.constraint === name;
}
