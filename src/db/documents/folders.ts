/** All SQL that reads and changes folders, but not their deletion. */
import { notFound } from "../../domain/not-found.ts";
import { type Reach, reachedSpaceIds } from "../../domain/tenancy/principal.ts";
import { DOCUMENT_COLUMNS, DOCUMENT_IS_VISIBLE, DOCUMENT_TABLES, type DocumentRow } from "./read.ts";
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

/** The columns of a {@link FolderRow}. */
const COLUMNS = `folder.id,
            folder.name,
            folder.parent_folder_id,
            folder.organization_id as org_id,
            folder.space_id as home_space_id,
            folder.from_system,
            case when creator.id is not null then jsonb_build_object(
              'id', creator.id,
              'name', creator.name,
              'avatar_url', creator.avatar_url
            ) end as created_by,
            folder.created_at,
            folder.updated_at`;
const TABLES = `folders folder
     left join users creator on creator.id = folder.created_by`;

/** Returns the folder if it is not deleted and its space is in the caller's reach. */
export async function findFolder(sql: Sql, reach: Reach, id: string): Promise<FolderRow | undefined> {
  const { rows } = await sql.query<FolderRow>(
    `select ${COLUMNS}
     from ${TABLES}
     where folder.id = $2
       and folder.space_id = any($1::uuid[])
       and folder.deleted_at is null`,
    [reachedSpaceIds(reach), id],
  );
  return rows[0];
}

/** Keeps others from changing the space's folders until this ends: what it checks of the tree stays true. */
export async function lockFolderTree(sql: Sql, spaceId: string): Promise<void> {
  await sql.query("select pg_advisory_xact_lock(hashtextextended('folders ' || $1::text, 0))", [spaceId]);
}

/** Keeps the folder until the transaction ends. @throws DomainError `not_found` if it is already deleted. */
export async function lockLiveFolder(sql: Sql, id: string): Promise<void> {
  const { rowCount } = await sql.query(
    `select
     from folders
     where id = $1
       and deleted_at is null
     for share`,
    [id],
  );
  if (rowCount === 0) throw notFound("folder");
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
  await insertFolders(sql, [folder]);
}

export async function insertFolders(sql: Sql, folders: readonly NewFolder[]): Promise<void> {
  await sql.query(
    `insert into folders (id, organization_id, space_id, parent_folder_id, name, created_by)
     select *
     from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::uuid[])`,
    [
      folders.map(({ id }) => id),
      folders.map(({ organizationId }) => organizationId),
      folders.map(({ spaceId }) => spaceId),
      folders.map(({ parentFolderId }) => parentFolderId),
      folders.map(({ name }) => name),
      folders.map(({ createdBy }) => createdBy),
    ],
  );
}

/** A folder by its place: a name in a parent, null for the root of the space. */
export interface FolderPlace {
  readonly parentFolderId: string | null;
  readonly name: string;
}

/** Returns the space's folders at these places; of several with one name and parent the oldest. */
export async function findFoldersAt(
  sql: Sql,
  spaceId: string,
  places: readonly FolderPlace[],
): Promise<Array<{ id: string; parent_folder_id: string | null; name: string }>> {
  const { rows } = await sql.query<{ id: string; parent_folder_id: string | null; name: string }>(
    `select distinct on (folder.parent_folder_id, folder.name)
            folder.id,
            folder.parent_folder_id,
            folder.name
     from unnest($2::uuid[], $3::text[]) place(parent_folder_id, name)
     join folders folder
       on folder.name = place.name
      and folder.parent_folder_id is not distinct from place.parent_folder_id
     where folder.space_id = $1
       and folder.deleted_at is null
     order by folder.parent_folder_id, folder.name, folder.created_at, folder.id`,
    [spaceId, places.map((place) => place.parentFolderId), places.map((place) => place.name)],
  );
  return rows;
}

/** An absent field stays as it is; a null parent is the root. */
export interface FolderChange {
  readonly name?: string | undefined;
  readonly parent_folder_id?: string | null | undefined;
}

/**
 * Changes the folder. The caller holds {@link lockFolderTree} and has checked the new parent. `updated_at`
 * always increases, since the entity tag is made of it.
 */
export async function updateFolder(
  sql: Sql,
  id: string,
  { name, parent_folder_id: parent }: FolderChange,
): Promise<void> {
  await sql.query(
    `update folders
     set name = coalesce($2, name),
         parent_folder_id = case when $3 then $4::uuid else parent_folder_id end,
         updated_at = greatest(now(), updated_at + interval '1 millisecond')
     where id = $1`,
    [id, name ?? null, parent !== undefined, parent ?? null],
  );
}

/** Returns whether `id` is `ancestorId` or one of its descendants. */
export async function isWithinFolder(sql: Sql, id: string, ancestorId: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `with recursive up as (
       select id, parent_folder_id
       from folders
       where id = $1
       union
       select parent.id, parent.parent_folder_id
       from folders parent
       join up on up.parent_folder_id = parent.id
     )
     select
     from up
     where id = $2`,
    [id, ancestorId],
  );
  return rowCount === 1;
}

const NEWEST_FIRST = "folder.created_at desc, folder.id desc";

/** Returns a page of the space's folders at any depth, or of a parent's children; newest first. */
export async function listFolders(
  sql: Sql,
  spaceId: string,
  parentFolderId: string | undefined,
  page: PageRequest,
): Promise<Page<FolderRow>> {
  return readPage<FolderRow>(
    sql,
    {
      columns: COLUMNS,
      from: TABLES,
      where: `folder.space_id = $1
              and folder.deleted_at is null
              and ($2::uuid is null or folder.parent_folder_id = $2)`,
      order: NEWEST_FIRST,
      params: parameters([spaceId, parentFolderId ?? null]),
    },
    page,
  );
}

/** Returns all direct children of the folder, newest first. */
export async function listSubFolders(sql: Sql, id: string): Promise<FolderRow[]> {
  const { rows } = await sql.query<FolderRow>(
    `select ${COLUMNS}
     from ${TABLES}
     where folder.parent_folder_id = $1
       and folder.deleted_at is null
     order by ${NEWEST_FIRST}`,
    [id],
  );
  return rows;
}

/** Returns a page of the documents that are directly in the folder, newest first. */
export async function listFolderDocuments(
  sql: Sql,
  reach: Reach,
  id: string,
  page: PageRequest,
): Promise<Page<DocumentRow>> {
  return readPage<DocumentRow>(
    sql,
    {
      columns: DOCUMENT_COLUMNS,
      from: DOCUMENT_TABLES,
      where: `${DOCUMENT_IS_VISIBLE} and document.folder_id = $2`,
      order: "document.created_at desc, document.id desc",
      params: parameters([reachedSpaceIds(reach), id]),
    },
    page,
  );
}
