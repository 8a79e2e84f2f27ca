/** All SQL of files that users send to /v1/files: they are in no space until documents are made of them. */
import type { FileType } from "../../domain/file-type.ts";
import { ownedBy, type Ownership } from "../../domain/tenancy/ownership.ts";
import type { Principal, Reach } from "../../domain/tenancy/principal.ts";
import { reachedSpaceIds } from "../../domain/tenancy/principal.ts";
import { parameters } from "../filter-sql.ts";
import { isOwned } from "../owned.ts";
import type { Locking, Sql } from "../sql.ts";
import { type CursorPage, type CursorRequest, readCursorPage } from "./cursor.ts";

/** What a document can be made of. */
interface FileContent {
  readonly name: string;
  readonly size: number;
  readonly content_type: string;
  readonly file_type: FileType;
  readonly sha256: string;
  readonly object_key: string;
}

export interface UserFileRow extends FileContent {
  readonly id: string;
  readonly user_id: string;
  readonly purpose: string;
  readonly created_at: Date;
  readonly expires_at: Date | null;
}

const COLUMNS = `file.id, file.user_id, file.name, file.purpose, file.size, file.content_type, file.file_type,
            file.sha256, file.object_key, file.created_at, file.expires_at`;

/** A file of the caller's that has not expired. */
const IS_OWN = `${isOwned("file")}
       and (file.expires_at is null or file.expires_at > now())`;

const ownerOf = (principal: Principal): Ownership => ownedBy(principal, "in no space");

interface NewUserFile extends Omit<UserFileRow, "created_at" | "expires_at"> {
  readonly organizationId: string;
  readonly apiKeyId: string | null;
  readonly expiresAfterSeconds: number | null;
}

/** Writes the file and deletes the intent of its upload. */
export async function insertUserFile(sql: Sql, file: NewUserFile): Promise<UserFileRow> {
  const { rows } = await sql.query<UserFileRow>(
    `with intent as (
       delete from upload_intents
       where object_key = $11
     )
     insert into openai_files as file
       (id, organization_id, user_id, api_key_id, name, purpose, size, content_type, file_type, sha256,
        object_key, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, now() + make_interval(secs => $12))
     returning ${COLUMNS}`,
    [
      file.id,
      file.organizationId,
      file.user_id,
      file.apiKeyId,
      file.name,
      file.purpose,
      file.size,
      file.content_type,
      file.file_type,
      file.sha256,
      file.object_key,
      file.expiresAfterSeconds,
    ],
  );
  return rows[0]!;
}

/** Returns the file if it is the caller's. With `lock`, no document is made of it meanwhile. */
export async function findUserFile(
  sql: Sql,
  principal: Principal,
  id: string,
  { lock = false }: Locking = {},
): Promise<UserFileRow | undefined> {
  const { rows } = await sql.query<UserFileRow>(
    `select ${COLUMNS}
     from openai_files file
     where file.id = $3
       and ${IS_OWN}
     ${lock ? "for update" : ""}`,
    [...ownerOf(principal), id],
  );
  return rows[0];
}

/** Returns a page of the caller's files. */
export async function listUserFiles(
  sql: Sql,
  principal: Principal,
  purpose: string | null,
  page: CursorRequest,
): Promise<CursorPage<UserFileRow>> {
  const params = parameters([...ownerOf(principal), purpose]);
  return readCursorPage<UserFileRow>(
    sql,
    {
      select: `select ${COLUMNS} from openai_files file`,
      where: `${IS_OWN} and ($3::text is null or file.purpose = $3)`,
      createdAt: "file.created_at",
      id: "file.id",
      params,
    },
    page,
  );
}

/** A file by the id that the caller named: their own, or that of a document that they reach. */
export type SourceRow = FileContent & { readonly id: string; readonly space_id?: string };

/**
 * Returns the contents of those of the files that a document can be made of, and keeps them from being
 * deleted or encrypted again until the transaction ends.
 * @param readable the spaces whose documents the caller may read.
 */
export async function lockSources(
  sql: Sql,
  principal: Principal,
  readable: Reach,
  ids: readonly string[],
): Promise<SourceRow[]> {
  const own = await sql.query<SourceRow>(
    `select ${COLUMNS}
     from openai_files file
     where file.id = any($3::uuid[])
       and ${IS_OWN}
     order by file.id
     for share`,
    [...ownerOf(principal), ids],
  );
  const found = new Set(own.rows.map(({ id }) => id));
  const others = ids.filter((id) => !found.has(id));
  if (others.length === 0) return own.rows;
  const documents = await sql.query<SourceRow>(
    `select document.id, document.space_id, document.name, file.size, file.content_type, document.file_type,
            file.sha256, file.object_key
     from documents document
     join raw_files file
       on file.document_id = document.id
      and file.deleted_at is null
      and file.object_key is not null
     left join folders folder on folder.id = document.folder_id
     where document.id = any($2::uuid[])
       and document.space_id = any($1::uuid[])
       and document.deleted_at is null
       and folder.deleted_at is null
     order by document.id
     for share of file`,
    [reachedSpaceIds(readable), others],
  );
  return [...own.rows, ...documents.rows];
}

export interface MadeDocument {
  readonly id: string;
  readonly space_id: string;
  readonly folder_id: string | null;
  readonly raw_file_id: string | null;
}

/** The columns of a {@link MadeDocument}. */
export const MADE_DOCUMENT = `document.id, document.space_id, document.folder_id,
            (
              select file.id
              from raw_files file
              where file.document_id = document.id
                and file.deleted_at is null
              limit 1
            ) as raw_file_id`;

/** Returns the documents in the spaces that were made of the file, and locks them. */
export async function lockDocumentsMadeOf(
  sql: Sql,
  spaceIds: readonly string[],
  fileId: string,
): Promise<MadeDocument[]> {
  const { rows } = await sql.query<MadeDocument>(
    `select ${MADE_DOCUMENT}
     from vector_store_files origin
     join documents document
       on document.id = origin.document_id
      and document.deleted_at is null
      and document.space_id = any($1::uuid[])
     left join folders folder on folder.id = document.folder_id
     where origin.file_id = $2
       and folder.deleted_at is null
     order by document.id
     for update of document`,
    [spaceIds, fileId],
  );
  return rows;
}

/** Deletes the file's row, and leaves its object to the next round of maintenance if nothing else has it. */
export async function deleteUserFile(sql: Sql, organizationId: string, id: string): Promise<void> {
  await sql.query(
    `with gone as (
       delete from openai_files
       where id = $2
       returning object_key
     )
     insert into upload_intents (object_key, organization_id, leased_until)
     select object_key, $1, now() - interval '23 hours'
     from gone
     on conflict (object_key) do nothing`,
    [organizationId, id],
  );
}
