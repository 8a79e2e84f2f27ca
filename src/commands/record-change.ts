/** Writes the audit row of a change that a command makes. */
import {
  appendAudit,
  type AuditDetails,
  type AuditEntry,
  appendAuditRowsIn,
  auditRow,
  type ToldEvent,
} from "../db/audit/append.ts";
import type { Sql } from "../db/pool.ts";
import type { Caller } from "./caller.ts";

interface Changed {
  readonly type: string;
  /** Null for a change of several at once, such as all files under a prefix. */
  readonly id: string | null;
  /** None for what belongs to the organization. */
  readonly spaceId?: string | undefined;
  /** The events that the change is; none if others tell of it, or nobody is to be told. */
  readonly events: readonly ToldEvent[];
  /** What was made of it, if it is the source of a copy. */
  readonly target?: AuditDetails["target"];
}

/**
 * Appends the row in the change's own transaction, so that neither exists without the other.
 * @param action subject and verb, such as `agents:create`.
 */
export async function recordChange(
  sql: Sql,
  { principal, requestId }: Caller,
  action: string,
  changed: Changed,
): Promise<void> {
  await appendAudit(sql, principal, entryOf(requestId, action, changed));
}

const ROWS_AT_ONCE = 1_000;

/** As {@link recordChange}, for one change of many things; each gets its row. */
export async function recordChanges(
  sql: Sql,
  { principal, requestId }: Caller,
  action: string,
  changed: readonly Changed[],
): Promise<void> {
  const at = new Date();
  const rows = changed.map((one) => auditRow(principal, entryOf(requestId, action, one), at));
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE)
    await appendAuditRowsIn(sql, rows.slice(from, from + ROWS_AT_ONCE));
}

function entryOf(
  requestId: string,
  action: string,
  { type, id, spaceId, events, target }: Changed,
): AuditEntry {
  return {
    action,
    resource_type: type,
    resource_id: id,
    space_id: spaceId ?? null,
    request_id: requestId,
    outcome: "success",
    events,
    ...(target === undefined ? {} : { details: { target } }),
  };
}
