/** The only place that makes a run the one that search serves, and takes the run before it out of search. */
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
 * Locks the documents of the runs, in one order for everyone, and answers those whose run is still theirs to publish:
 * active, in this attempt's hand, of a document that lives in a folder and a space that live.
 */
export async function lockForPublish(
  sql: Sql,
  fence: Fence,
  runIds: readonly string[],
): Promise<Publishable[]> {
  const locked = await sql.query<{ id: string }>(
    `select d.id from documents d join pipeline_runs r on r.document_id = d.id
     where r.id = any($1::uuid[]) and d.deleted_at is null order by d.id for update of d`,
    [runIds],
  );
  const { rows } = await sql.query<Publishable>(
    `select r.id as run_id, r.num as run_num, d.id as document_id, d.space_num, r.chunk_count, d.published_run_num as old_run_num
     from pipeline_runs r join documents d on d.id = r.document_id
     join spaces s on s.id = d.space_id and s.deleted_at is null
     left join folders f on f.id = d.folder_id
     where r.id = any($3::uuid[]) and d.id = any($4::uuid[]) and d.deleted_at is null and f.deleted_at is null
       and r.claim_id = $1 and r.attempt_id = $2 and r.status = 'embedding' and r.chunked
     order by r.num for update of r`,
    [fence.claimId, fence.attemptId, runIds, locked.rows.map((row) => row.id)],
  );
  return rows;
}

export interface EntriesOfRuns {
  readonly spaceNum: number;
  readonly runNums: readonly number[];
  readonly modelNum: number;
}

/** How many vectors of the model the runs have; publish demands as many as there are chunks that the model does not refuse. */
export async function countEntries(
  sql: Sql,
  { spaceNum, runNums, modelNum }: EntriesOfRuns,
): Promise<Map<number, number>> {
  const { rows } = await sql.query<{ run_num: number; count: number }>(
    "select run_num, count(*)::int as count from embeddings where space_num = $1 and run_num = any($2::int[]) and model_num = $3 group by run_num",
    [spaceNum, runNums, modelNum],
  );
  return new Map(rows.map((row) => [row.run_num, row.count]));
}

/** Notes with which model's vectors locked runs are published: another than they were prepared for, where the configuration changed meanwhile. */
export async function noteModel(sql: Sql, runs: readonly Publishable[], modelNum: number): Promise<void> {
  await sql.query(
    "update pipeline_runs r set embedding_model = m.name from embedding_models m where m.num = $2 and r.num = any($1::int[]) and r.embedding_model is distinct from m.name",
    [runs.map((run) => run.run_num), modelNum],
  );
}

/**
 * Flips the pointers of locked documents to their new runs, in the transaction that holds the locks. The run before is hidden; what is
 * left of its entries is purged by maintenance.
 * The caller has made sure that every run's entries are whole.
 */
export async function flipPublished(
  sql: Sql,
  organizationNum: number,
  claimId: string,
  runs: readonly Publishable[],
): Promise<void> {
  const replaced = runs.filter((run) => run.old_run_num !== null && run.old_run_num !== run.run_num);
  await adjustStatistics(sql, organizationNum, runs);
  await sql.query({
    name: "publish.flip",
    text: `with run as (
             update pipeline_runs set status = 'completed', embedded = true, embedded_chunk_count = coalesce(embedded_chunk_count, chunk_count), progress = 1,
               attempt_id = null, waiting_for = null, completed_at = now()
             where id = any($1::uuid[]) returning id, num, version, document_id),
           shown as (delete from hidden_runs h using run where h.run_num = run.num and h.space_num = any($2::int[]))
           update documents d set published_run_num = run.num, published_version = run.version, updated_at = now()
           from run where d.id = run.document_id`,
    values: [runs.map((run) => run.run_id), [...new Set(runs.map((run) => run.space_num))]],
  });
  if (replaced.length > 0) await retireRuns(sql, organizationNum, replaced);
  await closeClaimIfDone(sql, claimId);
}

/** Adds what the new runs bring to their space's totals and takes off what the old ones brought. */
async function adjustStatistics(
  sql: Sql,
  organizationNum: number,
  runs: readonly Publishable[],
): Promise<void> {
  await sql.query({
    name: "publish.statistics",
    text: `insert into space_statistics (organization_num, space_num, chunks, terms, embedding_model)
           select $1, s.space_num, sum(s.sign * r.chunk_count), sum(s.sign * r.term_count), r.embedding_model
           from (select space_num, run_num, 1 as sign from unnest($2::int[], $3::int[]) n(space_num, run_num)
                 union all select space_num, old_num, -1 from unnest($2::int[], $4::int[]) o(space_num, old_num)) s
           join pipeline_runs r on r.num = s.run_num
           group by s.space_num, r.embedding_model`,
    values: [
      organizationNum,
      runs.map((run) => run.space_num),
      runs.map((run) => run.run_num),
      runs.map((run) => run.old_run_num),
    ],
  });
}

/** Notes how many terms were indexed for runs, and by which version of the analyzer; several batches of one run add up. */
export async function addTermCounts(
  sql: Sql,
  terms: ReadonlyMap<number, number>,
  analyzerVersion: number,
): Promise<void> {
  await sql.query(
    `update pipeline_runs r set term_count = r.term_count + u.terms, analyzer_version = $3
     from unnest($1::int[], $2::bigint[]) u(num, terms) where r.num = u.num`,
    [[...terms.keys()], [...terms.values()], analyzerVersion],
  );
}

/** Postings stay under cover until a purge of their segment; so do the embeddings of a large run. */
async function retireRuns(
  sql: Sql,
  organizationNum: number,
  replaced: readonly Publishable[],
): Promise<void> {
  const { rows } = await sql.query<{ run_num: number; space_num: number; chunk_count: number }>(
    `with retired as (select r.num, u.space_num, r.chunk_count from unnest($2::int[], $3::int[]) u(num, space_num) join pipeline_runs r on r.num = u.num),
     hidden as (
       insert into hidden_runs (organization_num, space_num, run_num, reason) select $1, space_num, num, 'superseded' from retired on conflict do nothing)
     select num as run_num, space_num, chunk_count from retired`,
    [organizationNum, replaced.map((run) => run.old_run_num), replaced.map((run) => run.space_num)],
  );
  const small = rows.filter((row) => row.chunk_count <= MAX_PUBLISH_CHUNKS);
  if (small.length === 0) return;
  await sql.query(
    "delete from embeddings e using unnest($1::int[], $2::int[]) u(space_num, run_num) where e.space_num = u.space_num and e.run_num = u.run_num",
    [small.map((row) => row.space_num), small.map((row) => row.run_num)],
  );
}
