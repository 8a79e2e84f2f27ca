/** Checks that a document is complete: all parts of its published version, and nothing of others. */
import { ACTIVE_STATUSES, type RunStatus } from "../../domain/work/processing.ts";
import type { Sql } from "../pool.ts";
import { countIndexedTerms, segmentsOf } from "../search/index/indexed-terms.ts";

const FINDING_CODES = [
  "published_run_missing",
  "chunks_incomplete",
  "embeddings_incomplete",
  "index_incomplete",
  "published_hidden",
  "entries_not_served",
  "chunks_without_run",
  "run_without_claim",
  "run_stalled",
  "file_missing",
  "object_missing",
] as const;
type FindingCode = (typeof FINDING_CODES)[number];

export interface Finding {
  readonly code: FindingCode;
  readonly message: string;
  /** The run that the finding is about, if it is about one. */
  readonly pipeline_run_id: string | null;
}

interface RunEvidence {
  readonly id: string;
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
  /** Terms of its postings, with repetitions. */
  readonly terms: number;
  readonly has_postings: boolean;
  /** Null if the run has no claim. */
  readonly claim_is_open: boolean | null;
  /** Whether the lease of its claim ended long ago. */
  readonly is_stalled: boolean;
}

export interface DocumentEvidence {
  readonly has_published_run: boolean;
  /** False if the row of the published run does not exist. */
  readonly published_run_exists: boolean;
  readonly raw_files: number;
  readonly chunks_without_run: number;
  /** The objects of the document's file and of the versions whose text is kept. */
  readonly object_keys: readonly string[];
  readonly runs: readonly RunEvidence[];
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

/** Reads everything about a document that must fit together, at one moment: REPEATABLE READ. */
export async function readDocumentEvidence(
  sql: Sql,
  documentId: string,
): Promise<DocumentEvidence | undefined> {
  const { rows } = await sql.query<Omit<DocumentEvidence, "runs">>(READ_DOCUMENT, [documentId]);
  if (rows[0] === undefined) return undefined;
  const runs = await sql.query<Omit<RunEvidence, "terms"> & { num: number }>(READ_RUNS, [documentId]);
  const indexed = runs.rows.filter((run) => run.has_postings).map((run) => run.num);
  const terms = await countIndexedTerms(sql, await segmentsOf(sql, indexed));
  return { ...rows[0], runs: runs.rows.map((run) => ({ ...run, terms: terms.get(run.num) ?? 0 })) };
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

const ACTIVE: ReadonlySet<RunStatus> = new Set(ACTIVE_STATUSES);

/** Returns what is wrong with the document by its rows; an empty list if it is complete. */
export function judge(document: DocumentEvidence): Finding[] {
  const found: Finding[] = [];
  const note = (code: FindingCode, message: string, run: RunEvidence | null = null): void => {
    found.push({ code, message, pipeline_run_id: run?.id ?? null });
  };
  if (document.has_published_run && !document.published_run_exists)
    note("published_run_missing", "The published version's run does not exist.");
  if (document.raw_files === 0) note("file_missing", "The document has no raw file.");
  if (document.chunks_without_run > 0)
    note("chunks_without_run", `${document.chunks_without_run} chunks belong to no run of the document.`);
  for (const run of document.runs) {
    if (run.is_published) judgePublished(run, (code, message) => note(code, message, run));
    else if (!run.is_hidden && (run.embeddings > 0 || run.has_postings))
      note("entries_not_served", "A version that is not published has search entries.", run);
    if (ACTIVE.has(run.status)) judgeActive(run, (code, message) => note(code, message, run));
  }
  return found;
}

type Note = (code: FindingCode, message: string) => void;

function judgePublished(run: RunEvidence, note: Note): void {
  if (run.is_hidden) note("published_hidden", "The published version is hidden from search.");
  if (run.chunks !== run.chunk_count)
    note("chunks_incomplete", `The published version has ${run.chunks} of ${run.chunk_count} chunks.`);
  const embeddable = run.chunk_count === null ? null : run.chunk_count - run.refused;
  if (run.embeddings !== embeddable)
    note(
      "embeddings_incomplete",
      `The published version has ${run.embeddings} embeddings for ${embeddable} chunks.`,
    );
  if (run.terms !== run.term_count)
    note("index_incomplete", `The published version's index has ${run.terms} of ${run.term_count} terms.`);
}

function judgeActive(run: RunEvidence, note: Note): void {
  if (run.claim_is_open === false || (run.claim_is_open === null && run.status !== "queued"))
    note("run_without_claim", "The run is active and no workflow has it.");
  if (run.is_stalled) note("run_stalled", "No process has looked after the run's workflow for five minutes.");
}
