/** All SQL on the members of an organization: its users who were not removed. */
import { DomainError } from "../domain/errors.ts";
import type { OrganizationRole } from "../domain/principal.ts";
import { parameters } from "./filter-sql.ts";
import { type Page, type PageRequest, readPage } from "./page.ts";
import type { OrganizationKey, Sql } from "./pool.ts";
import { settleOwners } from "./space-members.ts";
import { unlessTaken } from "./taken.ts";
import { cancelTurnsOfUser } from "./turns.ts";

export interface MemberRow {
  readonly user_id: string;
  readonly email: string;
  readonly name: string;
  readonly role: OrganizationRole;
  readonly avatar_url: string | null;
  readonly created_at: Date;
}

const COLUMNS = "u.id as user_id, u.email, u.name, u.role, u.avatar_url, u.created_at";
const ARE_MEMBERS = "u.organization_id = $1 and u.removed_at is null";

/** A page of the members, newest first. */
export async function listMembers(sql: Sql, organizationId: string, page: PageRequest): Promise<Page<MemberRow>> {
  return readPage<MemberRow>(sql, { columns: COLUMNS, from: "users u", where: ARE_MEMBERS, order: "u.created_at desc, u.id desc", params: parameters([organizationId]) }, page);
}

export async function findMember(sql: Sql, organizationId: string, userId: string): Promise<MemberRow | undefined> {
  const { rows } = await sql.query<MemberRow>(`select ${COLUMNS} from users u where ${ARE_MEMBERS} and u.id = $2`, [organizationId, userId]);
  return rows[0];
}

/** Lets one transaction at a time change who is in the organization, so that two admins cannot remove one another. */
export async function lockMembers(sql: Sql, organizationId: string): Promise<void> {
  await sql.query("select pg_advisory_xact_lock(hashtextextended('members ' || $1::text, 0))", [organizationId]);
}

/** @throws DomainError `bad_request` where nobody but `userId` is an admin. Needs {@link lockMembers}. */
export async function requireAnotherAdmin(sql: Sql, organizationId: string, userId: string): Promise<void> {
  if ((await firstAdmin(sql, organizationId, userId)) === undefined) throw new DomainError("bad_request", "An organization keeps at least one admin.");
}

interface MemberFields {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: OrganizationRole;
}

/**
 * Makes or changes a member; a user who was removed comes back, without the keys and roles of before.
 * @returns whether they were no member before. @throws DomainError `bad_request` where the e-mail address is in use, `not_found`
 * where the id is a user's of another organization.
 */
export async function putMember(sql: Sql, organization: OrganizationKey, { id, email, name, role }: MemberFields): Promise<boolean> {
  const values = [id, organization.id, email, name, role];
  const { rows } = await unlessEmail(
    sql.query<{ was_removed: boolean }>(
      `update users u set email = $3, name = $4, role = $5, removed_at = null from users before
       where u.id = $1 and u.organization_id = $2 and before.id = u.id returning before.removed_at is not null as was_removed`,
      values,
    ),
  );
  if (rows[0] !== undefined) return rows[0].was_removed;
  const inserted = await unlessEmail(sql.query("insert into users (id, organization_id, email, name, role) values ($1, $2, $3, $4, $5) on conflict (id) do nothing", values));
  if (inserted.rowCount === 0) throw new DomainError("not_found", "User not found");
  return true;
}

function unlessEmail<T>(statement: Promise<T>): Promise<T> {
  return unlessTaken("users_lower_idx", "This e-mail address is in use already.", statement);
}

/**
 * Removes a member: keys are revoked, running turns cancelled, roles in shared spaces end, and spaces without another owner pass to the
 * organization's first admin. The private space stays as it is. Needs {@link lockMembers} and another admin.
 */
export async function removeMember(sql: Sql, organization: OrganizationKey, userId: string): Promise<void> {
  const heir = await firstAdmin(sql, organization.id, userId);
  const { rows } = await sql.query<{ id: string }>(
    `select id from spaces where not is_private and deleted_at is null
       and (owner_id = $1 or id in (select space_id from space_members where user_id = $1)) order by id for no key update`,
    [userId],
  );
  const spaceIds = rows.map((row) => row.id);
  await sql.query("update users set removed_at = now(), subject = null where id = $1", [userId]);
  await sql.query("update api_keys set revoked_at = now() where user_id = $1 and revoked_at is null", [userId]);
  await cancelTurnsOfUser(sql, organization.id, userId);
  await sql.query("delete from space_members m using spaces s where m.user_id = $1 and s.id = m.space_id and not s.is_private", [userId]);
  await sql.query(
    `insert into space_members (space_id, user_id, organization_id, role)
     select id, $2, $3, 'owner' from unnest($1::uuid[]) as left_spaces (id)
     where not exists (select from space_members m where m.space_id = left_spaces.id and m.role = 'owner')
     on conflict (space_id, user_id) do update set role = 'owner'`,
    [spaceIds, heir, organization.id],
  );
  await settleOwners(sql, spaceIds);
}

async function firstAdmin(sql: Sql, organizationId: string, exceptUserId: string): Promise<string | undefined> {
  const { rows } = await sql.query<{ id: string }>(`select u.id from users u where ${ARE_MEMBERS} and u.role = 'admin' and u.id <> $2 order by u.created_at, u.id limit 1`, [
    organizationId,
    exceptUserId,
  ]);
  return rows[0]?.id;
}
