/** Checks that no more responses are kept for a user or an organization than may be. */
import { DomainError } from "../../domain/errors.ts";
import type { Sql } from "../pool.ts";

export interface ResponseQuotas {
  /** Sealed bytes of what is kept for one user. */
  readonly bytesPerUser: number;
  /** Undefined means no bound. */
  readonly bytesPerOrganization: number | undefined;
}

/**
 * Checks that `bytes` more may be kept. Until the transaction ends, others that keep something for this user
 * wait, and all of the organization if that has a quota: what one has checked, the next one counts.
 * @throws DomainError `response_quota_exceeded`.
 */
export async function requireRoomForResponse(
  sql: Sql,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
  bytes: number,
  { bytesPerUser, bytesPerOrganization }: ResponseQuotas,
): Promise<void> {
  const { rows } = await sql.query<{ bytes: number }>(
    `insert into response_usage as kept (organization_id, user_id, bytes)
     values ($1, $2, 0)
     on conflict (organization_id, user_id) do update
     set bytes = kept.bytes
     returning bytes`,
    [organizationId, userId],
  );
  if (rows[0]!.bytes + bytes > bytesPerUser) throw exceeded(`the user's quota of ${bytesPerUser} bytes`);
  if (bytesPerOrganization === undefined) return;
  await sql.query("select pg_advisory_xact_lock(hashtextextended('response quota ' || $1::text, 0))", [
    organizationId,
  ]);
  const { rows: all } = await sql.query<{ bytes: number }>(
    `select coalesce(sum(bytes), 0)::bigint as bytes
     from response_usage
     where organization_id = $1`,
    [organizationId],
  );
  if (all[0]!.bytes + bytes > bytesPerOrganization)
    throw exceeded(`the organization's quota of ${bytesPerOrganization} bytes`);
}

function exceeded(quota: string): DomainError {
  return new DomainError(
    "response_quota_exceeded",
    `Keeping the response would exceed ${quota}: delete responses, or send \`store: false\`.`,
  );
}
