/**
 * Reads an organization for an archive, page by page. What is deleted is left out, and so are events and
 * webhooks: cursors and secrets mean nothing in another instance, where the log begins anew.
 */
import type { Directory, Row } from "../../domain/archive.ts";
import { WARNINGS_OF_TEXT } from "../runs/refused-chunks.ts";
import type { Sql } from "../sql.ts";
import {
  AGENT_COLUMNS,
  FOLDER_COLUMNS,
  RECEIPT_KEY_COLUMNS,
  SPACE_COLUMNS,
  SPACE_MEMBER_COLUMNS,
  STORE_COLUMNS,
  USER_COLUMNS,
} from "./directory-columns.ts";
import { STORE_FILE } from "./user-files.ts";

/** @param rows the columns of a part of the directory, and where they are from. */
const listOf = (rows: string): string => `coalesce((
      select jsonb_agg(to_jsonb(listed))
      from (select ${rows}) listed
    ), '[]')`;

const DIRECTORY = `
  with live_spaces as (
    select ${SPACE_COLUMNS}
    from spaces
    where organization_id = $1
      and deleted_at is null
  ), live_folders as (
    select ${FOLDER_COLUMNS}
    from folders
    where deleted_at is null
      and space_id in (select id from live_spaces)
  )
  select jsonb_build_object(
    'organization', jsonb_build_object(
      'name', organization.name,
      'max_key_lifetime_seconds', organization.max_key_lifetime_seconds,
      'default_key_lifetime_seconds', organization.default_key_lifetime_seconds
    ),
    'users', ${listOf(`${USER_COLUMNS} from users where organization_id = $1`)},
    'spaces', ${listOf("* from live_spaces")},
    'space_members', ${listOf(
      `${SPACE_MEMBER_COLUMNS} from space_members where space_id in (select id from live_spaces)`,
    )},
    'folders', ${listOf("* from live_folders")},
    'vector_stores', ${listOf(
      `${STORE_COLUMNS} from vector_stores where folder_id in (select id from live_folders)`,
    )},
    'agents', ${listOf(
      `${AGENT_COLUMNS} from agents where deleted_at is null and space_id in (select id from live_spaces)`,
    )},
    'receipt_keys', ${listOf(`${RECEIPT_KEY_COLUMNS} from receipt_keys where organization_id = $1`)}
  ) as directory
  from organizations organization
  where organization.id = $1`;

/** Reads all but documents and files, without users' subjects: instances have different issuers. */
export async function readDirectory(sql: Sql, organizationId: string): Promise<Directory> {
  const { rows } = await sql.query<{ directory: Directory }>(DIRECTORY, [organizationId]);
  return rows[0]!.directory;
}

/** A row of raw_files `file` as an archive holds it. */
const RAW_FILE = `
  jsonb_build_object(
    'id', file.id,
    'space_id', file.space_id,
    'path', file.path,
    'size', file.size,
    'content_type', file.content_type,
    'sha256', file.sha256,
    'created_by', file.created_by,
    'created_at', file.created_at,
    'updated_at', file.updated_at
  ) as raw_file`;

export interface ExportedFile {
  readonly raw_file: Row & { readonly id: string; readonly sha256: string | null };
  /** The name of its object; null for a folder of paths. */
  readonly object_key: string | null;
}

export interface ExportedDocument extends ExportedFile {
  readonly num: number;
  readonly document: Row & { readonly id: string };
  /** Null if it did not come in through a vector store. */
  readonly store_file: Row | null;
  /** The number of the published version's run, if it was made from the file as it is now. */
  readonly run_num: number | null;
  readonly space_num: number;
  readonly run: Row | null;
}

const DOCUMENTS = `
  select document.num,
         document.space_num,
         file.object_key,
         ${RAW_FILE},
         jsonb_build_object(
           'id', document.id,
           'space_id', document.space_id,
           'folder_id', document.folder_id,
           'name', document.name,
           'file_type', document.file_type,
           'file_size', document.file_size,
           'content_type', document.content_type,
           'metadata', document.metadata,
           'extracted', document.extracted,
           'created_by', document.created_by,
           'created_at', document.created_at,
           'updated_at', document.updated_at
         ) as document,
         ${STORE_FILE} as store_file,
         run.num as run_num,
         case when run.num is not null then jsonb_build_object(
           'file_name', run.file_name,
           'file_type', run.file_type,
           'file_size', run.file_size,
           'parser_name', run.parser_name,
           'parser_version', run.parser_version,
           'chunker_name', run.chunker_name,
           'chunker_config', run.chunker_config,
           'page_count', run.page_count,
           'chunk_count', run.chunk_count,
           'warnings', ${WARNINGS_OF_TEXT},
           'created_by', run.created_by
         ) end as run
  from documents document
  join spaces space
    on space.id = document.space_id
    and space.deleted_at is null
  join raw_files file
    on file.document_id = document.id
    and file.deleted_at is null
    and file.object_key is not null
  left join folders folder on folder.id = document.folder_id
  left join pipeline_runs run
    on run.num = document.published_run_num
    and run.object_key = file.object_key
  where document.organization_id = $1
    and document.deleted_at is null
    and folder.deleted_at is null
    and document.num > $2
  order by document.num
  limit $3`;

/** Reads documents with their files. @param after the last document's number; 0 for the first page. */
export async function readDocuments(
  sql: Sql,
  organizationId: string,
  { after, limit }: { after: number; limit: number },
): Promise<ExportedDocument[]> {
  const { rows } = await sql.query<ExportedDocument>(DOCUMENTS, [organizationId, after, limit]);
  return rows;
}

export async function countDocuments(sql: Sql, organizationId: string): Promise<number> {
  const { rows } = await sql.query<{ count: number }>(
    `select count(*)::int as count
     from documents document
     join spaces space
       on space.id = document.space_id
       and space.deleted_at is null
     where document.organization_id = $1
       and document.deleted_at is null`,
    [organizationId],
  );
  return rows[0]!.count;
}

/** Reads files of no document, and folders of paths. @param after the last id; null for the first page. */
export async function readLooseFiles(
  sql: Sql,
  organizationId: string,
  { after, limit }: { after: string | null; limit: number },
): Promise<ExportedFile[]> {
  const { rows } = await sql.query<ExportedFile>(
    `select file.object_key, ${RAW_FILE}
     from raw_files file
     where file.document_id is null
       and file.deleted_at is null
       and file.space_id in (select id from spaces where organization_id = $1 and deleted_at is null)
       and ($2::uuid is null or file.id > $2)
     order by file.id
     limit $3`,
    [organizationId, after, limit],
  );
  return rows;
}
