/** All SQL that reads and changes folders, except their deletion. */
import { type Reach, reachedSpaceIds } from "../domain/principal.ts";
import type { Sql } from "./pool.ts";

export interface FolderRow {
  readonly id: string;
  readonly name: string;
  readonly parent_folder_id: string | null;
  readonly org_id: string;
  readonly home_space_id: string;
  readonly from_system: boolean;
  readonly created_by: { id: string; name: string; avatar_url: string | null } | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const COLUMNS = `f.id, f.name, f.parent_folder_id, f.organization_id as org_id, f.space_id as home_space_id, f.from_system,
  case when u.id is not null then jsonb_build_object('id', u.id, 'name', u.name, 'avatar_url', u.avatar_url) end as created_by, f.created_at, f.updated_at`;
const TABLES = "folders f left join users u on u.id = f.created_by";

/** The folder, where it lives and its space is reached. */
export async function findFolder(sql: Sql, reach: Reach, id: string): Promise<FolderRow | undefined> {
  const { rows } = await sql.query<FolderRow>(`select ${COLUMNS} from ${TABLES} where f.id = $2 and f.space_id = any($1::uuid[]) and f.deleted_at is null`, [reachedSpaceIds(reach), id]);
  return rows[0];
}
