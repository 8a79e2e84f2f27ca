/** The only place that makes the audit row of what a request changed. */
import { appendAudit } from "../db/audit/append.ts";
import type { Sql } from "../db/pool.ts";
import type { Principal } from "../domain/tenancy/principal.ts";
import type { RouteRequest } from "./route.ts";

interface Caller {
  readonly principal: Principal;
  readonly request: Pick<RouteRequest, "id">;
}

interface Changed {
  readonly type: string;
  readonly id: string;
  readonly spaceId?: string | null;
}

/**
 * Runs in the change's own transaction: the row is there exactly where the change is. `action` is in the
 * policy's words: `agents:create`.
 */
export async function auditChange(
  sql: Sql,
  { principal, request }: Caller,
  action: string,
  { type, id, spaceId = null }: Changed,
): Promise<void> {
  await appendAudit(sql, principal, {
    action,
    resource_type: type,
    resource_id: id,
    space_id: spaceId,
    request_id: request.id,
    outcome: "success",
  });
}
