/** SQL of what a document, its files and its runs have. @see src/integrity/document.ts for what must fit */
import type { RunStatus } from "../../domain/work/processing.ts";
import type { Sql } from "../pool.ts";

/** What the database has of one run, but for its postings, which are packed. */
export interface RunRow {
  readonly id: string;
  readonly num: number;
  readonly status: RunStatus;
  readonly is_published: boolean;
  readonly is_hidden: boolean;
  readonly chunk_count: number | null;
  readonly term_count: number;
  /** Rows of `chunks`. */
  readonly chunks: number;
  readonly embeddings: number;
  /** Chunks without a vector because the run's model refuses them. */
  readonly refused: number;
  readonly has_postings: boolean;
  /** Null if the run has no claim. */
  readonly claim_is_open: boolean | null;
  /** Whether the lease of its claim ended long ago. */
  readonly is_stalled: boolean;
}

interface DocumentRow {
  readonly has_published_run: boolean;
  /** False if the row of the published run does not exist. */
  readonly published_run_exists: boolean;
  readonly raw_files: number;
  readonly chunks_without_run: number;
  /** The objects of the document's file and of the versions whose text is kept. */
  readonly object_keys: readonly string[];
}

export interface DocumentRows extends DocumentRow {
  readonly runs: readonly RunRow[];
}

/** After its lease has passed by this much, no dispatcher looks after a claim. */
const STALLED_AFTER = "5 minutes";

/** Reads what document `$1` and its files and runs refer to. */
const READ_DOCUMENT = `
  select document.published_run_num is not null as has_published_run,
         exists (
           select
           from pipeline_runs run
           where run.num = document.published_run_num
             and run.document_id = document.id
         ) as published_run_exists,
         (
           select count(*)
           from raw_files file
           where file.document_id = document.id
             and file.deleted_at is null
         )::int as raw_files,
         (
           select count(*)
           from chunks chunk
           where chunk.document_id = document.id
             and not exists (
               select
               from pipeline_runs run
               where run.num = chunk.run_num
             )
         )::int as chunks_without_run,
         array(
           select file.object_key
           from raw_files file
           where file.document_id = document.id
             and file.deleted_at is null
             and file.object_key is not null
           union
           select run.object_key
           from pipeline_runs run
           where run.document_id = document.id
             and not run.text_purged
         ) as object_keys
  from documents document
  where document.id = $1
    and document.deleted_at is null`;

/** Counts the rows of every table for each run of document `$1`, the newest first. */
const READ_RUNS = `
  select run.id,
         run.num,
         run.status,
         run.num = document.published_run_num as is_published,
         run.chunk_count,
         run.term_count,
         exists (
           select
           from hidden_runs hidden
           where hidden.space_num = run.space_num
             and hidden.run_num = run.num
         ) as is_hidden,
         (
           select count(*)
           from chunks chunk
           where chunk.run_num = run.num
         )::int as chunks,
         (
           select count(*)
           from embeddings embedding
           where embedding.space_num = run.space_num
             and embedding.run_num = run.num
         )::int as embeddings,
         (
           select count(*)
           from chunks chunk
           where chunk.run_num = run.num
             and chunk.refused_by = (
               select model.num
               from embedding_models model
               where model.name = run.embedding_model
             )
             and not exists (
               select
               from embeddings embedding
               where embedding.space_num = run.space_num
                 and embedding.run_num = run.num
                 and embedding.chunk_index = chunk.chunk_index
             )
         )::int as refused,
         exists (
           select
           from posting_runs part
           where part.run_num = run.num
         ) as has_postings,
         case
           when run.claim_id is not null then claim.id is not null and claim.closed_at is null
         end as claim_is_open,
         coalesce(
           claim.closed_at is null and claim.leased_until < now() - interval '${STALLED_AFTER}',
           false
         ) as is_stalled
  from pipeline_runs run
  join documents document on document.id = run.document_id
  left join claims claim on claim.id = run.claim_id
  where run.document_id = $1
  order by run.num desc`;

export async function readDocumentRows(sql: Sql, documentId: string): Promise<DocumentRows | undefined> {
  const { rows } = await sql.query<DocumentRow>(READ_DOCUMENT, [documentId]);
  if (rows[0] === undefined) return undefined;
  const runs = await sql.query<RunRow>(READ_RUNS, [documentId]);
  return { ...rows[0], runs: runs.rows };
}

/** Returns the ids of at most `limit` documents that are not deleted, in order, after `after`. */
export async function listLiveDocuments(sql: Sql, after: string | null, limit: number): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>(
    `select id
     from documents
     where deleted_at is null
       and ($1::uuid is null or id > $1)
     order by id
     limit $2`,
    [after, limit],
  );
  return rows.map(({ id }) => id);
}
