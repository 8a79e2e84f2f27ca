/** All SQL of claims: which queued runs one workflow takes, and what becomes of a claim whose workflow did not end it. */
import type pg from "pg";
import { ALONE_ABOVE_BYTES, LANES, type Lane, type Priority } from "../../domain/work/processing.ts";
import type { ErrorCode } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { type QueuedRow, mayClaim, readLanes, takeQueued } from "./claim-order.ts";
import { type Sql, inTransaction, queryOnce } from "../pool.ts";
import { RUNNING_LEASE, START_LEASE } from "../outbox/leases.ts";

export interface Claim {
  readonly id: string;
  readonly organization: { readonly id: string; readonly num: number };
  readonly priority: Priority;
  readonly runIds: readonly string[];
  readonly spaceIds: readonly string[];
  readonly documentIds: readonly string[];
  /** Null: made by the version before. */
  readonly lane: Lane | null;
  /** The one run goes alone, in a workflow of its own. */
  readonly alone: boolean;
  /** The one run is suspected, and worked on in a process that has nothing else in hand. */
  readonly isolated: boolean;
  /** Of the first of its runs that has one. */
  readonly traceparent: string | null;
}

/**
 * Claims queued runs of one organization and priority, lane by lane: groups of at most 32 files, and large or suspected ones each alone.
 * Two processes that claim at once take different runs. Empty where nothing waits or enough is under way.
 */
export async function claimRuns(
  system: pg.Pool,
  organization: { id: string; num: number },
  priority: Priority,
): Promise<Claim[]> {
  // On a busy system this look is all that most wakes cost: whoever ends a claim claims next.
  if (!(await mayClaim(system, organization.id, priority))) return [];
  return inTransaction(system, async (sql) => {
    await sql.query("select pg_advisory_xact_lock(hashtextextended('claims ' || $1::text, $2))", [
      organization.id,
      priority,
    ]);
    const claims: Claim[] = [];
    for (const state of await readLanes(sql, organization.id, priority)) {
      if (!state.is_queued) continue;
      const taken = await takeQueued(sql, organization.id, priority, state);
      claims.push(
        ...groupsOf(taken, state.lane).map((group) => claimOf(organization, priority, state.lane, group)),
      );
    }
    if (claims.length > 0) await writeClaims(sql, claims);
    return claims;
  });
}

/** Suspected runs, and in the large lane all, go alone. */
function groupsOf(rows: readonly QueuedRow[], lane: Lane): QueuedRow[][] {
  const goesAlone = (row: QueuedRow): boolean => row.suspected || lane === LANES.large;
  const together = rows.filter((row) => !goesAlone(row));
  return [...(together.length > 0 ? [together] : []), ...rows.filter(goesAlone).map((row) => [row])];
}

// oxlint-disable-next-line max-params -- what a claim is made of, used once
function claimOf(
  organization: { id: string; num: number },
  priority: Priority,
  lane: Lane,
  group: readonly QueuedRow[],
): Claim {
  const isolated = group[0]!.suspected;
  return {
    id: newId(),
    organization,
    priority,
    lane,
    runIds: group.map((row) => row.id),
    spaceIds: group.map((row) => row.space_id),
    documentIds: group.map((row) => row.document_id),
    alone: isolated || lane === LANES.large,
    isolated,
    traceparent: group.find((row) => row.traceparent !== null)?.traceparent ?? null,
  };
}

async function writeClaims(sql: Sql, claims: Claim[]): Promise<void> {
  const { organization, priority } = claims[0]!;
  for (const claim of claims) {
    await sql.query({
      name: "claims.write",
      text: `with written as (
               insert into claims (id, organization_id, priority, run_ids, isolated, lane, leased_until)
               values ($1, $2, $3, $4::uuid[], $5, $6, now() + interval '${START_LEASE}'))
             update pipeline_runs set claim_id = $1 where id = any($4::uuid[])`,
      values: [claim.id, organization.id, priority, claim.runIds, claim.isolated, claim.lane],
    });
  }
  await sql.query(
    `insert into claim_turns (organization_id, priority, last_claimed_at) values ($1, $2, now())
     on conflict (organization_id, priority) do update set last_claimed_at = now()`,
    [organization.id, priority],
  );
}

/** The organizations with runs to claim, the one served longest ago first. */
export async function waitingOrganizations(
  system: pg.Pool,
  priority: Priority,
  limit: number,
): Promise<Array<{ id: string; num: number }>> {
  const { rows } = await queryOnce<{ id: string; num: number }>(
    system,
    `with recursive waiting as (
       (select organization_id from pipeline_runs where status = 'queued' and claim_id is null and not held and priority = $1
        order by organization_id limit 1)
       union all
       select next.organization_id from waiting, lateral (
         select organization_id from pipeline_runs
         where status = 'queued' and claim_id is null and not held and priority = $1 and organization_id > waiting.organization_id
         order by organization_id limit 1) next)
     select o.id, o.num from waiting join organizations o on o.id = waiting.organization_id
     left join claim_turns t on t.organization_id = o.id and t.priority = $1
     order by t.last_claimed_at nulls first limit $2`,
    [priority, limit],
  );
  return rows;
}

