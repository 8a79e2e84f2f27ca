/** All SQL on the leases of claims, by which processes agree who looks after a claim's workflow. */
import { PAUSES } from "#timings";
import type pg from "pg";
import type { ErrorCode } from "../../domain/errors.ts";
import { LARGE_ABOVE_BYTES, type Lane, type Priority } from "../../domain/work/processing.ts";
import { RUNNING_LEASE, START_LEASE } from "../outbox/leases.ts";
import { queryOnce } from "../pool.ts";
import type { Claim } from "./claim.ts";

/** Notes that the claim's workflow runs, and leases the claim for {@link RUNNING_LEASE}. */
export async function markStarted(system: pg.Pool, claimId: string): Promise<void> {
  await queryOnce(
    system,
    `update claims
     set started_at = coalesce(started_at, now()),
         leased_until = now() + interval '${RUNNING_LEASE}'
     where id = $1
       and closed_at is null`,
    [claimId],
  );
}

/**
 * Ends the lease of a claim whose workflow could not be started, so that the next round may try again at
 * once. Its queued runs show `code` as what they wait for.
 */
export async function endLease(system: pg.Pool, claimId: string, code: ErrorCode): Promise<void> {
  await queryOnce(
    system,
    `with released as (
       update claims
       set leased_until = now()
       where id = $1
         and closed_at is null
     )
     update pipeline_runs
     set waiting_for = $2,
         next_attempt_at = now() + interval '${PAUSES.sweep} milliseconds',
         waiting_since = case when waiting_for = $2 then coalesce(waiting_since, now()) else now() end,
         waiting_attempts = case when waiting_for = $2 then waiting_attempts + 1 else 1 end
     where claim_id = $1
       and status = 'queued'`,
    [claimId, code],
  );
}

/**
 * Leases open claims whose lease has passed to the caller: their workflow was never started, or nobody has
 * asked for it for {@link RUNNING_LEASE}. Two processes never get the same claim.
 */
export async function takeExpiredClaims(system: pg.Pool, limit: number): Promise<Claim[]> {
  const { rows } = await queryOnce<ExpiredRow>(system, {
    name: "claims.take-expired",
    text: `update claims claim
       set leased_until = now() + interval '${START_LEASE}'
       from organizations organization
       where organization.id = claim.organization_id
         and claim.id in (
           select id
           from claims
           where closed_at is null
             and leased_until < now()
           order by leased_until
           limit $1
           for update skip locked
         )
       returning claim.id,
                 claim.organization_id,
                 organization.num,
                 claim.priority,
                 claim.run_ids,
                 claim.isolated,
                 claim.lane,
                 array(
                   select run.space_id from pipeline_runs run where run.id = any(claim.run_ids)
                 ) as space_ids,
                 array(
                   select run.document_id from pipeline_runs run where run.id = any(claim.run_ids)
                 ) as document_ids,
                 (
                   select run.traceparent
                   from pipeline_runs run
                   where run.id = any(claim.run_ids)
                     and run.traceparent is not null
                   limit 1
                 ) as traceparent,
                 claim.isolated or cardinality(claim.run_ids) = 1 and exists (
                   select
                   from pipeline_runs run
                   where run.id = claim.run_ids[1]
                     and run.file_size > ${LARGE_ABOVE_BYTES}
                 ) as is_for_one_run`,
    values: [limit],
  });
  return rows.map((row) => ({
    id: row.id,
    organization: { id: row.organization_id, num: row.num },
    priority: row.priority,
    lane: row.lane,
    runIds: row.run_ids,
    spaceIds: row.space_ids,
    documentIds: row.document_ids,
    isForOneRun: row.is_for_one_run,
    isolated: row.isolated,
    traceparent: row.traceparent,
  }));
}

interface ExpiredRow {
  id: string;
  organization_id: string;
  num: number;
  priority: Priority;
  lane: Lane;
  run_ids: string[];
  space_ids: string[];
  document_ids: string[];
  is_for_one_run: boolean;
  isolated: boolean;
  traceparent: string | null;
}
