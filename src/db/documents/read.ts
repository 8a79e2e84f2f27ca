/** All SQL that reads documents as callers see them: the row, its latest run as processing state, and its folder's path. */
import type { FileType } from "../../domain/file-type.ts";
import type { Principal } from "../../domain/tenancy/principal.ts";
import { reachedSpaceIds } from "../../domain/tenancy/principal.ts";
import type { RunStatus } from "../../domain/work/processing.ts";
import type { Sql } from "../pool.ts";
import { WAITING_FOR, type WaitingFor } from "../runs/waits.ts";

interface ProcessingState {
  readonly parsed: boolean;
  readonly chunked: boolean;
  readonly embedded: boolean;
  readonly pipeline_status?: RunStatus;
  readonly waiting_for?: WaitingFor;
}

export interface DocumentRow {
  readonly id: string;
  readonly file_type: FileType;
  readonly file_size: number;
  readonly file_path: string;
  readonly doc_metadata: Record<string, unknown>;
  readonly processing_state: ProcessingState;
  readonly space_id: string;
  readonly organization_id: string;
  readonly folder_id: string | null;
  readonly folder_path: string | null;
  readonly version: number | null;
  readonly created_by: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** What the pipeline says of the document, by its latest run `r`; fields that say nothing yet are left out. */
const PROCESSING_STATE = `jsonb_strip_nulls(jsonb_build_object(
  'parsed', coalesce(r.parsed, false), 'chunked', coalesce(r.chunked, false), 'embedded', coalesce(r.embedded, false),
  'pipeline_status', r.status, 'chunk_count', r.chunk_count, 'embedding_model', case when r.embedded then r.embedding_model end,
  'embedded_chunk_count', r.embedded_chunk_count, 'parser_name', r.parser_name, 'chunker_name', case when r.chunked then r.chunker_name end,
  'progress', case when r.status in ('parsing', 'chunking', 'embedding') then round(r.progress::numeric, 2) end, 'waiting_for', ${WAITING_FOR}, 'error', r.error,
  'warnings', case when jsonb_array_length(r.warnings) > 0 then r.warnings end))`;

/** A document as the API shows it; the query names documents `d`, their latest run `r` and their folder `f`. */
export const DOCUMENT_COLUMNS = `d.id, d.file_type, d.file_size,
  'spaces/' || d.space_id || '/documents/' || d.id || '/original/' || d.name as file_path,
  case when d.extracted = '{}' then '{}' else jsonb_build_object('extracted', d.extracted) end || d.metadata
    || jsonb_build_object('original_filename', d.name, 'content_type', d.content_type) as doc_metadata,
  ${PROCESSING_STATE} as processing_state,
  d.space_id, d.organization_id, d.folder_id, folder_path(d.folder_id) as folder_path, d.published_version as version,
  d.created_by, d.created_at, d.updated_at`;

export const DOCUMENT_TABLES = `documents d
  left join pipeline_runs r on r.num = d.latest_run_num
  left join folders f on f.id = d.folder_id`;

/** A document lives while neither it nor its folder is deleted, and only for callers who reach its space (`$1`). */
export const DOCUMENT_LIVES =
  "d.space_id = any($1::uuid[]) and d.deleted_at is null and f.deleted_at is null";

/** The document, where the caller reaches it. */
export async function findDocument(
  sql: Sql,
  principal: Principal,
  id: string,
): Promise<DocumentRow | undefined> {
  const { rows } = await sql.query<DocumentRow>({
    name: "documents.find",
    text: `select ${DOCUMENT_COLUMNS} from ${DOCUMENT_TABLES} where d.id = $2 and ${DOCUMENT_LIVES}`,
    values: [reachedSpaceIds(principal.reach), id],
  });
  return rows[0];
}

/** As {@link findDocument}; nobody changes or deletes the document until the transaction ends. */
export async function lockDocument(
  sql: Sql,
  principal: Principal,
  id: string,
): Promise<DocumentRow | undefined> {
  await sql.query("select from documents where id = $2 and space_id = any($1::uuid[]) for update", [
    reachedSpaceIds(principal.reach),
    id,
  ]);
  return findDocument(sql, principal, id);
}

/** What callers wrote into the metadata of a document, without what the service adds to it. */
export async function readOwnMetadata(sql: Sql, id: string): Promise<Record<string, unknown>> {
  const { rows } = await sql.query<{ metadata: Record<string, unknown> }>(
    "select metadata from documents where id = $1",
    [id],
  );
  return rows[0]?.metadata ?? {};
}

/** `updated_at` always moves, so that the entity tag does. */
const TOUCHED = "updated_at = greatest(now(), updated_at + interval '1 millisecond')";

export async function writeOwnMetadata(
  sql: Sql,
  id: string,
  metadata: Record<string, unknown>,
): Promise<void> {
  await sql.query(`update documents set metadata = $2, ${TOUCHED} where id = $1`, [
    id,
    JSON.stringify(metadata),
  ]);
}

/**
 * Moves the document; null is the root. The folder is kept from being deleted until the transaction ends.
 * @returns false where the folder is deleted.
 */
export async function moveDocument(sql: Sql, id: string, folderId: string | null): Promise<boolean> {
  if (folderId !== null) {
    const held = await sql.query("select from folders where id = $1 and deleted_at is null for share", [
      folderId,
    ]);
    if (held.rowCount === 0) return false;
  }
  await sql.query(`update documents set folder_id = $2, ${TOUCHED} where id = $1`, [id, folderId]);
  return true;
}
