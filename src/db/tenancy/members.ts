/** Reads and changes the members of an organization: its users who were not removed. */
import { DomainError } from "../../domain/errors.ts";
import { notFound } from "../../domain/not-found.ts";
import type { OrganizationRole } from "../../domain/tenancy/principal.ts";
import { parameters } from "../filter-sql.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import type { OrganizationRef, Sql } from "../pool.ts";
import { settleOwners } from "./space-members.ts";
import { unlessTaken } from "../unique-names.ts";
import { cancelTurnsOfUser } from "../turns/ledger.ts";

export interface MemberRow {
  readonly user_id: string;
  readonly email: string;
  readonly name: string;
  readonly role: OrganizationRole;
  readonly avatar_url: string | null;
  readonly created_at: Date;
}

const COLUMNS = `
  member.id as user_id,
  member.email,
  member.name,
  member.role,
  member.avatar_url,
  member.created_at`;
const ARE_MEMBERS = "member.organization_id = $1 and member.removed_at is null";

/** Lists the members, newest first. */
export async function listMembers(
  sql: Sql,
  organizationId: string,
  page: PageRequest,
): Promise<Page<MemberRow>> {
  return readPage<MemberRow>(
    sql,
    {
      columns: COLUMNS,
      from: "users member",
      where: ARE_MEMBERS,
      order: "member.created_at desc, member.id desc",
      params: parameters([organizationId]),
    },
    page,
  );
}

export async function findMember(
  sql: Sql,
  organizationId: string,
  userId: string,
): Promise<MemberRow | undefined> {
  const { rows } = await sql.query<MemberRow>(
    `select ${COLUMNS}
     from users member
     where ${ARE_MEMBERS}
       and member.id = $2`,
    [organizationId, userId],
  );
  return rows[0];
}

/** Lets one transaction at a time change members, so that two admins cannot remove each other. */
export async function lockMembers(sql: Sql, organizationId: string): Promise<void> {
  await sql.query("select pg_advisory_xact_lock(hashtextextended('members ' || $1::text, 0))", [
    organizationId,
  ]);
}

/** Needs {@link lockMembers}. @throws DomainError `bad_request` if nobody but `userId` is an admin. */
export async function requireAnotherAdmin(sql: Sql, organizationId: string, userId: string): Promise<void> {
  if ((await firstAdmin(sql, organizationId, userId)) === undefined)
    throw new DomainError("last_admin", "An organization keeps at least one admin.");
}

interface MemberFields {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: OrganizationRole;
}

const EMAIL_STAYS =
  "The e-mail address of somebody who never logged in, or was removed, cannot be changed: " +
  "the private space would pass to somebody else. Add them under a new id.";

/**
 * Makes or changes a member. A user who was removed comes back, without the keys and roles of before.
 *
 * A new address of a user who has logged in must be confirmed by a login with it. Until then, a user who is
 * removed can come back only under the last confirmed address.
 * @returns whether the user was no member before.
 * @throws DomainError `bad_request` if the e-mail address is in use, or would let somebody else log in to the
 *   user's private space; `not_found` if the id belongs to a user of another organization.
 */
export async function putMember(
  sql: Sql,
  organization: OrganizationRef,
  { id, email, name, role }: MemberFields,
): Promise<boolean> {
  const values = [id, organization.id, email, name, role];
  const before = await lockUser(sql, organization, { id, email });
  if (before !== undefined) {
    if (!before.is_bound && !before.is_same_email && (await hasOrMayMakePrivateSpace(sql, id)))
      throw new DomainError("bad_request", EMAIL_STAYS);
    await unlessEmail(
      sql.query(
        `update users
         set email = $3,
             name = $4,
             role = $5,
             removed_at = null,
             confirmed_email = case
               when subject is not null and lower(coalesce(confirmed_email, email)) <> lower($3)
                 then coalesce(confirmed_email, email)
             end
         where id = $1
           and organization_id = $2`,
        values,
      ),
    );
    return before.was_removed;
  }
  const inserted = await unlessEmail(
    sql.query(
      `insert into users (id, organization_id, email, name, role)
       values ($1, $2, $3, $4, $5)
       on conflict (id) do nothing`,
      values,
    ),
  );
  if (inserted.rowCount === 0) throw notFound("user");
  return true;
}

