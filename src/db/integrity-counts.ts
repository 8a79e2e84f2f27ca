/** All SQL that compares everything of one organization with everything: for the command line and for thorough maintenance. Reads much. */
import type pg from "pg";
import { type OrganizationKey, type Sql, inTransaction, queryOnce } from "./pool.ts";
import { countIndexedTerms } from "./search/indexed-terms.ts";

/** Rows of any kind whose number must be 0. */
export interface IntegrityCounts {
  readonly chunks_without_run: number;
  readonly text_without_run: number;
  readonly entries_without_run: number;
  readonly entries_not_served: number;
  readonly published_incomplete: number;
  readonly published_hidden: number;
  readonly runs_without_claim: number;
  readonly documents_without_file: number;
  readonly statistics_wrong: number;
}

/**
 * Every run number of `table` once, by steps through its index, with the organization's number; `keyed` says what leads the index.
 * A plain `distinct` would read every row.
 */
const stepsThrough = (table: "chunks" | "text_blocks"): string => `(
  with recursive step as (
    (select run_num, organization_id from ${table} order by run_num limit 1)
    union all select n.run_num, n.organization_id from step s, lateral (select run_num, organization_id from ${table} where run_num > s.run_num order by run_num limit 1) n)
  select run_num from step where organization_id = $1)`;

const POSTED_RUNS = `(select distinct run_num, space_num from posting_runs where organization_num = $2)`;

const EMBEDDED_RUNS = `(
  with recursive step as (
    select s.num as space_num, e.run_num from spaces s, lateral (select run_num from embeddings where space_num = s.num order by run_num limit 1) e where s.organization_id = $1
    union all select s.space_num, n.run_num from step s, lateral (select run_num from embeddings where space_num = s.space_num and run_num > s.run_num order by run_num limit 1) n)
  select run_num, space_num from step)`;

const ENTERED_RUNS = `(select run_num, space_num from ${POSTED_RUNS} p union select run_num, space_num from ${EMBEDDED_RUNS} e)`;

/** Entries that search would see although no version serves them. */
const IS_STRAY = `not exists (select from hidden_runs h where h.space_num = x.space_num and h.run_num = x.run_num)
  and not exists (select from documents d where d.published_run_num = x.run_num)`;

export interface OrphanRun {
  readonly run_num: number;
  readonly space_num: number | null;
  readonly kind: "chunks_without_run" | "text_without_run" | "entries_without_run" | "entries_not_served";
}

/** Run numbers that left something behind: whose row is gone, or whose search entries no version serves. */
export async function findOrphanRuns(owner: pg.Pool, organization: OrganizationKey): Promise<OrphanRun[]> {
  const { rows } = await queryOnce<OrphanRun>(
    owner,
    `select x.run_num, null::int as space_num, 'chunks_without_run' as kind from ${stepsThrough("chunks")} x where not exists (select from pipeline_runs r where r.num = x.run_num)
     union all
     select x.run_num, null, 'text_without_run' from ${stepsThrough("text_blocks")} x where not exists (select from pipeline_runs r where r.num = x.run_num)
     union all
     select x.run_num, x.space_num, case when r.num is null then 'entries_without_run' else 'entries_not_served' end
     from ${ENTERED_RUNS} x left join pipeline_runs r on r.num = x.run_num where ${IS_STRAY}`,
    [organization.id, organization.num],
  );
  return rows;
}

/** Chunks of the run `r` without a vector that its model refuses. Asked for the few runs that have fewer vectors than chunks. */
const REFUSED = `(select count(*) from chunks c join embedding_models m on m.num = c.refused_by
  where c.run_num = r.num and m.name = r.embedding_model
    and not exists (select from embeddings v where v.space_num = r.space_num and v.run_num = r.num and v.chunk_index = c.chunk_index))`;

