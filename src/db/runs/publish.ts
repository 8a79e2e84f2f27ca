/** Publishes runs: makes each the version that search serves, and takes the previous one out of search. */
import { noteTenantEvents } from "../events/noted.ts";
import { MAX_PUBLISH_CHUNKS } from "../../domain/work/processing.ts";
import { closeClaimIfDone } from "./claim.ts";
import type { Fence } from "./attempt.ts";
import type { Sql } from "../pool.ts";

export interface Publishable {
  readonly run_id: string;
  readonly run_num: number;
  readonly document_id: string;
  readonly space_num: number;
  readonly chunk_count: number;
  readonly old_run_num: number | null;
}

/**
 * Locks the documents of the runs, ordered by id against deadlocks, and returns the runs that may still be
 * published: active, taken by this attempt, and in a document, folder and space not deleted.
 */
export async function lockForPublish(
  sql: Sql,
  fence: Fence,
  runIds: readonly string[],
): Promise<Publishable[]> {
  const locked = await sql.query<{ id: string }>(
    `select document.id
     from documents document
     join pipeline_runs run on run.document_id = document.id
     where run.id = any($1::uuid[])
       and document.deleted_at is null
     order by document.id
     for update of document`,
    [runIds],
  );
  const { rows } = await sql.query<Publishable>(
    `select run.id as run_id,
            run.num as run_num,
            document.id as document_id,
            document.space_num,
            run.chunk_count,
            document.published_run_num as old_run_num
     from pipeline_runs run
     join documents document on document.id = run.document_id
     join spaces space on space.id = document.space_id and space.deleted_at is null
     left join folders folder on folder.id = document.folder_id
     where run.id = any($3::uuid[])
       and document.id = any($4::uuid[])
       and document.deleted_at is null
       and folder.deleted_at is null
       and run.claim_id = $1
       and run.attempt_id = $2
       and run.status = 'embedding'
       and run.chunked
     order by run.num
     for update of run`,
    [fence.claimId, fence.attemptId, runIds, locked.rows.map((row) => row.id)],
  );
  return rows;
}

export interface EntriesOfRuns {
  readonly spaceNum: number;
  readonly runNums: readonly number[];
  readonly modelNum: number;
}

/**
 * Counts the vectors of the model that each run has. A run may be published if this equals the number of its
 * chunks that the model does not refuse.
 */
export async function countEntries(
  sql: Sql,
  { spaceNum, runNums, modelNum }: EntriesOfRuns,
): Promise<Map<number, number>> {
  const { rows } = await sql.query<{ run_num: number; count: number }>(
    `select run_num,
            count(*)::int as count
     from embeddings
     where space_num = $1
       and run_num = any($2::int[])
       and model_num = $3
     group by run_num`,
    [spaceNum, runNums, modelNum],
  );
  return new Map(rows.map((row) => [row.run_num, row.count]));
}

/** Notes the model whose vectors locked runs are published with: a configuration may have changed. */
export async function noteModel(sql: Sql, runs: readonly Publishable[], modelNum: number): Promise<void> {
  await sql.query(
    `update pipeline_runs run
     set embedding_model = model.name
     from embedding_models model
     where model.num = $2
       and run.num = any($1::int[])
       and run.embedding_model is distinct from model.name`,
    [runs.map((run) => run.run_num), modelNum],
  );
}

/**
 * Points locked documents to their new runs. Call it in the transaction of {@link lockForPublish}, after
 * checking that every run's search entries are complete. The previous runs are hidden; maintenance purges
 * what is left of their entries.
 */
