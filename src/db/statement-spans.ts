/** Measures the wait for connections, and makes spans of statements by name or verb: no values. */
import type pg from "pg";
import { poolWaits } from "../telemetry/instruments.ts";
import { inSpan, isTracing } from "../telemetry/span.ts";
import type { Sql } from "./sql.ts";

const TABLE = /\b(?:from|into|update|table|call)\s+("?[a-z_][\w.]*)/i;

/** The statement's name, such as `documents.find`, else its verb and first table: `select documents`. */
function summary(query: string | pg.QueryConfig): string {
  if (typeof query !== "string" && query.name !== undefined) return query.name;
  const text = typeof query === "string" ? query : query.text;
  const verb = /^[\s(]*([a-z]+)/i.exec(text)?.[1]?.toLowerCase() ?? "statement";
  const table = TABLE.exec(text)?.[1];
  return table === undefined ? verb : `${verb} ${table}`;
}

/** Runs `work` in a span of the statement if a trace is being recorded. */
export async function inStatementSpan<T>(query: string | pg.QueryConfig, work: () => Promise<T>): Promise<T> {
  if (!isTracing()) return work();
  const operation = summary(query);
  return inSpan(
    `sql ${operation}`,
    { kind: "client", attributes: { "db.system.name": "postgresql", "db.query.summary": operation } },
    work,
  );
}

/** @returns the connection; if a trace is being recorded, one that makes a span of each statement. */
export function observedSql(client: Sql): Sql {
  if (!isTracing()) return client;
  return {
    query: (query: string | pg.QueryConfig, values?: unknown[]) =>
      inStatementSpan(query, () => client.query(query, values)),
  } as Sql;
}

/** Takes a connection from the pool, and measures how long that took. */
export async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  const startedAt = performance.now();
  try {
    return await pool.connect();
  } finally {
    poolWaits.observe({ pool: nameOfPool(pool) }, (performance.now() - startedAt) / 1_000);
  }
}

const POOL_NAMES = new WeakMap<pg.Pool, string>();

export function namePool(pool: pg.Pool, name: string): pg.Pool {
  POOL_NAMES.set(pool, name);
  return pool;
}

function nameOfPool(pool: pg.Pool): string {
  return POOL_NAMES.get(pool) ?? "other";
}
