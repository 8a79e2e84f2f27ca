/** What commands share that name a member of the organization. */
import type { Sql } from "../../db/pool.ts";
import { findMember, type MemberRow } from "../../db/tenancy/members.ts";
import { DomainError } from "../../domain/errors.ts";

/** @throws DomainError `not_found` for a user who is no member of the organization. */
export async function requireMember(sql: Sql, organizationId: string, userId: string): Promise<MemberRow> {
  const member = await findMember(sql, organizationId, userId);
  if (member === undefined) throw new DomainError("not_found", "User not found");
  return member;
}
