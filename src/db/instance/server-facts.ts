/** What the Postgres server says of itself, for `holdfast doctor`. */
import { type Database, queryOnce } from "../pool.ts";

export interface ServerFacts {
  /** As 180006 of 18.6. */
  readonly versionNumber: number;
  readonly version: string;
  /** Null where the database lacks the extension. */
  readonly pgvector: string | null;
}

/** @throws DomainError `database_unavailable`. */
export async function readServerFacts(db: Database): Promise<ServerFacts> {
  const { rows } = await queryOnce<ServerFacts>(
    db.app,
    `select current_setting('server_version_num')::int as "versionNumber", split_part(current_setting('server_version'), ' ', 1) as version,
       (select extversion from pg_extension where extname = 'vector') as pgvector`,
  );
  return rows[0]!;
}

/** Seconds that the server's clock is ahead of this machine's; the way there and back counts half. @throws DomainError `database_unavailable`. */
export async function clockAhead(db: Database): Promise<number> {
  const before = Date.now();
  const { rows } = await queryOnce<{ now: number }>(
    db.app,
    "select extract(epoch from clock_timestamp())::float8 as now",
  );
  return rows[0]!.now - (before + Date.now()) / 2_000;
}

/**
 * One statement as each login that the process holds.
 * @returns the names of those that cannot log in, with what they met. @throws what the first one met, where none can.
 */
export async function tryLogins(
  db: Database,
): Promise<{ held: string[]; refused: { name: string; error: unknown }[] }> {
  const tried = await Promise.all(
    [...db.held].map(async ([name, pool]) => ({
      name,
      error: await queryOnce(pool, "select 1").then(
        () => undefined,
        (error: unknown) => error,
      ),
    })),
  );
  if (tried.every(({ error }) => error !== undefined)) throw tried[0]!.error;
  return {
    held: tried.map(({ name }) => name),
    refused: tried.flatMap(({ name, error }) =>
      error === undefined ? [] : [{ name, error: causeOf(error) }],
    ),
  };
}

/** What Postgres said, without what it comes to for callers. */
function causeOf(error: unknown): unknown {
  return error instanceof Error ? (error.cause ?? error) : error;
}
