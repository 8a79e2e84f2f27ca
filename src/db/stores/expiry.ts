/** All SQL by which maintenance finds vector stores and users' files that have expired. */
import type { Sql } from "../pool.ts";
import { MADE_DOCUMENT, type MadeDocument } from "./user-files.ts";

const REMOVED_USERS_KEEP = "30 days";

/** Locks a store that has expired and was not cleared yet, if there is one that nobody else has. */
export async function lockExpiredStore(sql: Sql): Promise<string | undefined> {
  const { rows } = await sql.query<{ folder_id: string }>(
    `select store.folder_id
     from vector_stores store
     join folders folder
       on folder.id = store.folder_id
      and folder.deleted_at is null
     where store.expires_after_days is not null
       and store.expired_at is null
       and store.last_active_at + make_interval(days => store.expires_after_days) <= now()
     limit 1
     for update of store skip locked`,
  );
  return rows[0]?.folder_id;
}

/** Returns at most `limit` documents of the store and the folders below it that came through its routes. */
export async function lockExpiredDocuments(
  sql: Sql,
  folderId: string,
  limit: number,
): Promise<MadeDocument[]> {
  const { rows } = await sql.query<MadeDocument>(
    `with recursive tree as (
       select $1::uuid as id
       union
       select child.id
       from folders child
       join tree on child.parent_folder_id = tree.id
       where child.deleted_at is null
         and not exists (
           select
           from vector_stores other
           where other.folder_id = child.id
         )
     )
     select ${MADE_DOCUMENT}
     from documents document
     join vector_store_files origin on origin.document_id = document.id
     where document.folder_id in (select id from tree)
       and document.deleted_at is null
     order by document.id
     limit $2
     for update of document`,
    [folderId, limit],
  );
  return rows;
}

export async function markStoreExpired(sql: Sql, folderId: string): Promise<void> {
  await sql.query(
    `update vector_stores
     set expired_at = now()
     where folder_id = $1`,
    [folderId],
  );
}

export interface ExpiredFile {
  readonly id: string;
  /** False for a file of a user who left: documents that others have stay. */
  readonly takes_documents: boolean;
}

/** Locks a file that has expired, or whose user was removed a while ago, if there is one. */
export async function lockExpiredFile(sql: Sql): Promise<ExpiredFile | undefined> {
  const { rows } = await sql.query<ExpiredFile>(
    `select file.id,
            coalesce(file.expires_at <= now(), false) as takes_documents
     from openai_files file
     join users owner on owner.id = file.user_id
     where file.expires_at <= now()
        or owner.removed_at < now() - interval '${REMOVED_USERS_KEEP}'
     limit 1
     for update of file skip locked`,
  );
  return rows[0];
}

/** Returns at most `limit` documents that were made of the file, in any space. */
export async function lockDocumentsOfExpired(
  sql: Sql,
  fileId: string,
  limit: number,
): Promise<MadeDocument[]> {
  const { rows } = await sql.query<MadeDocument>(
    `select ${MADE_DOCUMENT}
     from vector_store_files origin
     join documents document
       on document.id = origin.document_id
      and document.deleted_at is null
     where origin.file_id = $1
     order by document.id
     limit $2
     for update of document`,
    [fileId, limit],
  );
  return rows;
}
