/** All SQL that makes an earlier version of a document a new run: its text and chunks are copied, so that it is embedded and published only. */
import { DomainError } from "../../domain/errors.ts";
import { endActiveRun } from "../runs/requests.ts";
import type { Sql } from "../pool.ts";
import { WARNINGS_OF_TEXT } from "../runs/refused-chunks.ts";

interface Restore {
  readonly documentId: string;
  /** The version to publish again. */
  readonly version: number;
  /** The id of the new run. */
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
 * Queues a run that publishes an earlier version again, and supersedes a run that is still active. The caller's transaction holds the
 * document's row.
 * @throws DomainError `not_found` where there was no such version, `bad_request` where it cannot be restored.
 */
export async function queueRestore(sql: Sql, restore: Restore): Promise<void> {
  const source = await findSource(sql, restore);
  await endActiveRun(
    sql,
    restore.documentId,
    "superseded",
    "An earlier version of the document was restored.",
  );
  const num = await insertRestoringRun(sql, restore, source.num);
  const copied = await sql.query(
    `insert into chunks (organization_id, run_num, chunk_index, id, document_id, text, token_count, page_start, page_end, metadata, content_hash, refused_by)
     select organization_id, $2, chunk_index, id, document_id, text, token_count, page_start, page_end, metadata, content_hash, refused_by from chunks where run_num = $1`,
    [source.num, num],
  );
  if (copied.rowCount !== source.chunk_count) throw gone(restore.version);
  await sql.query(
    `insert into text_blocks (organization_id, run_num, first_index, unit_count, units)
     select organization_id, $2, first_index, unit_count, units from text_blocks where run_num = $1`,
    [source.num, num],
  );
}

async function findSource(sql: Sql, { documentId, version }: Restore): Promise<SourceRow> {
  const { rows } = await sql.query<SourceRow>(
    `select r.num, r.status, r.chunk_count, coalesce(r.num = d.published_run_num, false) as is_published
     from pipeline_runs r join documents d on d.id = r.document_id where r.document_id = $1 and r.version = $2`,
    [documentId, version],
  );
  const source = rows[0];
  if (source === undefined) throw new DomainError("not_found", "Version not found");
  if (source.is_published) throw new DomainError("bad_request", `Version ${version} is the published one.`);
  if (source.status !== "completed")
    throw new DomainError("bad_request", `Version ${version} was never published, so it cannot be restored.`);
  const kept = await sql.query("select from chunks where run_num = $1 limit 1", [source.num]);
  if (kept.rowCount === 0) throw gone(version);
  return source;
}

function gone(version: number): DomainError {
  return new DomainError(
    "bad_request",
    `The text of version ${version} is not kept any more; only the version before the published one is.`,
  );
}

async function insertRestoringRun(sql: Sql, restore: Restore, sourceNum: number): Promise<number> {
  const { rows } = await sql.query<{ num: number }>(
    `with run as (
       insert into pipeline_runs (id, organization_id, space_id, space_num, document_id, version, trigger, parsed, chunked, progress,
         object_key, file_name, file_type, file_size, parser_name, chunker_name, chunker_config, embedding_model, page_count, chunk_count, warnings, created_by)
       select $1, r.organization_id, r.space_id, r.space_num, d.id, d.run_count + 1, 'restore', true, true, 0.5,
         r.object_key, r.file_name, r.file_type, r.file_size, r.parser_name, r.chunker_name, r.chunker_config, $2, r.page_count, r.chunk_count, ${WARNINGS_OF_TEXT}, $3
       from pipeline_runs r join documents d on d.id = r.document_id where r.num = $4 returning num, version, document_id)
     update documents d set run_count = run.version, latest_run_num = run.num, updated_at = now() from run where d.id = run.document_id returning run.num`,
    [restore.runId, restore.embeddingModel, restore.createdBy, sourceNum],
  );
  return rows[0]!.num;
}
