/** All SQL that makes documents of files for a vector store. */
import { traceparent } from "../../telemetry/span.ts";
import type { Priority } from "../../domain/work/processing.ts";
import type { Sql } from "../pool.ts";
import type { StaticChunking } from "./stores.ts";
import type { SourceRow } from "./user-files.ts";

export interface NewStoreFile {
  readonly documentId: string;
  readonly rawFileId: string;
  readonly runId: string;
  readonly fileId: string;
  readonly content: SourceRow;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** As it was asked for. */
  readonly chunking: StaticChunking | null;
  /** As the run is to do it. */
  readonly chunkerName: string;
  readonly chunkerConfig: Readonly<Record<string, number>>;
}

interface StorePlace {
  readonly organizationId: string;
  readonly spaceId: string;
  readonly folderId: string;
  readonly userId: string;
  readonly priority: Priority;
}

/** For the place `$1` to `$6` and the files `$7` to `$20`, a list for each of their columns. */
const INSERT = `with wanted as (
     select *
     from unnest(
       $7::uuid[], $8::uuid[], $9::uuid[], $10::uuid[], $11::text[], $12::text[], $13::text[], $14::bigint[],
       $15::text[], $16::text[], $17::jsonb[], $18::jsonb[], $19::text[], $20::jsonb[]
     ) with ordinality file (
       document_id, raw_file_id, run_id, file_id, name, content_type, file_type, size,
       sha256, object_key, metadata, chunking, chunker_name, chunker_config, position
     )
     ),
     run as (
     insert into pipeline_runs
       (id, organization_id, space_id, space_num, document_id, version, trigger, priority, object_key,
        file_name, file_type, file_size, chunker_name, chunker_config, created_by, traceparent)
     select wanted.run_id, $1, space.id, space.num, wanted.document_id, 1, 'upload', $5, wanted.object_key,
            wanted.name, wanted.file_type, wanted.size, wanted.chunker_name, wanted.chunker_config, $4, $6
     from wanted
     join spaces space
       on space.id = $2
      and space.deleted_at is null
     order by wanted.position
     returning num, space_num, document_id
     ),
     document as (
     insert into documents
       (id, organization_id, space_id, space_num, folder_id, name, file_type, file_size,
        content_type, metadata, created_by, run_count, latest_run_num)
     select wanted.document_id, $1, $2, run.space_num, $3, wanted.name, wanted.file_type, wanted.size,
            wanted.content_type, wanted.metadata, $4, 1, run.num
     from wanted
     join run on run.document_id = wanted.document_id
     returning id
     ),
     file as (
     insert into raw_files
       (id, organization_id, space_id, path, size, content_type, sha256, object_key, document_id, created_by)
     select wanted.raw_file_id, $1, $2,
            'documents/' || wanted.document_id || '/original/' || wanted.name,
            wanted.size, wanted.content_type, wanted.sha256, wanted.object_key, wanted.document_id, $4
     from wanted
     join document on document.id = wanted.document_id
     )
     insert into vector_store_files (document_id, organization_id, file_id, chunking)
     select wanted.document_id, $1, wanted.file_id, wanted.chunking
     from wanted
     join document on document.id = wanted.document_id`;

/**
 * Writes for each file a document in the folder, with its raw file, its queued run and the file that it was
 * made of. They name the file's object, of which there is no copy.
 * @returns how many it wrote: none if the space is deleted.
 */
export async function insertStoreFiles(
  sql: Sql,
  { organizationId, spaceId, folderId, userId, priority }: StorePlace,
  files: readonly NewStoreFile[],
): Promise<number> {
  const column = (value: (file: NewStoreFile) => unknown): unknown[] => files.map(value);
  const { rowCount } = await sql.query(INSERT, [
    organizationId,
    spaceId,
    folderId,
    userId,
    priority,
    traceparent(),
    column((file) => file.documentId),
    column((file) => file.rawFileId),
    column((file) => file.runId),
    column((file) => file.fileId),
    column((file) => file.content.name),
    column((file) => file.content.content_type),
    column((file) => file.content.file_type),
    column((file) => file.content.size),
    column((file) => file.content.sha256),
    column((file) => file.content.object_key),
    column((file) => JSON.stringify(file.attributes)),
    column((file) => (file.chunking === null ? null : JSON.stringify(file.chunking))),
    column((file) => file.chunkerName),
    column((file) => JSON.stringify(file.chunkerConfig)),
  ]);
  return rowCount ?? 0;
}

/** Notes another chunking of documents that came through already. */
export async function writeChunking(
  sql: Sql,
  documentId: string,
  chunking: StaticChunking | null,
): Promise<void> {
  await sql.query(
    `update vector_store_files
     set chunking = $2
     where document_id = $1`,
    [documentId, chunking === null ? null : JSON.stringify(chunking)],
  );
}
