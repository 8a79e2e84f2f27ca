/** Reads one page of a list: its rows in the order asked for, and how many rows match over all pages. */
import type pg from "pg";
import type { Condition, OrderTerm } from "../domain/requests/conditions.ts";
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
  /** Tables with their joins. */
  readonly from: string;
  /** Holds the organization and what the caller reaches; the filters can only narrow it. */
  readonly where: string;
  /** A text is the list's own order, which must be total. */
  readonly order: string | { readonly terms: readonly OrderTerm[]; readonly fields: FieldColumns };
  readonly params: Parameters;
  readonly filters?: { readonly conditions: readonly Condition[]; readonly fields: FieldColumns };
}

/** Reads one page and counts all rows that match; a page after the last one is empty. */
export async function readPage<Row extends pg.QueryResultRow>(
  sql: Sql,
  query: ListQuery,
  { page, limit }: PageRequest,
): Promise<Page<Row>> {
  const { params } = query;
  const { conditions, fields } = query.filters ?? { conditions: [], fields: {} };
  const filters = filterSql(conditions, fields, params);
  const counted = await sql.query<{ total: number }>(
    `select count(*)::int as total
     from ${query.from}
     where ${query.where}
       and ${filters}`,
    [...params.values],
  );
  const total = counted.rows[0]!.total;
  const offset = (page - 1) * limit;
  if (offset >= total) return { items: [], total };
  const order =
    typeof query.order === "string" ? query.order : orderSql(query.order.terms, query.order.fields, params);
  const { rows } = await sql.query<Row>(
    `select ${query.columns}
     from ${query.from}
     where ${query.where}
       and ${filters}
     order by ${order}
     limit ${params.add(limit)}
     offset ${params.add(offset)}`,
    params.values,
  );
  return { items: rows, total };
}
