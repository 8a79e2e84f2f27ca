/** SQL of documents as callers see them, with the state of their latest run and the path of their folder. */
import type { FileType } from "../../domain/file-type.ts";
import { type Principal, reachedSpaceIds } from "../../domain/tenancy/principal.ts";
import type { RunStatus } from "../../domain/work/processing.ts";
import type { Locking, Sql } from "../sql.ts";
import { WAITING_FOR, type WaitingFor } from "../runs/waits.ts";

interface ProcessingState {
  readonly parsed: boolean;
  readonly chunked: boolean;
  readonly embedded: boolean;
  /** Absent right after the upload. */
  readonly searchable?: boolean;
  readonly pipeline_run_id?: string;
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

/** A {@link ProcessingState} of the document's latest run. Fields that are not known yet are left out. */
const PROCESSING_STATE = `jsonb_strip_nulls(jsonb_build_object(
                    'parsed', coalesce(run.parsed, false),
                    'chunked', coalesce(run.chunked, false),
                    'embedded', coalesce(run.embedded, false),
                    'searchable', document.published_run_num is not null,
                    'pipeline_run_id', run.id,
                    'pipeline_status', run.status,
                    'chunk_count', run.chunk_count,
                    'embedding_model', case when run.embedded then run.embedding_model end,
                    'embedded_chunk_count', run.embedded_chunk_count,
                    'parser_name', run.parser_name,
                    'parser_version', run.parser_version,
                    'chunker_name', case when run.chunked then run.chunker_name end,
                    'progress', case
                      when run.status in ('parsing', 'chunking', 'embedding')
                      then round(run.progress::numeric, 2)
                    end,
                    'waiting_for', ${WAITING_FOR},
                    'error', run.error,
                    'warnings', case when jsonb_array_length(run.warnings) > 0 then run.warnings end
                  ))`;

/** The columns of a {@link DocumentRow}, to be read from {@link DOCUMENT_TABLES}. */
export const DOCUMENT_COLUMNS = `document.id,
                  document.file_type,
                  document.file_size,
                  'spaces/' || document.space_id || '/documents/' || document.id
                    || '/original/' || document.name as file_path,
                  case
                    when document.extracted = '{}' then document.metadata - 'extracted'
                    else document.metadata || jsonb_build_object('extracted', document.extracted)
                  end || jsonb_build_object(
                    'original_filename', document.name,
                    'content_type', document.content_type
                  ) as doc_metadata,
                  ${PROCESSING_STATE} as processing_state,
                  document.space_id,
                  document.organization_id,
                  document.folder_id,
                  folder_path(document.folder_id) as folder_path,
                  document.published_version as version,
                  document.created_by,
                  document.created_at,
                  document.updated_at`;

/** `run` is the latest run of the document. */
export const DOCUMENT_TABLES = `documents document
           left join pipeline_runs run on run.num = document.latest_run_num
           left join folders folder on folder.id = document.folder_id`;

/** The document is in one of the spaces `$1`, and neither it nor its folder is deleted. */
export const DOCUMENT_IS_VISIBLE = `document.space_id = any($1::uuid[])
             and document.deleted_at is null
             and folder.deleted_at is null`;

/** Returns the document if the caller sees it. With `lock`, it cannot change until the transaction ends. */
export async function findDocument(
  sql: Sql,
  principal: Principal,
  id: string,
  { lock = false }: Locking = {},
): Promise<DocumentRow | undefined> {
  const values = [reachedSpaceIds(principal.reach), id];
  if (lock)
    await sql.query("select from documents where id = $2 and space_id = any($1::uuid[]) for update", values);
  const { rows } = await sql.query<DocumentRow>({
    name: "documents.find",
    text: `select ${DOCUMENT_COLUMNS}
           from ${DOCUMENT_TABLES}
           where document.id = $2
             and ${DOCUMENT_IS_VISIBLE}`,
    values,
  });
  return rows[0];
}

/** Where a document is in the pipeline. */
export type DocumentStatusRow = Pick<DocumentRow, "id" | "space_id" | "version" | "processing_state">;

/** The status of those of the documents that the caller reaches, in the order of `ids`, each once. */
export async function findDocumentStatuses(
  sql: Sql,
  principal: Principal,
  ids: readonly string[],
): Promise<DocumentStatusRow[]> {
  const { rows } = await sql.query<DocumentStatusRow>({
    name: "documents.find-statuses",
    text: `select document.id,
                  document.space_id,
                  document.published_version as version,
                  ${PROCESSING_STATE} as processing_state
           from ${DOCUMENT_TABLES}
           where document.id = any($2::uuid[])
             and ${DOCUMENT_IS_VISIBLE}
           order by array_position($2::uuid[], document.id)`,
    values: [reachedSpaceIds(principal.reach), [...new Set(ids)]],
  });
  return rows;
}
