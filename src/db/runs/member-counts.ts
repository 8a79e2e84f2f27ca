/** SQL that counts the members of a claim by state. */
import type { GroupWait } from "../../domain/work/processing.ts";
import type { Sql } from "../pool.ts";

/** How many members of a claim are in each state. */
interface MemberCounts {
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly active: number;
  /** Active members that are chunked. */
  readonly ready: number;
  /** Active members that an attempt has. */
  readonly taken: number;
  readonly waits: readonly GroupWait[];
}

const NO_MEMBERS: MemberCounts = {
  total: 0,
  completed: 0,
  failed: 0,
  active: 0,
  ready: 0,
  taken: 0,
  waits: [],
};

/** Counts the claim's members by state; everything is 0 if the claim does not exist. */
export async function countMembers(sql: Sql, claimId: string): Promise<MemberCounts> {
  const { rows } = await sql.query<MemberCounts>({
    name: "attempts.standing",
    text: `select cardinality(claim.run_ids) as total,
                  count(run.id) filter (where run.status = 'completed')::int as completed,
                  count(run.id) filter (where run.status = 'failed')::int as failed,
                  count(run.id) filter (
                    where run.status in ('queued', 'parsing', 'chunking', 'embedding')
                  )::int as active,
                  count(run.id) filter (
                    where run.status in ('queued', 'parsing', 'chunking', 'embedding')
                      and run.chunked
                  )::int as ready,
                  count(run.id) filter (
                    where run.status in ('queued', 'parsing', 'chunking', 'embedding')
                      and run.attempt_id is not null
                  )::int as taken,
                  coalesce((
                    select jsonb_agg(wait)
                    from (
                      select waiting.waiting_for as code,
                             count(*)::int as runs,
                             to_char(
                               min(coalesce(waiting.waiting_since, waiting.started_at, waiting.created_at))
                                 at time zone 'UTC',
                               'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
                             ) as since
                      from pipeline_runs waiting
                      where waiting.claim_id = $1
                        and waiting.status in ('queued', 'parsing', 'chunking', 'embedding')
                        and waiting.waiting_for is not null
                      group by 1
                      order by 1
                    ) wait
                  ), '[]') as waits
           from claims claim
           left join pipeline_runs run on run.claim_id = claim.id
           where claim.id = $1
           group by claim.id`,
    values: [claimId],
  });
  return rows[0] ?? NO_MEMBERS;
}
