/** What commands share that name a member of the organization. */
import type { Sql } from "../../db/pool.ts";
import { findMember, type MemberRow } from "../../db/tenancy/members.ts";
import { notFound } from "../../domain/not-found.ts";

/** @throws DomainError `not_found` for a user who is no member of the organization. */
export async function requireMember(sql: Sql, organizationId: string, userId: string): Promise<MemberRow> {
  const member = await findMember(sql, organizationId, userId);
  if (member === undefined) throw notFound("user");
  return member;
}
