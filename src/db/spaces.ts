/** All SQL on `spaces` and `space_members`. */
import { newId } from "../domain/ids.ts";
import { type Reach, reachedSpaceIds } from "../domain/principal.ts";
import type { OrganizationKey, Sql } from "./pool.ts";

export interface SpaceRow {
  readonly id: string;
  readonly name: string;
  readonly is_private: boolean;
  readonly owner_id: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const COLUMNS = "id, name, is_private, owner_id, created_at, updated_at";
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

/** A page of the spaces reached, newest first. */
export async function listSpaces(sql: Sql, reach: Reach, page: { readonly limit: number; readonly offset: number }): Promise<{ items: SpaceRow[]; total: number }> {
  const ids = reachedSpaceIds(reach);
  const { rows } = await sql.query<SpaceRow>(`select ${COLUMNS} from spaces where id = any($1) and deleted_at is null order by created_at desc, id desc limit $2 offset $3`, [ids, page.limit, page.offset]);
  const counted = await sql.query<{ total: number }>("select count(*)::int as total from spaces where id = any($1) and deleted_at is null", [ids]);
  return { items: rows, total: counted.rows[0]!.total };
}

/** Undefined where there is none, or none that is reached. */
export async function findSpace(sql: Sql, reach: Reach, id: string): Promise<SpaceRow | undefined> {
  const { rows } = await sql.query<SpaceRow>(`select ${COLUMNS} from spaces where id = $1 and id = any($2) and deleted_at is null`, [id, reachedSpaceIds(reach)]);
  return rows[0];
}
