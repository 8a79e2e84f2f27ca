/** What the Postgres server says of itself, for `holdfast doctor`. */
import { type Database, queryOnce } from "./pool.ts";

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
  const { rows } = await queryOnce<{ now: number }>(db.app, "select extract(epoch from clock_timestamp())::float8 as now");
  return rows[0]!.now - (before + Date.now()) / 2_000;
}

/**
 * Tables with rows of organizations that no policy guards; the catalogue shows them to any login.
 * @returns their names, at most 100. @throws DomainError `database_unavailable`.
 */
export async function tablesWithoutPolicy(db: Database): Promise<string[]> {
  const { rows } = await queryOnce<{ name: string }>(
    db.app,
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
       and not (c.relrowsecurity and exists (select from pg_policy p where p.polrelid = c.oid)) order by 1 limit 100`,
  );
  return rows.map(({ name }) => name);
}

/**
 * One statement as each login that the process holds.
 * @returns the names of those that cannot log in, with why. @throws what the first one met, where none can.
 */
export async function tryLogins(db: Database): Promise<{ held: string[]; refused: { name: string; why: string }[] }> {
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
  return { held: tried.map(({ name }) => name), refused: tried.flatMap(({ name, error }) => (error === undefined ? [] : [{ name, why: innermost(error) }])) };
}

function innermost(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}