interface UserBefore {
  /** Whether a login has bound the subject of a token to the user. */
  readonly is_bound: boolean;
  readonly was_removed: boolean;
  /** Whether the address is the last one that was confirmed. */
  readonly is_same_email: boolean;
}

/** Locks the user: until the transaction ends nobody binds a subject to it, nor makes it a space or a key. */
async function lockUser(
  sql: Sql,
  organization: OrganizationRef,
  { id, email }: Pick<MemberFields, "id" | "email">,
): Promise<UserBefore | undefined> {
  const { rows } = await sql.query<UserBefore>(
    `select subject is not null as is_bound,
            removed_at is not null as was_removed,
            lower(coalesce(confirmed_email, email)) = lower($3) as is_same_email
     from users
     where id = $1
       and organization_id = $2
     for update`,
    [id, organization.id, email],
  );
  return rows[0];
}

/** A key that the user or the operator made creates the private space when it is first used. */
async function hasOrMayMakePrivateSpace(sql: Sql, userId: string): Promise<boolean> {
  const { rows } = await sql.query<{ answer: boolean }>(
    `select exists (
       select
       from spaces
       where owner_id = $1
         and is_private
         and deleted_at is null
     ) or exists (
       select
       from api_keys
       where user_id = $1
         and revoked_at is null
         and (expires_at is null or expires_at > now())
         and (created_by is null or created_by = user_id)
     ) as answer`,
    [userId],
  );
  return rows[0]!.answer;
}

function unlessEmail<T>(statement: Promise<T>): Promise<T> {
  return unlessTaken("users_lower_idx", "This e-mail address is in use already.", statement);
}

/**
 * Removes a member: keys are revoked, running turns cancelled, roles in shared spaces end, and spaces without
 * another owner pass to the admin who has been in the organization for longest. The private space stays as it
 * is. Needs {@link lockMembers} and {@link requireAnotherAdmin}.
 * @returns the ids of the keys.
 */
export async function removeMember(
  sql: Sql,
  organization: OrganizationRef,
  userId: string,
): Promise<readonly string[]> {
  const heir = await firstAdmin(sql, organization.id, userId);
  const { rows } = await sql.query<{ id: string }>(
    `select id
     from spaces
     where not is_private
       and deleted_at is null
       and (owner_id = $1 or id in (select space_id from space_members where user_id = $1))
     order by id
     for no key update`,
    [userId],
  );
  const spaceIds = rows.map((row) => row.id);
  await sql.query(
    `update users
     set removed_at = now(),
         subject = null
     where id = $1`,
    [userId],
  );
  const revoked = await sql.query<{ id: string }>(
    `update api_keys
     set revoked_at = now()
     where user_id = $1
       and revoked_at is null
     returning id`,
    [userId],
  );
  await cancelTurnsOfUser(sql, organization.id, userId);
  await sql.query(
    `delete from space_members member
     using spaces space
     where member.user_id = $1
       and space.id = member.space_id
       and not space.is_private`,
    [userId],
  );
  await sql.query(
    `insert into space_members (space_id, user_id, organization_id, role)
     select id, $2, $3, 'owner'
     from unnest($1::uuid[]) as left_spaces (id)
     where not exists (
       select
       from space_members member
       where member.space_id = left_spaces.id
         and member.role = 'owner'
     )
     on conflict (space_id, user_id) do update
     set role = 'owner'`,
    [spaceIds, heir, organization.id],
  );
  await settleOwners(sql, spaceIds);
  return revoked.rows.map((key) => key.id);
}

async function firstAdmin(
  sql: Sql,
  organizationId: string,
  exceptUserId: string,
): Promise<string | undefined> {
  const { rows } = await sql.query<{ id: string }>(
    `select member.id
     from users member
     where ${ARE_MEMBERS}
       and member.role = 'admin'
       and member.id <> $2
     order by member.created_at, member.id
     limit 1`,
    [organizationId, exceptUserId],
  );
  return rows[0]?.id;
}
