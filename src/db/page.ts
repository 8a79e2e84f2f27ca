/** How a page of any list is read: its rows and the total behind them, in the order asked for. */
import type pg from "pg";
import type { Condition, OrderTerm } from "../domain/conditions.ts";
import { type FieldColumns, type Parameters, filterSql, orderSql } from "./filter-sql.ts";
import type { Sql } from "./pool.ts";

export interface PageRequest {
  /** From 1. */
  readonly page: number;
  readonly limit: number;
}

export interface Page<Row> {
  readonly items: Row[];
  /** Over all pages. */
  readonly total: number;
}

interface ListQuery {
  readonly columns: string;
  /** With its joins, and with the predicate of tenant and reach in `where`. */
  readonly from: string;
  readonly where: string;
  /** Where `order` is a text, it is the list's own and total. */
  readonly order: string | { readonly terms: readonly OrderTerm[]; readonly fields: FieldColumns };
  readonly params: Parameters;
  readonly filters?: { readonly conditions: readonly Condition[]; readonly fields: FieldColumns };
}

/** Reads one page and counts what matches; a page past the end is empty. */
export async function readPage<Row extends pg.QueryResultRow>(
  sql: Sql,
  query: ListQuery,
  { page, limit }: PageRequest,
): Promise<Page<Row>> {
  const { params } = query;
  const filtered =
    query.filters === undefined
      ? ""
      : ` and ${filterSql(query.filters.conditions, query.filters.fields, params)}`;
  const body = `from ${query.from} where ${query.where}${filtered}`;
  const counted = await sql.query<{ total: number }>(`select count(*)::int as total ${body}`, [
    ...params.values,
  ]);
  const total = counted.rows[0]!.total;
  const offset = (page - 1) * limit;
  if (offset >= total) return { items: [], total };
  const order =
    typeof query.order === "string" ? query.order : orderSql(query.order.terms, query.order.fields, params);
  const { rows } = await sql.query<Row>(
    `select ${query.columns} ${body} order by ${order} limit ${params.add(limit)} offset ${params.add(offset)}`,
    params.values,
  );
  return { items: rows, total };
}
