/** All SQL that accepts an upload: the intent before its first byte, and the transaction after its last. */
import type { FileType } from "../../domain/file-type.ts";
import { DEFAULT_CHUNKER, PRIORITY } from "../../domain/work/processing.ts";
import { traceparent } from "../../telemetry/span.ts";
import { type Sql, queryOnce } from "../pool.ts";
import { queueRun } from "../runs/requests.ts";
import type pg from "pg";

/** Maintenance takes the object for abandoned if the lease ended 23 hours ago and no row names it. */
const INTENT_LEASE = "1 hour";

/** Notes an upload's object, so that maintenance does not take it for an orphan. Repeat it to renew it. */
export async function declareUpload(
  system: pg.Pool,
  organizationId: string,
  objectKey: string,
): Promise<void> {
  await queryOnce(
    system,
    `insert into upload_intents (object_key, organization_id, leased_until)
     values ($1, $2, now() + interval '${INTENT_LEASE}')
     on conflict (object_key) do update
     set leased_until = excluded.leased_until`,
    [objectKey, organizationId],
  );
}

export interface AcceptedUpload {
  readonly documentId: string;
  readonly rawFileId: string;
  readonly runId: string;
  readonly organizationId: string;
  readonly spaceId: string;
  readonly folderId: string | null;
  readonly userId: string;
  readonly filename: string;
  readonly contentType: string;
  readonly fileType: FileType;
  /** Bytes. */
  readonly size: number;
  readonly sha256: string;
  readonly objectKey: string;
  /** The path of the raw file in its space. */
  readonly path: string;
}

/** Writes document, raw file and queued run, and deletes the intent. After the commit nothing is lost. */
export async function acceptNewDocument(
  sql: Sql,
  upload: AcceptedUpload,
  metadata: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await sql.query({
    name: "uploads.accept",
    text: `with run as (
             insert into pipeline_runs
               (id, organization_id, space_id, space_num, document_id, version, trigger, object_key,
                file_name, file_type, file_size, chunker_name, created_by, traceparent)
             select $3, $4, space.id, space.num, $1, 1, 'upload', $13,
                    $8, $10, $11, '${DEFAULT_CHUNKER}', $7, $15
             from spaces space
             where space.id = $5
               and space.deleted_at is null
             returning num, space_num
           ),
           document as (
             insert into documents
               (id, organization_id, space_id, space_num, folder_id, name, file_type, file_size,
                content_type, metadata, created_by, run_count, latest_run_num)
             select $1, $4, $5, run.space_num, $6, $8, $10, $11,
                    $9, $16, $7, 1, run.num
             from run
             returning id
           ),
           file as (
             insert into raw_files
               (id, organization_id, space_id, path, size, content_type, sha256, object_key,
                document_id, created_by)
             select $2, $4, $5, $14, $11, $9, $12, $13,
                    document.id, $7
             from document
           )
           delete from upload_intents
           where object_key = $13`,
    values: [
      upload.documentId,
      upload.rawFileId,
      upload.runId,
      upload.organizationId,
      upload.spaceId,
      upload.folderId,
      upload.userId,
      upload.filename,
      upload.contentType,
      upload.fileType,
      upload.size,
      upload.sha256,
      upload.objectKey,
      upload.path,
      traceparent(),
      JSON.stringify(metadata),
    ],
  });
}

type ReplacedFile = Pick<
  AcceptedUpload,
  | "documentId"
  | "rawFileId"
  | "runId"
  | "userId"
  | "contentType"
  | "fileType"
  | "size"
  | "sha256"
  | "objectKey"
>;

/**
 * Gives the document's file new content and queues a run that makes it the document's next version. Search
 * serves the current version until that run is published. The caller has locked the path and the document,
 * and has checked that neither is deleted.
 * @returns the number of that version.
 */
export async function replaceFile(sql: Sql, upload: ReplacedFile): Promise<number> {
  const { rowCount } = await sql.query({
    name: "uploads.replace",
    text: `with file as (
             update raw_files
             set size = $3,
                 content_type = $4,
                 sha256 = $5,
                 object_key = $6,
                 updated_at = now()
             where id = $2
               and document_id = $1
           ),
           intent as (
             delete from upload_intents
             where object_key = $6
           )
           update documents
           set file_type = $7,
               file_size = $3,
               content_type = $4,
               updated_at = now()
           where id = $1
             and deleted_at is null`,
    values: [
      upload.documentId,
      upload.rawFileId,
      upload.size,
      upload.contentType,
      upload.sha256,
      upload.objectKey,
      upload.fileType,
    ],
  });
  const isQueued = await queueRun(sql, {
    runId: upload.runId,
    documentId: upload.documentId,
    trigger: "replace",
    priority: PRIORITY.interactive,
    chunkerName: DEFAULT_CHUNKER,
    chunkerConfig: {},
    createdBy: upload.userId,
    batchId: null,
    held: false,
  });
  if (rowCount !== 1 || !isQueued)
    throw new Error(`document ${upload.documentId} was not replaced, although it was locked`);
  const { rows } = await sql.query<{ version: number }>("select version from pipeline_runs where id = $1", [
    upload.runId,
  ]);
  return rows[0]!.version;
}
