/** Checks an organization's rows against each other: for commands, metrics, thorough maintenance. */
import { type Database, type OrganizationRef, type Sql, inTenant } from "../pool.ts";
import { type TurnFaultCounts, countTurnFaults } from "../turns/adoption.ts";
import { countEventFaults, type EventFaultCounts } from "./event-integrity.ts";

interface ResponseFaultCounts {
  /** Users for whom another number of bytes of stored responses is noted than is kept. */
  readonly response_usage_wrong: number;
  /** Contents that no response has or goes on from. */
  readonly response_contents_unneeded: number;
}

/** Counts of rows that should not exist; each must be 0. */
export interface IntegrityCounts extends EventFaultCounts, ResponseFaultCounts, TurnFaultCounts {
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

/** All chunks and vectors of an organization are counted, which takes far longer than a request may. */
const PATIENCE = "set local statement_timeout = '1h'";

/** Returns runs that left rows behind: their own row is gone, or no version serves their entries. */
export async function findOrphanRuns(db: Database, organization: OrganizationRef): Promise<OrphanRun[]> {
  return inTenant(db, organization, async (sql) => {
    await sql.query(PATIENCE);
    return listOrphanRuns(sql, organization);
  });
}

/**
 * Reads the runs that have vectors with the rights of the application, since the functions of the database,
 * which have the owner's rights, may not read these tables. The recursive query finds each next run by index.
 */
async function listOrphanRuns(sql: Sql, { id }: OrganizationRef): Promise<OrphanRun[]> {
  const { rows } = await sql.query<OrphanRun>(
    `with recursive step as (
       select space.num as space_num, first.run_num
       from spaces space,
            lateral (
              select embedding.run_num
              from embeddings embedding
              where embedding.space_num = space.num
              order by embedding.run_num
              limit 1
            ) first
       where space.organization_id = $1
       union all
       select step.space_num, next.run_num
       from step,
            lateral (
              select embedding.run_num
              from embeddings embedding
              where embedding.space_num = step.space_num
                and embedding.run_num > step.run_num
              order by embedding.run_num
              limit 1
            ) next
     ),
     seen as (
       select coalesce(array_agg(space_num), '{}') as spaces,
              coalesce(array_agg(run_num), '{}') as runs
       from step
     )
     select orphan.run_num, orphan.space_num, orphan.kind
     from seen,
          orphan_runs(seen.spaces, seen.runs) orphan`,
    [id],
  );
  return rows;
}

/** Counts each run's chunks with a vector or, if a published run lacks some, a refusal. */
async function countVectors(sql: Sql, { id, num }: OrganizationRef): Promise<ReadonlyMap<number, number>> {
  const { rows } = await sql.query<{ run_num: number; count: number }>(
    `with embedded as (
       select run_num, count(*) as count
       from embeddings
       where organization_num = $1
       group by run_num
     ),
     refused as (
       select run.num as run_num, count(*) as count
       from documents document
       join pipeline_runs run on run.num = document.published_run_num
       join embedding_models model on model.name = run.embedding_model
       join chunks chunk on chunk.run_num = run.num and chunk.refused_by = model.num
       left join embedded on embedded.run_num = run.num
       where document.organization_id = $2
         and document.deleted_at is null
         and coalesce(embedded.count, 0) < run.chunk_count
         and not exists (
           select
           from embeddings embedding
           where embedding.space_num = run.space_num
             and embedding.run_num = run.num
             and embedding.chunk_index = chunk.chunk_index
         )
       group by run.num
     )
     select run_num, sum(count)::bigint as count
     from (
       select * from embedded
       union all
       select * from refused
     ) counted
     group by run_num`,
    [num, id],
  );
  return new Map(rows.map((row) => [row.run_num, row.count]));
}

/** Lengths of stored responses are read without the sealed bytes. */
const COUNT_RESPONSE_FAULTS = `
  with kept as (
    select user_id, sum(bytes) as bytes
    from (
      select user_id,
             octet_length(sealed_request) + coalesce(octet_length(sealed_response), 0) + event_bytes as bytes
      from responses
      where organization_id = $1
      union all
      select user_id, bytes
      from response_contents
      where organization_id = $1
    ) one
    group by user_id
  ),
  noted as (
    select user_id, bytes
    from response_usage
    where organization_id = $1
  )
  select
    (
      select count(*)::int
      from kept
      full join noted using (user_id)
      where coalesce(kept.bytes, 0) <> coalesce(noted.bytes, 0)
    ) as response_usage_wrong,
    (
      select count(*)::int
      from response_contents content
      where content.organization_id = $1
        and not exists (select from responses where organization_id = $1 and id = content.id)
        and not exists (
          select
          from response_contents later
          where later.organization_id = $1
            and later.before_id = content.id
        )
    ) as response_contents_unneeded`;

/** Returns the numbers of the organization's segments; its transaction may then take an hour. */
export async function listSegments(sql: Sql, organization: OrganizationRef): Promise<number[]> {
  await sql.query(PATIENCE);
  const { rows } = await sql.query<{ num: number }>(
    `select num
     from posting_segments
     where organization_num = $1`,
    [organization.num],
  );
  return rows.map((row) => row.num);
}

/**
 * Counts the faults of the organization's rows.
 * @param terms of each run in its postings. They are packed, so the database cannot count them.
 */
export async function countFaultsOf(
  sql: Sql,
  organization: OrganizationRef,
  terms: ReadonlyMap<number, number>,
): Promise<IntegrityCounts> {
  const orphans = await listOrphanRuns(sql, organization);
  const vectors = await countVectors(sql, organization);
  const counted = [[...terms.keys()], [...terms.values()], [...vectors.keys()], [...vectors.values()]];
  const { rows } = await sql.query<
    Omit<
      IntegrityCounts,
      OrphanRun["kind"] | keyof EventFaultCounts | keyof ResponseFaultCounts | keyof TurnFaultCounts
    >
  >(
    `select *
     from count_faults($1, $2, $3, $4)`,
    counted,
  );
  const responses = await sql.query<ResponseFaultCounts>(COUNT_RESPONSE_FAULTS, [organization.id]);
  const orphansOf = (kind: OrphanRun["kind"]): number =>
    orphans.filter((orphan) => orphan.kind === kind).length;
  return {
    chunks_without_run: orphansOf("chunks_without_run"),
    text_without_run: orphansOf("text_without_run"),
    entries_without_run: orphansOf("entries_without_run"),
    entries_not_served: orphansOf("entries_not_served"),
    ...rows[0]!,
    ...(await countEventFaults(sql, organization.id)),
    ...(await countTurnFaults(sql, organization.id)),
    ...responses.rows[0]!,
  };
}
