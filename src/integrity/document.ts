/**
 * Checks that a document is complete: its published version has all of its parts, and nothing is left of
 * others.
 */
import type { Sql } from "../db/pool.ts";
import { segmentsOf } from "../db/search/index/indexed-terms.ts";
import { type DocumentRows, type RunRow, readDocumentRows } from "../db/upkeep/document-integrity.ts";
import { ACTIVE_STATUSES, type RunStatus } from "../domain/work/processing.ts";
import { countIndexedTerms } from "../search/index/indexed-terms.ts";

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

interface RunEvidence extends RunRow {
  /** Terms of its postings, with repetitions. */
  readonly terms: number;
}

interface DocumentEvidence extends DocumentRows {
  readonly runs: readonly RunEvidence[];
}

/**
 * Reads everything about a document that must fit together. The transaction is REPEATABLE READ to see one
 * moment.
 */
export async function readDocumentEvidence(
  sql: Sql,
  documentId: string,
): Promise<DocumentEvidence | undefined> {
  const document = await readDocumentRows(sql, documentId);
  if (document === undefined) return undefined;
  const indexed = document.runs.filter((run) => run.has_postings).map((run) => run.num);
  const terms = await countIndexedTerms(sql, await segmentsOf(sql, indexed));
  return { ...document, runs: document.runs.map((run) => ({ ...run, terms: terms.get(run.num) ?? 0 })) };
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