export async function markStarted(system: pg.Pool, claimId: string): Promise<void> {
  await queryOnce(
    system,
    `update claims set started_at = coalesce(started_at, now()), leased_until = now() + interval '${RUNNING_LEASE}' where id = $1 and closed_at is null`,
    [claimId],
  );
}

/** Lets go of a claim whose workflow could not be started, for the reason that `code` names: the next round may try again at once. */
export async function endLease(system: pg.Pool, claimId: string, code: ErrorCode): Promise<void> {
  await queryOnce(
    system,
    `with released as (update claims set leased_until = now() where id = $1 and closed_at is null)
     update pipeline_runs set waiting_for = $2, next_attempt_at = now() + interval '1 second',
       waiting_since = case when waiting_for = $2 then coalesce(waiting_since, now()) else now() end,
       waiting_attempts = case when waiting_for = $2 then waiting_attempts + 1 else 1 end
     where claim_id = $1 and status = 'queued'`,
    [claimId, code],
  );
}

/**
 * Open claims whose lease has passed: started by nobody, or not heard of for a minute. Each is leased anew to the caller,
 * so that two reconcilers do not take the same.
 */
export async function takeExpiredClaims(system: pg.Pool, limit: number): Promise<Claim[]> {
  const { rows } = await queryOnce<ExpiredRow>(
    system,
    `update claims c set leased_until = now() + interval '${START_LEASE}'
     from organizations o
     where o.id = c.organization_id and c.id in (
       select id from claims where closed_at is null and leased_until < now() order by leased_until limit $1 for update skip locked)
     returning c.id, c.organization_id, o.num, c.priority, c.run_ids, c.isolated, c.lane,
       array(select r.space_id from pipeline_runs r where r.id = any(c.run_ids)) as space_ids,
       array(select r.document_id from pipeline_runs r where r.id = any(c.run_ids)) as document_ids,
       (select r.traceparent from pipeline_runs r where r.id = any(c.run_ids) and r.traceparent is not null limit 1) as traceparent,
       c.isolated or cardinality(c.run_ids) = 1 and exists (select from pipeline_runs r where r.id = c.run_ids[1] and r.file_size > ${ALONE_ABOVE_BYTES}) as alone`,
    [limit],
  );
  return rows.map((row) => ({
    id: row.id,
    organization: { id: row.organization_id, num: row.num },
    priority: row.priority,
    lane: row.lane,
    runIds: row.run_ids,
    spaceIds: row.space_ids,
    documentIds: row.document_ids,
    alone: row.alone,
    isolated: row.isolated,
    traceparent: row.traceparent,
  }));
}

interface ExpiredRow {
  id: string;
  organization_id: string;
  num: number;
  priority: Priority;
  lane: Lane | null;
  run_ids: string[];
  space_ids: string[];
  document_ids: string[];
  alone: boolean;
  isolated: boolean;
  traceparent: string | null;
}

/** Whether any organization has a suspected run to work on. */
export async function hasIsolatedClaims(system: pg.Pool): Promise<boolean> {
  const { rows } = await queryOnce<{ has: boolean }>(system, {
    name: "claims.isolated",
    text: "select exists (select from claims where isolated and closed_at is null) as has",
    values: [],
  });
  return rows[0]!.has;
}

/** Ends a claim whose workflow has closed: its runs that did not end go back to the queue, to be claimed anew. */
export async function releaseClaim(system: pg.Pool, claimId: string): Promise<number> {
  return inTransaction(system, async (sql) => {
    const released = await sql.query(
      `update pipeline_runs set claim_id = null, attempt_id = null, status = 'queued', waiting_for = null
       where claim_id = $1 and status in ('queued', 'parsing', 'chunking', 'embedding')`,
      [claimId],
    );
    await sql.query("update claims set closed_at = now() where id = $1 and closed_at is null", [claimId]);
    return released.rowCount ?? 0;
  });
}

/** Closes the claim where none of its runs is active any more. Runs in the tenant's transaction that ended the last of them. */
export async function closeClaimIfDone(sql: Sql, claimId: string): Promise<void> {
  await sql.query({
    name: "claims.close",
    text: `update claims set closed_at = now() where id = $1 and closed_at is null and not exists (
             select from pipeline_runs where claim_id = $1 and status in ('queued', 'parsing', 'chunking', 'embedding'))`,
    values: [claimId],
  });
}

/** Says whether all that is left of the claim waits for an outage. */
export async function setClaimWaiting(sql: Sql, claimId: string, waiting: boolean): Promise<void> {
  await sql.query("update claims set waiting = $2 where id = $1 and closed_at is null and waiting <> $2", [
    claimId,
    waiting,
  ]);
}
