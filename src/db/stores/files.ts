/** All SQL that reads the files of vector stores: the documents of a folder and of all below it. */
import type { RunError } from "../../domain/work/processing.ts";
import { parameters } from "../filter-sql.ts";
import type { Sql } from "../pool.ts";
import { WAITING_FOR, type WaitingFor } from "../runs/waits.ts";
import { type CursorPage, type CursorRequest, readCursorPage } from "./cursor.ts";
import { FILE_COUNTS, FILE_STATUS, type FileCounts, type StaticChunking } from "./stores.ts";

type StoreFileStatus = "in_progress" | "completed" | "cancelled" | "failed";

export interface StoreFileRow {
  /** That of the file the document was made of, or the document's own. */
  readonly id: string;
  readonly document_id: string;
  readonly space_id: string;
  readonly folder_id: string;
  readonly name: string;
  readonly file_size: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
  /** Whether it came in through the routes of stores. */
  readonly came_through: boolean;
  readonly chunking: StaticChunking | null;
  readonly status: StoreFileStatus;
  readonly error: RunError | null;
  readonly waiting_for: WaitingFor | null;
}

const COLUMNS = `coalesce(origin.file_id, document.id) as id,
            document.id as document_id,
            document.space_id,
            document.folder_id,
            document.name,
            document.file_size,
            document.metadata,
            document.created_at,
            origin.document_id is not null as came_through,
            origin.chunking,
            ${FILE_STATUS} as status,
            run.error,
            ${WAITING_FOR} as waiting_for`;

const TABLES = `documents document
     left join vector_store_files origin on origin.document_id = document.id
     left join pipeline_runs run on run.num = document.latest_run_num`;

/** Defines `tree`: the folder `$1` and all below it. */
const TREE = `with recursive tree as (
       select id
       from folders
       where id = $1
         and deleted_at is null
       union
       select child.id
       from folders child
       join tree on child.parent_folder_id = tree.id
       where child.deleted_at is null
     )`;

const IS_IN_TREE = `document.folder_id in (select id from tree)
       and document.deleted_at is null`;

/** Returns the store's file by its id; of several in folders below, the nearest. */
export async function findStoreFile(
  sql: Sql,
  folderId: string,
  fileId: string,
): Promise<StoreFileRow | undefined> {
  const { rows } = await sql.query<StoreFileRow>(
    `${TREE}
     select ${COLUMNS}
     from ${TABLES}
     where ${IS_IN_TREE}
       and document.id in (
         select $2::uuid
         union
         select document_id
         from vector_store_files
         where file_id = $2
       )
     order by document.folder_id = $1 desc, origin.file_id = $2 desc nulls last, document.id
     limit 1`,
    [folderId, fileId],
  );
  return rows[0];
}

/** Returns those of the files that the store's own folder has already, and locks their documents. */
export async function lockFilesInFolder(
  sql: Sql,
  folderId: string,
  fileIds: readonly string[],
): Promise<StoreFileRow[]> {
  const { rows } = await sql.query<StoreFileRow>(
    `select ${COLUMNS}
     from ${TABLES}
     where document.folder_id = $1
       and document.deleted_at is null
       and document.id in (
         select unnest($2::uuid[])
         union
         select document_id
         from vector_store_files
         where file_id = any($2::uuid[])
       )
     order by document.id
     for update of document`,
    [folderId, fileIds],
  );
  return rows;
}

interface StoreFileList {
  readonly folderId: string;
  /** Null lists files of any status. */
  readonly status: StoreFileStatus | null;
  /** Null lists all documents; else only these. */
  readonly documentIds: readonly string[] | null;
}

/** Returns a page of the store's files. */
export async function listStoreFiles(
  sql: Sql,
  { folderId, status, documentIds }: StoreFileList,
  page: CursorRequest,
): Promise<CursorPage<StoreFileRow>> {
  const params = parameters([folderId]);
  const isAsked = documentIds === null ? "true" : `document.id = any(${params.add(documentIds)}::uuid[])`;
  const hasStatus = status === null ? "true" : `${FILE_STATUS} = ${params.add(status)}::text`;
  return readCursorPage<StoreFileRow>(
    sql,
    {
      select: `${TREE}
     select ${COLUMNS}
     from ${TABLES}`,
      where: `${IS_IN_TREE} and ${isAsked} and ${hasStatus}`,
      createdAt: "document.created_at",
      id: "document.id",
      params,
    },
    page,
  );
}

