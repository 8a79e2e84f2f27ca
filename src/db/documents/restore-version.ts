/** All SQL that restores an earlier version: a new run gets copies of its text and chunks. */
import { DomainError } from "../../domain/errors.ts";
import { notFound } from "../../domain/not-found.ts";
import { endActiveRuns } from "../runs/requests.ts";
import type { Sql } from "../pool.ts";
import { WARNINGS_OF_TEXT } from "../runs/refused-chunks.ts";

interface Restore {
  readonly documentId: string;
  /** The version to publish again. */
  readonly version: number;
  readonly runId: string;
  readonly createdBy: string;
  /** The model whose vectors the run will be published with. */
  readonly embeddingModel: string;
}

interface SourceRow {
  readonly num: number;
  readonly status: string;
  readonly chunk_count: number;
  readonly is_published: boolean;
}

/**
 * Queues a run that publishes an earlier version again, and ends an active run of the document as superseded.
 * The caller has locked the document.
 * @throws DomainError `not_found` if there was no such version, `bad_request` if it cannot be restored.
 */
export async function queueRestore(sql: Sql, restore: Restore): Promise<void> {
  const source = await findSource(sql, restore);
  await endActiveRuns(
    sql,
    [restore.documentId],
    "superseded",
    "An earlier version of the document was restored.",
  );
  const num = await insertRestoringRun(sql, restore, source.num);
  const copied = await sql.query(
    `insert into chunks
       (organization_id, run_num, chunk_index, id, document_id, text, token_count,
        page_start, page_end, metadata, content_hash, refused_by, start_offset, end_offset, places,
        header)
     select organization_id, $2, chunk_index, id, document_id, text, token_count,
            page_start, page_end, metadata, content_hash, refused_by, start_offset, end_offset, places,
            header
     from chunks
     where run_num = $1`,
    [source.num, num],
  );
  if (copied.rowCount !== source.chunk_count) throw textIsGone(restore.version);
  await sql.query(
    `insert into text_blocks (organization_id, run_num, first_index, unit_count, units)
     select organization_id, $2, first_index, unit_count, units
     from text_blocks
     where run_num = $1`,
    [source.num, num],
  );
}

async function findSource(sql: Sql, { documentId, version }: Restore): Promise<SourceRow> {
  const { rows } = await sql.query<SourceRow>(
    `select run.num,
            run.status,
            run.chunk_count,
            coalesce(run.num = document.published_run_num, false) as is_published
     from pipeline_runs run
     join documents document on document.id = run.document_id
     where run.document_id = $1
       and run.version = $2`,
    [documentId, version],
  );
  const source = rows[0];
  if (source === undefined) throw notFound("version");
  if (source.is_published)
    throw new DomainError("version_not_restorable", `Version ${version} is the published one.`);
  if (source.status !== "completed")
    throw new DomainError(
      "version_not_restorable",
      `Version ${version} was never published, so it cannot be restored.`,
    );
  const chunks = await sql.query(
    `select
     from chunks
     where run_num = $1
     limit 1`,
    [source.num],
  );
  if (chunks.rowCount === 0) throw textIsGone(version);
  return source;
}

function textIsGone(version: number): DomainError {
  return new DomainError(
    "version_not_restorable",
    `The text of version ${version} is no longer kept; only that of the version before the published one is.`,
  );
}

async function insertRestoringRun(sql: Sql, restore: Restore, sourceNum: number): Promise<number> {
  const { rows } = await sql.query<{ num: number }>(
    `with run as (
       insert into pipeline_runs
         (id, organization_id, space_id, space_num, document_id, version, trigger,
          parsed, chunked, progress,
          object_key, file_name, file_type, file_size,
          parser_name, parser_version, chunker_name, chunker_config, embedding_model,
          page_count, chunk_count, warnings, created_by)
       select $1, run.organization_id, run.space_id, run.space_num,
              document.id, document.run_count + 1, 'restore',
              true, true, 0.5,
              run.object_key, run.file_name, run.file_type, run.file_size,
              run.parser_name, run.parser_version, run.chunker_name, run.chunker_config, $2,
              run.page_count, run.chunk_count, ${WARNINGS_OF_TEXT}, $3
       from pipeline_runs run
       join documents document on document.id = run.document_id
       where run.num = $4
       returning num, version, document_id
     )
     update documents document
     set run_count = run.version,
         latest_run_num = run.num,
         updated_at = now()
     from run
     where document.id = run.document_id
     returning run.num`,
    [restore.runId, restore.embeddingModel, restore.createdBy, sourceNum],
  );
  return rows[0]!.num;
}
