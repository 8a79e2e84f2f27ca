/** All SQL that reads and changes folders, except their deletion. */
import { DomainError } from "../../domain/errors.ts";
import { type Reach, reachedSpaceIds } from "../../domain/tenancy/principal.ts";
import { DOCUMENT_COLUMNS, DOCUMENT_LIVES, DOCUMENT_TABLES, type DocumentRow } from "./read.ts";
import { parameters } from "../filter-sql.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import type { Sql } from "../pool.ts";

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
  const { rows } = await sql.query<FolderRow>(
    `select ${COLUMNS} from ${TABLES} where f.id = $2 and f.space_id = any($1::uuid[]) and f.deleted_at is null`,
    [reachedSpaceIds(reach), id],
  );
  return rows[0];
}

/** Until the transaction ends nobody else adds, moves or deletes a folder of the space: what is checked of the tree stays true. */
export async function lockFolderTree(sql: Sql, spaceId: string): Promise<void> {
  await sql.query("select pg_advisory_xact_lock(hashtextextended('folders ' || $1::text, 0))", [spaceId]);
}

/**
 * Keeps the folder from being deleted until the transaction ends.
 * @throws DomainError `not_found` where it is deleted already.
 */
export async function lockLiveFolder(sql: Sql, id: string): Promise<void> {
  const { rowCount } = await sql.query("select from folders where id = $1 and deleted_at is null for share", [
    id,
  ]);
  if (rowCount === 0) throw new DomainError("not_found", "Folder not found");
}

interface NewFolder {
  readonly id: string;
  readonly organizationId: string;
  readonly spaceId: string;
  readonly parentFolderId: string | null;
  readonly name: string;
  readonly createdBy: string;
}

export async function insertFolder(sql: Sql, folder: NewFolder): Promise<void> {
  await sql.query(
    "insert into folders (id, organization_id, space_id, parent_folder_id, name, created_by) values ($1, $2, $3, $4, $5, $6)",
    [folder.id, folder.organizationId, folder.spaceId, folder.parentFolderId, folder.name, folder.createdBy],
  );
}

/** An absent field stays as it is; a null parent is the root. */
export interface FolderChange {
  readonly name?: string | undefined;
  readonly parent_folder_id?: string | null | undefined;
}

/** The caller holds {@link lockFolderTree} and has checked the new parent. `updated_at` always moves, so that the entity tag does. */
export async function updateFolder(
  sql: Sql,
  id: string,
  { name, parent_folder_id: parent }: FolderChange,
): Promise<void> {
  await sql.query(
    "update folders set name = coalesce($2, name), parent_folder_id = case when $3 then $4::uuid else parent_folder_id end, updated_at = greatest(now(), updated_at + interval '1 millisecond') where id = $1",
    [id, name ?? null, parent !== undefined, parent ?? null],
  );
}

/** Whether `id` is `ancestorId` or lies anywhere below it. */
export async function isWithinFolder(sql: Sql, id: string, ancestorId: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `with recursive up as (
       select id, parent_folder_id from folders where id = $1
       union select f.id, f.parent_folder_id from folders f join up on f.id = up.parent_folder_id)
     select from up where id = $2`,
    [id, ancestorId],
  );
  return rowCount === 1;
}

const NEWEST_FIRST = "f.created_at desc, f.id desc";

/** A page of the space's folders at any depth, or of the direct children of one of them. */
export async function listFolders(
  sql: Sql,
  spaceId: string,
  parentFolderId: string | undefined,
  page: PageRequest,
): Promise<Page<FolderRow>> {
  const where = "f.space_id = $1 and f.deleted_at is null and ($2::uuid is null or f.parent_folder_id = $2)";
  return readPage<FolderRow>(
    sql,
    {
      columns: COLUMNS,
      from: TABLES,
      where,
      order: NEWEST_FIRST,
      params: parameters([spaceId, parentFolderId ?? null]),
    },
    page,
  );
}

/** All direct sub-folders. */
export async function listSubFolders(sql: Sql, id: string): Promise<FolderRow[]> {
  return (
    await sql.query<FolderRow>(
      `select ${COLUMNS} from ${TABLES} where f.parent_folder_id = $1 and f.deleted_at is null order by ${NEWEST_FIRST}`,
      [id],
    )
  ).rows;
}

/** A page of the documents that lie directly in the folder. */
export async function listFolderDocuments(
  sql: Sql,
  reach: Reach,
  id: string,
  page: PageRequest,
): Promise<Page<DocumentRow>> {
  const params = parameters([reachedSpaceIds(reach), id]);
  return readPage<DocumentRow>(
    sql,
    {
      columns: DOCUMENT_COLUMNS,
      from: DOCUMENT_TABLES,
      where: `${DOCUMENT_LIVES} and d.folder_id = $2`,
      order: "d.created_at desc, d.id desc",
      params,
    },
    page,
  );
}
