/** All SQL that proves a document whole: what its published version must have, and what nothing may have left behind. */
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
  /** The run that it is about, where it is about one. */
  readonly pipeline_run_id: string | null;
}

/** What there is of one run. */
interface RunEvidence {
  readonly id: string;
  readonly status: string;
  readonly is_published: boolean;
  readonly is_hidden: boolean;
  readonly chunk_count: number | null;
  readonly term_count: number;
  /** Rows found. */
  readonly chunks: number;
  readonly embeddings: number;
  /** Chunks without a vector that the provider of the run's model refuses. */
  readonly refused: number;
  /** Terms of its postings, with their repetitions. */
  readonly terms: number;
  readonly has_postings: boolean;
  /** Null where the run has no claim. */
  readonly claim_is_open: boolean | null;
  /** Whether the lease of its claim ended long ago. */
  readonly is_stalled: boolean;
}

export interface DocumentEvidence {
  readonly has_published_run: boolean;
  /** False where the published run's row is gone. */
  readonly published_run_exists: boolean;
  readonly raw_files: number;
  readonly chunks_without_run: number;
  /** Objects that the document's file and its kept versions name. */
  readonly object_keys: readonly string[];
  readonly runs: readonly RunEvidence[];
}

/** A claim that no dispatcher has looked at for this long is nobody's. */
const STALLED_AFTER = "interval '5 minutes'";

/** Everything about a document that must fit together, as one moment saw it where the transaction is REPEATABLE READ. */
export async function readDocumentEvidence(
  sql: Sql,
  documentId: string,
): Promise<DocumentEvidence | undefined> {
  const { rows } = await sql.query<Omit<DocumentEvidence, "runs">>(
    `select d.published_run_num is not null as has_published_run,
       exists (select from pipeline_runs r where r.num = d.published_run_num and r.document_id = d.id) as published_run_exists,
       (select count(*) from raw_files f where f.document_id = d.id and f.deleted_at is null)::int as raw_files,
       (select count(*) from chunks c where c.document_id = d.id and not exists (select from pipeline_runs r where r.num = c.run_num))::int as chunks_without_run,
       array(select f.object_key from raw_files f where f.document_id = d.id and f.deleted_at is null and f.object_key is not null
             union select r.object_key from pipeline_runs r where r.document_id = d.id and not r.text_purged) as object_keys
     from documents d where d.id = $1 and d.deleted_at is null`,
    [documentId],
  );
  if (rows[0] === undefined) return undefined;
  const runs = await sql.query<Omit<RunEvidence, "terms"> & { num: number }>(
    `select r.id, r.num, r.status, r.num = d.published_run_num as is_published, r.chunk_count, r.term_count,
       exists (select from hidden_runs h where h.space_num = r.space_num and h.run_num = r.num) as is_hidden,
       (select count(*) from chunks c where c.run_num = r.num)::int as chunks,
       (select count(*) from embeddings e where e.space_num = r.space_num and e.run_num = r.num)::int as embeddings,
       (select count(*) from chunks c
        where c.run_num = r.num and c.refused_by = (select m.num from embedding_models m where m.name = r.embedding_model)
          and not exists (select from embeddings e where e.space_num = r.space_num and e.run_num = r.num and e.chunk_index = c.chunk_index))::int as refused,
       exists (select from posting_runs p where p.run_num = r.num) as has_postings,
       case when r.claim_id is not null then c.id is not null and c.closed_at is null end as claim_is_open,
       coalesce(c.closed_at is null and c.leased_until < now() - ${STALLED_AFTER}, false) as is_stalled
     from pipeline_runs r join documents d on d.id = r.document_id left join claims c on c.id = r.claim_id
     where r.document_id = $1 order by r.num desc`,
    [documentId],
  );
  const indexed = runs.rows.filter((run) => run.has_postings).map((run) => run.num);
  const terms = await countIndexedTerms(sql, await segmentsOf(sql, indexed));
  return { ...rows[0], runs: runs.rows.map((run) => ({ ...run, terms: terms.get(run.num) ?? 0 })) };
}

/** Ids of documents that live, behind `after`. */
export async function listLiveDocuments(sql: Sql, after: string | null, limit: number): Promise<string[]> {
  const query =
    "select id from documents where deleted_at is null and ($1::uuid is null or id > $1) order by id limit $2";
  return (await sql.query<{ id: string }>(query, [after, limit])).rows.map(({ id }) => id);
}

const ACTIVE = new Set(["queued", "parsing", "chunking", "embedding"]);

/** What is wrong with the document by its rows; nothing is what every document should have. */
export function judge(document: DocumentEvidence): Finding[] {
  const found: Finding[] = [];
  const note = (code: FindingCode, message: string, run: RunEvidence | null = null): void =>
    void found.push({ code, message, pipeline_run_id: run?.id ?? null });
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
