/** Reads and changes the roles that users have in a space. */
import { DomainError } from "../../domain/errors.ts";
import type { SpaceRole } from "../../domain/tenancy/principal.ts";
import { parameters } from "../filter-sql.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import type { OrganizationRef, Sql } from "../pool.ts";

export interface SpaceMemberRow {
  readonly user_id: string;
  readonly email: string;
  readonly name: string;
  readonly role: SpaceRole;
}

const COLUMNS = "member.id as user_id, member.email, member.name, role.role";
const MEMBERS = `
  space_members role
  join users member on member.id = role.user_id and member.removed_at is null`;

/** Lists the members, newest users first. */
export async function listSpaceMembers(
  sql: Sql,
  spaceId: string,
  page: PageRequest,
): Promise<Page<SpaceMemberRow>> {
  return readPage<SpaceMemberRow>(
    sql,
    {
      columns: COLUMNS,
      from: MEMBERS,
      where: "role.space_id = $1",
      order: "member.created_at desc, member.id desc",
      params: parameters([spaceId]),
    },
    page,
  );
}

export async function findSpaceMember(
  sql: Sql,
  spaceId: string,
  userId: string,
): Promise<SpaceMemberRow | undefined> {
  const { rows } = await sql.query<SpaceMemberRow>(
    `select ${COLUMNS}
     from ${MEMBERS}
     where role.space_id = $1
       and role.user_id = $2`,
    [spaceId, userId],
  );
  return rows[0];
}

/** @returns ids of all users who have a role in the space, including those who were removed. */
export async function listSpaceMemberIds(sql: Sql, spaceId: string): Promise<string[]> {
  const { rows } = await sql.query<{ user_id: string }>(
    "select user_id from space_members where space_id = $1",
    [spaceId],
  );
  return rows.map((row) => row.user_id);
}

/**
 * Gives the user the role, whichever the user had. Idempotent. The caller must have locked the space's row.
 * @throws DomainError `bad_request` if no owner would be left.
 */
export async function setSpaceRole(
  sql: Sql,
  organization: OrganizationRef,
  { spaceId, userId, role }: { readonly spaceId: string; readonly userId: string; readonly role: SpaceRole },
): Promise<void> {
  await sql.query(
    `insert into space_members (space_id, user_id, organization_id, role)
     values ($1, $2, $3, $4)
     on conflict (space_id, user_id) do update
     set role = excluded.role`,
    [spaceId, userId, organization.id, role],
  );
  await requireOwner(sql, spaceId);
}

/** The caller must have locked the space's row. @throws DomainError `bad_request` if no owner is left. */
export async function removeSpaceMember(sql: Sql, spaceId: string, userId: string): Promise<void> {
  await sql.query("delete from space_members where space_id = $1 and user_id = $2", [spaceId, userId]);
  await requireOwner(sql, spaceId);
}

async function requireOwner(sql: Sql, spaceId: string): Promise<void> {
  const { rowCount } = await sql.query(
    `select
     from ${MEMBERS}
     where role.space_id = $1
       and role.role = 'owner'
     limit 1`,
    [spaceId],
  );
  if (rowCount === 0) throw new DomainError("last_owner", "A space has at least one owner.");
  await settleOwners(sql, [spaceId]);
}

/** Makes each space's longest-standing owner its owner of record, unless one of its owners is that. */
export async function settleOwners(sql: Sql, spaceIds: readonly string[]): Promise<void> {
  await sql.query(
    `update spaces space
     set owner_id = (
           select role.user_id
           from ${MEMBERS}
           where role.space_id = space.id
             and role.role = 'owner'
           order by member.created_at, member.id
           limit 1
         ),
         updated_at = now()
     where space.id = any($1::uuid[])
       and not exists (
         select
         from space_members role
         where role.space_id = space.id
           and role.user_id = space.owner_id
           and role.role = 'owner'
       )`,
    [spaceIds],
  );
}
