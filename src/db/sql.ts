/** What every query function is given, and how an organization is named to the database. */
import type pg from "pg";

/** A connection, usually inside a transaction that the caller has begun. */
export interface Sql {
  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(
    query: string | pg.QueryConfig,
    values?: unknown[],
  ): Promise<pg.QueryResult<Row>>;
}

/** Whether the rows that are found are also locked until the transaction ends. */
export interface Locking {
  readonly lock?: boolean;
}

/** The organization whose rows a transaction sees. */
export interface OrganizationRef {
  readonly id: string;
  /** Small, so that it can be part of the keys of large tables. */
  readonly num: number;
}
