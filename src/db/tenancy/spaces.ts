/** Makes, finds, lists and renames spaces. Their deletion is in `db/deletions`. */
import type { Condition, OrderTerm } from "../../domain/requests/conditions.ts";
import { newId } from "../../domain/ids.ts";
import { type Reach, reachedSpaceIds } from "../../domain/tenancy/principal.ts";
import { type FieldColumns, parameters } from "../filter-sql.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import type { Locking, OrganizationRef, Sql } from "../sql.ts";
import { unlessTaken } from "../unique-names.ts";

export interface SpaceRow {
  readonly id: string;
  readonly name: string;
  readonly is_private: boolean;
  readonly owner_id: string;
  readonly organization_id: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const COLUMNS = "id, name, is_private, owner_id, organization_id, created_at, updated_at";
const PRIVATE_NAME = "Private";

/** Makes the user's private space if there is none. Idempotent. @returns whether this call made it. */
export async function ensurePrivateSpace(
  sql: Sql,
  organization: OrganizationRef,
  userId: string,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `with made as (
       insert into spaces (id, organization_id, name, is_private, owner_id)
       values ($1, $2, $3, true, $4)
       on conflict (owner_id) where is_private and deleted_at is null do nothing
       returning id
     )
     insert into space_members (space_id, user_id, organization_id, role)
     select id, $4, $2, 'owner'
     from made`,
    [newId(), organization.id, PRIVATE_NAME, userId],
  );
  return rowCount === 1;
}

const FIELDS: FieldColumns = {
  id: "s.id",
  name: "s.name",
  is_private: "s.is_private",
  owner_id: "s.owner_id",
  organization_id: "s.organization_id",
  created_at: "s.created_at",
  updated_at: "s.updated_at",
};

/** Lists the spaces that the caller reaches and that match the filters. */
export async function searchSpaces(
  sql: Sql,
  reach: Reach,
  search: { readonly filters: readonly Condition[]; readonly order_by: readonly OrderTerm[] },
  page: PageRequest,
): Promise<Page<SpaceRow>> {
  const params = parameters([reachedSpaceIds(reach)]);
  const filters = { conditions: search.filters, fields: FIELDS };
  return readPage<SpaceRow>(
    sql,
    {
      columns: COLUMNS,
      from: "spaces s",
      where: "s.id = any($1::uuid[]) and s.deleted_at is null",
      order: { terms: search.order_by, fields: FIELDS },
      params,
      filters,
    },
    page,
  );
}

export async function listSpacesOfUser(
  sql: Sql,
  userId: string,
): Promise<Pick<SpaceRow, "id" | "name" | "is_private">[]> {
  const { rows } = await sql.query<Pick<SpaceRow, "id" | "name" | "is_private">>(
    `select space.id, space.name, space.is_private
     from space_members member
     join spaces space on space.id = member.space_id and space.deleted_at is null
     where member.user_id = $1
     order by space.id`,
    [userId],
  );
  return rows;
}

/**
 * Finds a space, whether or not the caller may see it: that is for `auth/policy.ts` to decide. With `lock`,
 * one transaction at a time changes the space's roles.
 */
export async function findSpaceOfOrganization(
  sql: Sql,
  organizationId: string,
  id: string,
  { lock = false }: Locking = {},
): Promise<SpaceRow | undefined> {
  const { rows } = await sql.query<SpaceRow>(
    `select ${COLUMNS}
     from spaces
     where id = $1
       and organization_id = $2
       and deleted_at is null
     ${lock ? "for no key update" : ""}`,
    [id, organizationId],
  );
  return rows[0];
}

/** Makes a shared space with the user as owner. @throws DomainError `bad_request` if the name is taken. */
export async function insertSpace(
  sql: Sql,
  organization: OrganizationRef,
  userId: string,
  name: string,
): Promise<SpaceRow> {
  const { rows } = await unlessName(
    sql.query<SpaceRow>(
      `with made as (
         insert into spaces (id, organization_id, name, owner_id)
         values ($1, $2, $3, $4)
         returning ${COLUMNS}
       ), owner as (
         insert into space_members (space_id, user_id, organization_id, role)
         select id, $4, $2, 'owner'
         from made
       )
       select ${COLUMNS}
       from made`,
      [newId(), organization.id, name, userId],
    ),
  );
  return rows[0]!;
}

/** Renames the space. @throws DomainError `bad_request` if the organization has a shared one of that name. */
export async function renameSpace(sql: Sql, id: string, name: string): Promise<SpaceRow> {
  const { rows } = await unlessName(
    sql.query<SpaceRow>(
      `update spaces
       set name = $2,
           updated_at = now()
       where id = $1
       returning ${COLUMNS}`,
      [id, name],
    ),
  );
  return rows[0]!;
}

function unlessName<T>(statement: Promise<T>): Promise<T> {
  return unlessTaken(
    "spaces_organization_id_lower_idx",
    "The organization already has a space with this name.",
    statement,
  );
}
