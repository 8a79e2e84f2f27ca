/** All SQL on `spaces` and `space_members`. */
import { newId } from "../domain/ids.ts";
import { type Reach, reachedSpaceIds } from "../domain/principal.ts";
import type { Condition, OrderTerm } from "../schema/filters.ts";
import { type FieldColumns, parameters } from "./filter-sql.ts";
import { type Page, type PageRequest, readPage } from "./page.ts";
import type { OrganizationKey, Sql } from "./pool.ts";

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

/** Makes the user's private space where there is none. Callers at the same time make one. @returns whether this call made it. */
export async function ensurePrivateSpace(sql: Sql, organization: OrganizationKey, userId: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `with made as (
       insert into spaces (id, organization_id, name, is_private, owner_id) values ($1, $2, $3, true, $4)
       on conflict (owner_id) where is_private and deleted_at is null do nothing returning id)
     insert into space_members (space_id, user_id, organization_id, role) select id, $4, $2, 'owner' from made`,
    [newId(), organization.id, PRIVATE_NAME, userId],
  );
  return rowCount === 1;
}

const FIELDS: FieldColumns = { id: "s.id", name: "s.name", is_private: "s.is_private", owner_id: "s.owner_id", organization_id: "s.organization_id", created_at: "s.created_at", updated_at: "s.updated_at" };

/** A page of the spaces reached that the conditions let through. */
export async function searchSpaces(sql: Sql, reach: Reach, search: { readonly filters: readonly Condition[]; readonly order_by: readonly OrderTerm[] }, page: PageRequest): Promise<Page<SpaceRow>> {
  const params = parameters([reachedSpaceIds(reach)]);
  const filters = { conditions: search.filters, fields: FIELDS };
  return readPage<SpaceRow>(sql, { columns: COLUMNS, from: "spaces s", where: "s.id = any($1::uuid[]) and s.deleted_at is null", order: { terms: search.order_by, fields: FIELDS }, params, filters }, page);
}

/** Undefined where there is none, or none that is reached. */
export async function findSpace(sql: Sql, reach: Reach, id: string): Promise<SpaceRow | undefined> {
  const { rows } = await sql.query<SpaceRow>(`select ${COLUMNS} from spaces where id = $1 and id = any($2) and deleted_at is null`, [id, reachedSpaceIds(reach)]);
  return rows[0];
}

/** Every live space that the user has a role in. */
export async function listSpacesOfUser(sql: Sql, userId: string): Promise<Pick<SpaceRow, "id" | "name" | "is_private">[]> {
  const { rows } = await sql.query<Pick<SpaceRow, "id" | "name" | "is_private">>(
    "select s.id, s.name, s.is_private from space_members m join spaces s on s.id = m.space_id and s.deleted_at is null where m.user_id = $1 order by s.id",
    [userId],
  );
  return rows;
}
