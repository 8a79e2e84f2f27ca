/** Compares everything of one organization with everything, by functions of the database: for the command line, metrics and thorough maintenance. Reads much. */
import { type Database, type OrganizationKey, type Sql, inTenant } from "../pool.ts";
import { countIndexedTerms } from "../search/index/indexed-terms.ts";

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

export interface OrphanRun {
  readonly run_num: number;
  readonly space_num: number | null;
  readonly kind: "chunks_without_run" | "text_without_run" | "entries_without_run" | "entries_not_served";
}

/** Far above what a request may take: all chunks and vectors of an organization are counted. */
const PATIENCE = "set local statement_timeout = '1h'";

/** Run numbers that left something behind: whose row is gone, or whose search entries no version serves. */
export async function findOrphanRuns(db: Database, organization: OrganizationKey): Promise<OrphanRun[]> {
  return inTenant(db, organization, async (sql) => {
    await sql.query(PATIENCE);
    return listOrphanRuns(sql, organization);
  });
}

/** Vectors are read here, with the rights of the application, and never by the functions, which have the owner's: these tables belong to another login. */
async function listOrphanRuns(sql: Sql, { id }: OrganizationKey): Promise<OrphanRun[]> {
  const { rows } = await sql.query<OrphanRun>(
    `with recursive step as (
       select s.num as space_num, e.run_num from spaces s,
         lateral (select v.run_num from embeddings v where v.space_num = s.num order by v.run_num limit 1) e where s.organization_id = $1
       union all
       select s.space_num, n.run_num from step s,
         lateral (select v.run_num from embeddings v where v.space_num = s.space_num and v.run_num > s.run_num order by v.run_num limit 1) n),
     seen as (select coalesce(array_agg(space_num), '{}') as spaces, coalesce(array_agg(run_num), '{}') as runs from step)
     select o.run_num, o.space_num, o.kind from seen, orphan_runs(seen.spaces, seen.runs) o`,
    [id],
  );
  return rows;
}

/** How many chunks of each run have a vector; of published runs that have too few, also those that the run's model refuses. */
async function countVectors(sql: Sql, { id, num }: OrganizationKey): Promise<ReadonlyMap<number, number>> {
  const { rows } = await sql.query<{ run_num: number; count: number }>(
    `with embedded as (select e.run_num, count(*) as count from embeddings e where e.organization_num = $1 group by e.run_num),
     refused as (
       select r.num as run_num, count(*) as count from documents d join pipeline_runs r on r.num = d.published_run_num
         join embedding_models m on m.name = r.embedding_model join chunks c on c.run_num = r.num and c.refused_by = m.num left join embedded e on e.run_num = r.num
       where d.organization_id = $2 and d.deleted_at is null and coalesce(e.count, 0) < r.chunk_count
         and not exists (select from embeddings v where v.space_num = r.space_num and v.run_num = r.num and v.chunk_index = c.chunk_index)
       group by r.num)
     select run_num, sum(count)::bigint as count from (select * from embedded union all select * from refused) counted group by run_num`,
    [num, id],
  );
  return new Map(rows.map((row) => [row.run_num, row.count]));
}

/** Everything is of one moment. */
export async function countFaults(db: Database, organization: OrganizationKey): Promise<IntegrityCounts> {
  const count = async (sql: Sql): Promise<IntegrityCounts> => {
    await sql.query(PATIENCE);
    const orphans = await listOrphanRuns(sql, organization);
    const segments = await sql.query<{ num: number }>(
      "select num from posting_segments where organization_num = $1",
      [organization.num],
    );
    // Postings can be counted here alone.
    const terms = await countIndexedTerms(
      sql,
      segments.rows.map((row) => row.num),
    );
    const vectors = await countVectors(sql, organization);
    const counted = [[...terms.keys()], [...terms.values()], [...vectors.keys()], [...vectors.values()]];
    const { rows } = await sql.query<Omit<IntegrityCounts, OrphanRun["kind"]>>(
      "select * from count_faults($1, $2, $3, $4)",
      counted,
    );
    const orphansOf = (kind: OrphanRun["kind"]): number =>
      orphans.filter((orphan) => orphan.kind === kind).length;
    return {
      chunks_without_run: orphansOf("chunks_without_run"),
      text_without_run: orphansOf("text_without_run"),
      entries_without_run: orphansOf("entries_without_run"),
      entries_not_served: orphansOf("entries_not_served"),
      ...rows[0]!,
    };
  };
  return inTenant(db, organization, count, "isolation level repeatable read");
}
