/** Asks the Postgres server about itself, for `holdfast doctor`. */
import { type Database, queryOnce } from "../pool.ts";

export interface ServerFacts {
  /** As Postgres counts: 180006 is 18.6. */
  readonly versionNumber: number;
  readonly version: string;
  /** The version of the extension; null if the database lacks it. */
  readonly pgvector: string | null;
}

/** @throws DomainError `database_unavailable`. */
export async function readServerFacts(db: Database): Promise<ServerFacts> {
  const { rows } = await queryOnce<ServerFacts>(
    db.app,
    `select current_setting('server_version_num')::int as "versionNumber",
            split_part(current_setting('server_version'), ' ', 1) as version,
            (select extversion from pg_extension where extname = 'vector') as pgvector`,
  );
  return rows[0]!;
}

/**
 * Asks for the server's clock, and assumes that the answer took as long as the question.
 * @returns by how many seconds it is ahead of this machine's; negative if it is behind.
 * @throws DomainError `database_unavailable`.
 */
export async function clockAhead(db: Database): Promise<number> {
  const before = Date.now();
  const { rows } = await queryOnce<{ now: number }>(
    db.app,
    "select extract(epoch from clock_timestamp())::float8 as now",
  );
  return rows[0]!.now - (before + Date.now()) / 2_000;
}

/**
 * Runs one statement with each login that the process was given.
 * @returns the names of all, and of those that cannot log in with their errors.
 * @throws the error of the first one if none can log in.
 */
export async function tryLogins(
  db: Database,
): Promise<{ names: string[]; refused: { name: string; error: unknown }[] }> {
  const tried = await Promise.all(
    [...db.pools].map(async ([name, pool]) => ({
      name,
      error: await queryOnce(pool, "select 1").then(
        () => undefined,
        (error: unknown) => error,
      ),
    })),
  );
  if (tried.every(({ error }) => error !== undefined)) throw tried[0]!.error;
  return {
    names: tried.map(({ name }) => name),
    refused: tried.flatMap(({ name, error }) =>
      error === undefined ? [] : [{ name, error: causeOf(error) }],
    ),
  };
}

/** @returns what Postgres said, instead of the error that callers of the API see. */
function causeOf(error: unknown): unknown {
  return error instanceof Error ? (error.cause ?? error) : error;
}
