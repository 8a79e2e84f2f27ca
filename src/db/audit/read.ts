/** Reads the audit log of an organization, in pages or as a whole. */
import type { Condition, OrderTerm } from "../../domain/requests/conditions.ts";
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
  readonly code: string | null;
  readonly route: string | null;
  readonly count: number;
  readonly target: { readonly type: string; readonly id: string; readonly space_id: string } | null;
}

/** The details that stand behind an outcome, in its column: see `auditRow` in append.ts. */
const DETAILS = "substring(entry.outcome from ' ([{].+)$')::jsonb";

const COLUMNS = `
  entry.id,
  entry.at,
  case when entry.actor_id is not null
    then jsonb_build_object('id', entry.actor_id, 'name', actor.name)
  end as actor,
  entry.auth_method,
  entry.api_key_id,
  entry.action,
  entry.resource_type,
  entry.resource_id,
  entry.space_id,
  entry.request_id,
  split_part(entry.outcome, ' ', 1) as outcome,
  ${DETAILS} ->> 'code' as code,
  ${DETAILS} ->> 'route' as route,
  coalesce((${DETAILS} ->> 'count')::int, 1) as count,
  ${DETAILS} -> 'target' as target`;
const TABLES = "audit_log entry left join users actor on actor.id = entry.actor_id";

/** `created_at` is here because lists are ordered by it if nothing else is asked for. */
const FIELDS: FieldColumns = {
  id: "entry.id",
  created_at: "entry.at",
  at: "entry.at",
  actor_id: "entry.actor_id",
  auth_method: "entry.auth_method",
  api_key_id: "entry.api_key_id",
  action: "entry.action",
  resource_type: "entry.resource_type",
  resource_id: "entry.resource_id",
  space_id: "entry.space_id",
  request_id: "entry.request_id",
  outcome: "split_part(entry.outcome, ' ', 1)",
  code: `(${DETAILS} ->> 'code')`,
  route: `(${DETAILS} ->> 'route')`,
};

/** Reads one page of the organization's audit log, newest first if no order is given. */
export async function searchAuditLog(
  sql: Sql,
  organizationId: string,
  search: { readonly filters: readonly Condition[]; readonly order_by: readonly OrderTerm[] },
  page: PageRequest,
): Promise<Page<AuditLogRow>> {
  const filters = { conditions: search.filters, fields: FIELDS };
  return readPage<AuditLogRow>(
    sql,
    {
      columns: COLUMNS,
      from: TABLES,
      where: "entry.organization_id = $1",
      order: { terms: search.order_by, fields: FIELDS },
      params: parameters([organizationId]),
      filters,
    },
    page,
  );
}

export interface AuditCursor {
  /** A time as Postgres prints it, because a Date would cut off its microseconds. */
  readonly at: string;
  readonly id: string;
}

interface AuditRange {
  readonly organizationId: string;
  readonly filters: readonly Condition[];
  readonly descending: boolean;
  /** Later rows are left out, so that an export in ascending order ends. */
  readonly until: Date;
  /** The last row that was read before; null for the first call. */
  readonly after: AuditCursor | null;
  readonly limit: number;
}

/** The two orders of an export: what follows the cursor ($3, $4), and a cursor before the first row. */
const ORDERS = {
  oldestFirst: {
    follows: "(entry.at, entry.id) > ($3::timestamptz, $4::uuid)",
    order: "entry.at asc, entry.id asc",
    beginning: { at: "-infinity", id: "00000000-0000-0000-0000-000000000000" },
  },
  newestFirst: {
    follows: "(entry.at, entry.id) < ($3::timestamptz, $4::uuid)",
    order: "entry.at desc, entry.id desc",
    beginning: { at: "infinity", id: "ffffffff-ffff-ffff-ffff-ffffffffffff" },
  },
} as const;

/** Reads at most `limit` rows after `after`, by time. @returns them and the next cursor; null: no more. */
export async function readAuditLog(
  sql: Sql,
  range: AuditRange,
): Promise<{ rows: AuditLogRow[]; next: AuditCursor | null }> {
  const { follows, order, beginning } = range.descending ? ORDERS.newestFirst : ORDERS.oldestFirst;
  const after = range.after ?? beginning;
  const params = parameters([range.organizationId, range.until, after.at, after.id, range.limit]);
  const { rows } = await sql.query<AuditLogRow & { cursor_at: string }>(
    `select ${COLUMNS}, entry.at::text as cursor_at
     from ${TABLES}
     where entry.organization_id = $1
       and entry.at <= $2
       and ${follows}
       and ${filterSql(range.filters, FIELDS, params)}
     order by ${order}
     limit $5`,
    params.values,
  );
  const last = rows.at(-1);
  return {
    rows,
    next: last === undefined || rows.length < range.limit ? null : { at: last.cursor_at, id: last.id },
  };
}
