/** Reads one page of a list by cursors: what comes after one row of it, or before one. */
import type pg from "pg";
import type { Parameters } from "../filter-sql.ts";
import type { Sql } from "../pool.ts";

/** The place of a row in a list that is ordered by time, then by id. */
export interface Cursor {
  readonly created_at: Date;
  readonly id: string;
}

export interface CursorRequest {
  readonly limit: number;
  readonly order: "asc" | "desc";
  readonly after?: Cursor | undefined;
  /** Alone, it asks for the rows right before it. */
  readonly before?: Cursor | undefined;
}

export interface CursorPage<Row> {
  readonly items: Row[];
  readonly hasMore: boolean;
}

interface CursorQuery {
  /** Begins with `with` for common tables. */
  readonly select: string;
  readonly where: string;
  /** The expressions of {@link Cursor}; together they are unique. */
  readonly createdAt: string;
  readonly id: string;
  readonly params: Parameters;
}

export async function readCursorPage<Row extends pg.QueryResultRow>(
  sql: Sql,
  { select, where, createdAt, id, params }: CursorQuery,
  { limit, order, after, before }: CursorRequest,
): Promise<CursorPage<Row>> {
  const isBackwards = before !== undefined && after === undefined;
  const compare = (cursor: Cursor | undefined, sign: string): string =>
    cursor === undefined
      ? "true"
      : `(${createdAt}, ${id}) ${sign} (${params.add(cursor.created_at)}::timestamptz, ${params.add(cursor.id)}::uuid)`;
  const [later, earlier] = order === "asc" ? [">", "<"] : ["<", ">"];
  const direction = (order === "asc") === isBackwards ? "desc" : "asc";
  const { rows } = await sql.query<Row>(
    `${select}
     where ${where}
       and ${compare(after, later)}
       and ${compare(before, earlier)}
     order by ${createdAt} ${direction}, ${id} ${direction}
     limit ${params.add(limit + 1)}`,
    params.values,
  );
  const hasMore = rows.length > limit;
  const items = rows.slice(0, limit);
  return { items: isBackwards ? items.toReversed() : items, hasMore };
}