export type FoundFile = Pick<StoreFileRow, "id" | "document_id" | "metadata">;

/** Returns the ids and the metadata of documents that a search of the space found. */
export async function readFoundFiles(
  sql: Sql,
  spaceId: string,
  documentIds: readonly string[],
): Promise<FoundFile[]> {
  const { rows } = await sql.query<FoundFile>({
    name: "stores.found-files",
    text: `select coalesce(origin.file_id, document.id) as id, document.id as document_id, document.metadata
           from documents document
           left join vector_store_files origin on origin.document_id = document.id
           where document.id = any($2::uuid[])
             and document.space_id = $1`,
    values: [spaceId, documentIds],
  });
  return rows;
}

export interface FileDocument {
  readonly id: string;
  readonly space_id: string;
  readonly folder_id: string | null;
  readonly name: string;
  readonly size: number;
  readonly content_type: string;
  readonly object_key: string;
  readonly status: StoreFileStatus;
  readonly created_at: Date;
}

/** Returns the oldest document in the spaces that has the id, or that was made of the file with the id. */
export async function findDocumentOfFile(
  sql: Sql,
  spaceIds: readonly string[],
  fileId: string,
): Promise<FileDocument | undefined> {
  const { rows } = await sql.query<FileDocument>(
    `select document.id, document.space_id, document.folder_id, document.name, file.size, file.content_type,
            file.object_key, ${FILE_STATUS} as status, document.created_at
     from documents document
     join raw_files file
       on file.document_id = document.id
      and file.deleted_at is null
      and file.object_key is not null
     left join folders folder on folder.id = document.folder_id
     left join pipeline_runs run on run.num = document.latest_run_num
     where document.id in (
         select $2::uuid
         union
         select document_id
         from vector_store_files
         where file_id = $2
       )
       and document.space_id = any($1::uuid[])
       and document.deleted_at is null
       and folder.deleted_at is null
     order by document.id = $2 desc, document.created_at, document.id
     limit 1`,
    [spaceIds, fileId],
  );
  return rows[0];
}

export interface BatchRow extends FileCounts {
  readonly id: string;
  readonly folder_id: string;
  readonly document_ids: readonly string[];
  readonly created_at: Date;
  readonly cancelled_at: Date | null;
}

interface NewBatch {
  readonly id: string;
  readonly organizationId: string;
  readonly folderId: string;
  readonly documentIds: readonly string[];
}

export async function insertBatch(sql: Sql, batch: NewBatch): Promise<void> {
  await sql.query(
    `insert into vector_store_batches (id, organization_id, folder_id, document_ids)
     values ($1, $2, $3, $4)`,
    [batch.id, batch.organizationId, batch.folderId, batch.documentIds],
  );
}

/** Returns the batch of the store with the counts of its documents that are not deleted. */
export async function findBatch(sql: Sql, folderId: string, id: string): Promise<BatchRow | undefined> {
  const { rows } = await sql.query<BatchRow>(
    `select batch.id, batch.folder_id, batch.document_ids, batch.created_at, batch.cancelled_at, counted.*
     from vector_store_batches batch
     cross join lateral (
       select ${FILE_COUNTS}
       from documents document
       left join pipeline_runs run on run.num = document.latest_run_num
       where document.id = any(batch.document_ids)
         and document.deleted_at is null
     ) counted
     where batch.id = $2
       and batch.folder_id = $1`,
    [folderId, id],
  );
  return rows[0];
}

/** Notes that the batch is cancelled. @returns false if it was before. */
export async function markBatchCancelled(sql: Sql, id: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `update vector_store_batches
     set cancelled_at = now()
     where id = $1
       and cancelled_at is null`,
    [id],
  );
  return rowCount === 1;
}
