/** All SQL that reads `audit_log`. */
import type { Condition, OrderTerm } from "../../domain/conditions.ts";
import { type FieldColumns, filterSql, parameters } from "../filter-sql.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import type { Sql } from "../pool.ts";

export interface AuditLogRow {
  readonly id: string;
  readonly at: Date;
  readonly actor: { readonly id: string; readonly name: string | null } | null;
  readonly auth_method: "api_key" | "jwt" | "system";
  readonly api_key_id: string | null;
  readonly action: string;
  readonly resource_type: string;
  readonly resource_id: string | null;
  readonly space_id: string | null;
  readonly request_id: string | null;
  readonly outcome: string;
}

const COLUMNS = `l.id, l.at, case when l.actor_id is not null then jsonb_build_object('id', l.actor_id, 'name', u.name) end as actor, l.auth_method, l.api_key_id,
  l.action, l.resource_type, l.resource_id, l.space_id, l.request_id, l.outcome`;
const TABLES = "audit_log l left join users u on u.id = l.actor_id";

/** `created_at` is what lists are ordered by where nothing is asked for. */
const FIELDS: FieldColumns = {
  id: "l.id",
  created_at: "l.at",
  at: "l.at",
  actor_id: "l.actor_id",
  auth_method: "l.auth_method",
  api_key_id: "l.api_key_id",
  action: "l.action",
  resource_type: "l.resource_type",
  resource_id: "l.resource_id",
  space_id: "l.space_id",
  request_id: "l.request_id",
  outcome: "l.outcome",
};

interface Search {
  readonly filters: readonly Condition[];
  readonly order_by: readonly OrderTerm[];
}

/** A page of the organization's audit log. */
export async function searchAuditLog(
  sql: Sql,
  organizationId: string,
  search: Search,
  page: PageRequest,
): Promise<Page<AuditLogRow>> {
  const filters = { conditions: search.filters, fields: FIELDS };
  return readPage<AuditLogRow>(
    sql,
    {
      columns: COLUMNS,
      from: TABLES,
      where: "l.organization_id = $1",
      order: { terms: search.order_by, fields: FIELDS },
      params: parameters([organizationId]),
      filters,
    },
    page,
  );
}

export interface AuditCursor {
  /** As Postgres prints it, in full precision. */
  readonly at: string;
  readonly id: string;
}

interface AuditRange {
  readonly organizationId: string;
  readonly filters: readonly Condition[];
  readonly descending: boolean;
  /** Rows that were written later are left out, so that an export in ascending order ends. */
  readonly until: Date;
  /** The last row read before; null begins. */
  readonly after: AuditCursor | null;
  readonly limit: number;
}

/** At most `limit` rows in the order of their time, behind `after`, and the cursor behind them; null once nothing follows. */
export async function readAuditLog(
  sql: Sql,
  range: AuditRange,
): Promise<{ rows: AuditLogRow[]; next: AuditCursor | null }> {
  const params = parameters([range.organizationId, range.until]);
  const [comparison, direction] = range.descending ? ["<", "desc"] : [">", "asc"];
  const follows =
    range.after === null
      ? ""
      : `and (l.at, l.id) ${comparison} (${params.add(range.after.at)}::timestamptz, ${params.add(range.after.id)}::uuid)`;
  const { rows } = await sql.query<AuditLogRow & { cursor_at: string }>(
    `select ${COLUMNS}, l.at::text as cursor_at from ${TABLES}
     where l.organization_id = $1 and l.at <= $2 ${follows} and ${filterSql(range.filters, FIELDS, params)}
     order by l.at ${direction}, l.id ${direction} limit ${params.add(range.limit)}`,
    params.values,
  );
  const last = rows.at(-1);
  return {
    rows,
    next: last === undefined || rows.length < range.limit ? null : { at: last.cursor_at, id: last.id },
  };
}
