/** All SQL that reads documents as callers see them: the row, its latest run as processing state, and its folder's path. */
import type { FileType } from "../domain/file-type.ts";
import type { Principal } from "../domain/principal.ts";
import { reachedSpaceIds } from "../domain/principal.ts";
import type { RunStatus } from "../domain/processing.ts";
import type { Sql } from "./pool.ts";

interface ProcessingState {
  readonly parsed: boolean;
  readonly chunked: boolean;
  readonly embedded: boolean;
  readonly pipeline_status?: RunStatus;
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
  'progress', case when r.status in ('parsing', 'chunking', 'embedding') then round(r.progress::numeric, 2) end, 'error', r.error,
  'warnings', case when jsonb_array_length(r.warnings) > 0 then r.warnings end))`;

/** A document as the API shows it; the query names documents `d`, their latest run `r` and their folder `f`. */
export const DOCUMENT_COLUMNS = `d.id, d.file_type, d.file_size,
  'spaces/' || d.space_id || '/documents/' || d.id || '/original/' || d.name as file_path,
  d.metadata || jsonb_build_object('original_filename', d.name, 'content_type', d.content_type)
    || case when d.extracted = '{}' then '{}' else jsonb_build_object('extracted', d.extracted) end as doc_metadata,
  ${PROCESSING_STATE} as processing_state,
  d.space_id, d.organization_id, d.folder_id, folder_path(d.folder_id) as folder_path, d.published_version as version,
  d.created_by, d.created_at, d.updated_at`;

export const DOCUMENT_TABLES = `documents d
  left join pipeline_runs r on r.num = d.latest_run_num
  left join folders f on f.id = d.folder_id`;

/** A document lives while neither it nor its folder is deleted, and only for callers who reach its space (`$1`). */
export const DOCUMENT_LIVES = "d.space_id = any($1::uuid[]) and d.deleted_at is null and f.deleted_at is null";

/** The document, where the caller reaches it. */
export async function findDocument(sql: Sql, principal: Principal, id: string): Promise<DocumentRow | undefined> {
  const { rows } = await sql.query<DocumentRow>({
    name: "documents.find",
    text: `select ${DOCUMENT_COLUMNS} from ${DOCUMENT_TABLES} where d.id = $2 and ${DOCUMENT_LIVES}`,
    values: [reachedSpaceIds(principal.reach), id],
  });
  return rows[0];
}