/** Live documents whose published run has not as many chunks, embeddings and terms as it was published with; a chunk that its model refuses has no embedding. */
const INCOMPLETE = `select r.num from documents d join pipeline_runs r on r.num = d.published_run_num
  left join (select run_num, count(*) as count from chunks where organization_id = $1 group by run_num) c on c.run_num = r.num
  left join (select run_num, count(*) as count from embeddings where organization_num = $2 group by run_num) e on e.run_num = r.num
  left join unnest($3::int[], $4::bigint[]) p(run_num, terms) on p.run_num = r.num
  where d.organization_id = $1 and d.deleted_at is null
    and (coalesce(c.count, 0) <> r.chunk_count or coalesce(e.count, 0) <> r.chunk_count - case when coalesce(e.count, 0) < r.chunk_count then ${REFUSED} else 0 end
      or coalesce(p.terms, 0) <> r.term_count)`;

/** Spaces whose totals are not those of their published documents. */
const WRONG_STATISTICS = `select s.num from spaces s
  left join (select space_num, sum(chunks) as chunks, sum(terms) as terms from space_statistics where organization_num = $2 group by space_num) t on t.space_num = s.num
  left join (select d.space_num, sum(r.chunk_count) as chunks, sum(r.term_count) as terms from documents d join pipeline_runs r on r.num = d.published_run_num
             where d.organization_id = $1 and d.deleted_at is null group by d.space_num) p on p.space_num = s.num
  where s.organization_id = $1 and s.deleted_at is null
    and (coalesce(t.chunks, 0) <> coalesce(p.chunks, 0) or coalesce(t.terms, 0) <> coalesce(p.terms, 0))`;

/** Takes the owner's connection, to whom the tenant policies do not apply: the indexes are by run, over all organizations. */
export async function countFaults(owner: pg.Pool, organization: OrganizationKey): Promise<IntegrityCounts> {
  const orphans = await findOrphanRuns(owner, organization);
  // Postings can be counted here alone; what is compared with them must be of the same moment.
  const { rows } = await inTransaction(
    owner,
    async (sql) => {
      const segments = await sql.query<{ num: number }>("select num from posting_segments where organization_num = $1", [organization.num]);
      const terms = await countIndexedTerms(
        sql,
        segments.rows.map((row) => row.num),
      );
      return countRows(sql, organization, terms);
    },
    "begin isolation level repeatable read",
  );
  const count = (kind: OrphanRun["kind"]): number => orphans.filter((orphan) => orphan.kind === kind).length;
  return {
    chunks_without_run: count("chunks_without_run"),
    text_without_run: count("text_without_run"),
    entries_without_run: count("entries_without_run"),
    entries_not_served: count("entries_not_served"),
    ...rows[0]!,
  };
}

async function countRows(sql: Sql, organization: OrganizationKey, terms: ReadonlyMap<number, number>): Promise<{ rows: Omit<IntegrityCounts, OrphanRun["kind"]>[] }> {
  return sql.query<Omit<IntegrityCounts, OrphanRun["kind"]>>(
    `select
       ((select count(*) from documents d where d.organization_id = $1 and d.deleted_at is null and d.published_run_num is not null
           and not exists (select from pipeline_runs r where r.num = d.published_run_num))
        + (select count(*) from (${INCOMPLETE}) i))::int as published_incomplete,
       (select count(*) from hidden_runs h join documents d on d.published_run_num = h.run_num where h.organization_num = $2 and d.deleted_at is null)::int as published_hidden,
       (select count(*) from pipeline_runs r where r.organization_id = $1 and r.status in ('queued', 'parsing', 'chunking', 'embedding')
          and ((r.claim_id is null and r.status <> 'queued')
            or (r.claim_id is not null and not exists (select from claims c where c.id = r.claim_id and c.closed_at is null))))::int as runs_without_claim,
       (select count(*) from documents d where d.organization_id = $1 and d.deleted_at is null
          and not exists (select from raw_files f where f.document_id = d.id and f.deleted_at is null))::int as documents_without_file,
       (select count(*) from (${WRONG_STATISTICS}) w)::int as statistics_wrong`,
    [organization.id, organization.num, [...terms.keys()], [...terms.values()]],
  );
}
