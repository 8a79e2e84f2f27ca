/** Reads and writes what an archive has of users' files and of documents made from them in stores. */
import type { Row } from "../../domain/archive.ts";
import type { Sql } from "../sql.ts";

/** Without the key that sent it: an archive has no keys. */
const USER_FILE_COLUMNS =
  "id, user_id, name, purpose, size, content_type, file_type, sha256, created_at, expires_at";

/** What a document that came in through a vector store has beyond a document. */
const STORE_FILE_COLUMNS = "file_id, chunking";

/** SQL of the file that the row of `documents` was made of in a vector store; null without a store. */
export const STORE_FILE = `(
           select to_jsonb(origin)
           from (
             select ${STORE_FILE_COLUMNS}
             from vector_store_files
             where document_id = document.id
           ) origin
         )`;

export interface ExportedUserFile {
  readonly user_file: Row & { readonly id: string; readonly sha256: string };
  readonly object_key: string;
}

/** Reads users' files that have not expired. @param after the last id that was read; null: from the start. */
export async function readUserFiles(
  sql: Sql,
  organizationId: string,
  { after, limit }: { after: string | null; limit: number },
): Promise<ExportedUserFile[]> {
  const { rows } = await sql.query<ExportedUserFile>(
    `select listed.object_key,
            to_jsonb(listed) - 'object_key' as user_file
     from (
       select object_key, ${USER_FILE_COLUMNS}
       from openai_files
       where organization_id = $1
         and (expires_at is null or expires_at > now())
         and ($2::uuid is null or id > $2)
       order by id
       limit $3
     ) listed
     order by listed.id`,
    [organizationId, after, limit],
  );
  return rows;
}

/** Writes a user's file, and deletes the intent of its object. */
export async function insertUserFile(
  sql: Sql,
  organizationId: string,
  userFile: Row,
  objectKey: string,
): Promise<void> {
  await sql.query(
    `insert into openai_files (organization_id, object_key, ${USER_FILE_COLUMNS})
     select $1, $3, ${USER_FILE_COLUMNS}
     from jsonb_populate_record(null::openai_files, $2)
     on conflict do nothing`,
    [organizationId, JSON.stringify(userFile), objectKey],
  );
  await sql.query("delete from upload_intents where object_key = $1", [objectKey]);
}

/** Writes which file the document was made of. */
export async function insertStoreFile(
  sql: Sql,
  organizationId: string,
  documentId: string,
  storeFile: Row,
): Promise<void> {
  await sql.query(
    `insert into vector_store_files (organization_id, document_id, ${STORE_FILE_COLUMNS})
     select $1, $3, ${STORE_FILE_COLUMNS}
     from jsonb_populate_record(null::vector_store_files, $2)
     on conflict do nothing`,
    [organizationId, JSON.stringify(storeFile), documentId],
  );
}