export async function flipPublished(
  sql: Sql,
  organizationNum: number,
  claimId: string,
  runs: readonly Publishable[],
): Promise<void> {
  noteTenantEvents(sql);
  const replaced = runs.filter((run) => run.old_run_num !== null && run.old_run_num !== run.run_num);
  await adjustStatistics(sql, organizationNum, runs);
  await sql.query({
    name: "publish.flip",
    text: `with run as (
             update pipeline_runs
             set status = 'completed',
                 embedded = true,
                 embedded_chunk_count = coalesce(embedded_chunk_count, chunk_count),
                 progress = 1,
                 attempt_id = null,
                 waiting_for = null,
                 completed_at = now()
             where id = any($1::uuid[])
             returning id, num, version, document_id
           ),
           shown as (
             delete from hidden_runs hidden
             using run
             where hidden.run_num = run.num
               and hidden.space_num = any($2::int[])
           )
           update documents document
           set published_run_num = run.num,
               published_version = run.version,
               updated_at = now()
           from run
           where document.id = run.document_id`,
    values: [runs.map((run) => run.run_id), [...new Set(runs.map((run) => run.space_num))]],
  });
  if (replaced.length > 0) await retireRuns(sql, organizationNum, replaced);
  await closeClaimIfDone(sql, claimId);
}

/** Adds the new runs' chunks and terms to their spaces' totals, and subtracts those of the old runs. */
async function adjustStatistics(
  sql: Sql,
  organizationNum: number,
  runs: readonly Publishable[],
): Promise<void> {
  await sql.query({
    name: "publish.statistics",
    text: `insert into space_statistics (organization_num, space_num, chunks, terms, embedding_model)
           select $1,
                  change.space_num,
                  sum(change.sign * run.chunk_count),
                  sum(change.sign * run.term_count),
                  run.embedding_model
           from (
             select space_num, run_num, 1 as sign
             from unnest($2::int[], $3::int[]) added(space_num, run_num)
             union all
             select space_num, old_num, -1
             from unnest($2::int[], $4::int[]) removed(space_num, old_num)
           ) change
           join pipeline_runs run on run.num = change.run_num
           group by change.space_num, run.embedding_model`,
    values: [
      organizationNum,
      runs.map((run) => run.space_num),
      runs.map((run) => run.run_num),
      runs.map((run) => run.old_run_num),
    ],
  });
}

/** Adds a batch to each run's indexed terms, and notes the analyzer's version. @param terms by run number. */
export async function addTermCounts(
  sql: Sql,
  terms: ReadonlyMap<number, number>,
  analyzerVersion: number,
): Promise<void> {
  await sql.query(
    `update pipeline_runs run
     set term_count = run.term_count + indexed.terms,
         analyzer_version = $3
     from unnest($1::int[], $2::bigint[]) indexed(num, terms)
     where run.num = indexed.num`,
    [[...terms.keys()], [...terms.values()], analyzerVersion],
  );
}

/**
 * Hides the runs, and deletes the embeddings of small ones. Their postings stay, hidden, until their segment
 * is purged; so do the embeddings of a large run, since deleting them here would take too long.
 */
async function retireRuns(
  sql: Sql,
  organizationNum: number,
  replaced: readonly Publishable[],
): Promise<void> {
  const { rows } = await sql.query<{ run_num: number; space_num: number; chunk_count: number }>(
    `with retired as (
       select run.num, old.space_num, run.chunk_count
       from unnest($2::int[], $3::int[]) old(num, space_num)
       join pipeline_runs run on run.num = old.num
     ),
     hidden as (
       insert into hidden_runs (organization_num, space_num, run_num, reason)
       select $1, space_num, num, 'superseded'
       from retired
       on conflict do nothing
     )
     select num as run_num, space_num, chunk_count
     from retired`,
    [organizationNum, replaced.map((run) => run.old_run_num), replaced.map((run) => run.space_num)],
  );
  const small = rows.filter((row) => row.chunk_count <= MAX_PUBLISH_CHUNKS);
  if (small.length === 0) return;
  await sql.query(
    `delete from embeddings embedding
     using unnest($1::int[], $2::int[]) retired(space_num, run_num)
     where embedding.space_num = retired.space_num
       and embedding.run_num = retired.run_num`,
    [small.map((row) => row.space_num), small.map((row) => row.run_num)],
  );
}
