/** All SQL that finds raw files by path, and that locks paths while they change. */
import type { FileAddress } from "../../domain/paths.ts";
import { parameters } from "../filter-sql.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import type { Sql } from "../pool.ts";

export interface RawFileRow {
  readonly id: string;
  readonly space_id: string;
  readonly path: string;
  /** Bytes; this and the next three are null for a path folder. */
  readonly size: number | null;
  readonly content_type: string | null;
  readonly sha256: string | null;
  readonly object_key: string | null;
  readonly document_id: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** The columns of a {@link RawFileRow}. */
const COLUMNS = `file.id, file.space_id, file.path, file.size, file.content_type, file.sha256,
            file.object_key, file.document_id, file.created_at, file.updated_at`;
const TABLES = `raw_files file
     left join documents document on document.id = file.document_id
     left join folders folder on folder.id = document.folder_id`;
/** A deleted folder takes the files of its documents with it; only the folder is marked at first. */
const IS_VISIBLE = "file.deleted_at is null and folder.deleted_at is null";

/** A path folder with nothing in it. '0' follows '/', so the range holds what is inside the folder. */
const IS_EMPTY_FOLDER = `file.object_key is null and not exists (
       select
       from raw_files inside
       where inside.space_id = file.space_id
         and inside.deleted_at is null
         and inside.path collate "C" > file.path || '/'
         and inside.path collate "C" < file.path || '0'
     )`;

/** Returns a page of the space's files and empty path folders with paths under `prefix`, newest first. */
export async function listRawFiles(
  sql: Sql,
  spaceId: string,
  prefix: string,
  page: PageRequest,
): Promise<Page<RawFileRow>> {
  return readPage<RawFileRow>(
    sql,
    {
      columns: COLUMNS,
      from: TABLES,
      where: `file.space_id = $1
              and starts_with(file.path collate "C", $2)
              and ${IS_VISIBLE}
              and (file.object_key is not null or ${IS_EMPTY_FOLDER})`,
      order: "file.created_at desc, file.id desc",
      params: parameters([spaceId, prefix]),
    },
    page,
  );
}

/**
 * Returns the file or path folder that the address means. One that a document states means its file wherever
 * that lies; at the path in it, only what belongs to no other document is found.
 */
export async function findRawFile(
  sql: Sql,
  { spaceId, path, document }: FileAddress,
): Promise<RawFileRow | undefined> {
  const { rows } = await sql.query<RawFileRow>(
    `select ${COLUMNS}
     from ${TABLES}
     where file.space_id = $1
       and ${IS_VISIBLE}
       and (
         (
           file.path collate "C" = $2
           and ($3::uuid is null or file.document_id is null or file.document_id = $3)
         )
         or (file.document_id = $3 and document.name = $4 and file.object_key is not null)
       )
     order by file.document_id is not distinct from $3 desc
     limit 1`,
    [spaceId, path, document?.id ?? null, document?.name ?? null],
  );
  return rows[0];
}

/** Keeps others from putting anything at this path, and from moving any path of the space, until the end. */
export async function lockPath(sql: Sql, spaceId: string, path: string): Promise<void> {
  await sql.query(
    `select pg_advisory_xact_lock_shared(hashtextextended('paths ' || $1::text, 0)),
            pg_advisory_xact_lock(hashtextextended('path ' || $1::text || ' ' || $2::text, 0))`,
    [spaceId, path],
  );
}

/** Keeps other transactions from putting or moving anything at any path of the space until this one ends. */
export async function lockAllPaths(sql: Sql, spaceId: string): Promise<void> {
  await sql.query("select pg_advisory_xact_lock(hashtextextended('paths ' || $1::text, 0))", [spaceId]);
}

/** Locks the file's document, always before the file: no deadlocks. @returns whether it is not deleted. */
export async function lockDocumentOf(sql: Sql, file: Pick<RawFileRow, "document_id">): Promise<boolean> {
  if (file.document_id === null) return false;
  const { rows } = await sql.query<{ folder_id: string | null }>(
    `select folder_id
     from documents
     where id = $1
       and deleted_at is null
     for update`,
    [file.document_id],
  );
  const folderId = rows[0]?.folder_id ?? null;
  if (folderId === null) return rows.length === 1;
  const folder = await sql.query(
    `select
     from folders
     where id = $1
       and deleted_at is null
     for share`,
    [folderId],
  );
  return folder.rowCount === 1;
}

/** The file or path folder at a path that the caller has locked. */
interface Occupant {
  readonly id: string;
  readonly document_id: string | null;
  readonly isFolder: boolean;
}

/**
 * Locks the file or path folder at a path that the caller has locked, and its document if it has one. Waits
 * for a deletion of it that is in progress. A file whose document's folder is deleted is marked as deleted,
 * which frees the path.
 */
export async function lockOccupant(sql: Sql, spaceId: string, path: string): Promise<Occupant | undefined> {
  const found = await sql.query<Pick<RawFileRow, "id" | "document_id">>(
    `select id, document_id
     from raw_files
     where space_id = $1
       and path collate "C" = $2
       and deleted_at is null`,
    [spaceId, path],
  );
  if (found.rows[0] === undefined) return undefined;
  const hasDocument = await lockDocumentOf(sql, found.rows[0]);
  const { rows } = await sql.query<RawFileRow>(
    `select id, document_id, object_key
     from raw_files
     where id = $1
       and deleted_at is null
     for update`,
    [found.rows[0].id],
  );
  const file = rows[0];
  if (file === undefined) return undefined;
  if (file.document_id === null || hasDocument)
    return { id: file.id, document_id: file.document_id, isFolder: file.object_key === null };
  await sql.query(
    `update raw_files
     set deleted_at = now()
     where id = $1`,
    [file.id],
  );
  return undefined;
}

/**
 * Marks files as deleted if their document's folder is, which frees their paths: the one at `path` and, if
 * that ends with a slash, everything below it.
 */
export async function retireHidden(sql: Sql, spaceId: string, path: string): Promise<void> {
  await sql.query(
    `update raw_files file
     set deleted_at = now()
     from documents document
     join folders folder on folder.id = document.folder_id
     where file.document_id = document.id
       and folder.deleted_at is not null
       and file.space_id = $1
       and file.deleted_at is null
       and (
         file.path collate "C" = $2
         or (right($2, 1) = '/' and starts_with(file.path collate "C", $2))
       )`,
    [spaceId, path],
  );
}
