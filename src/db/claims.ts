/** All SQL of claims: which queued runs one workflow takes, and what becomes of a claim whose workflow did not end it. */
import type pg from "pg";
import { ALONE_ABOVE_BYTES, MAX_CLAIM_RUNS, type Priority } from "../domain/processing.ts";
import { newId } from "../domain/ids.ts";
import { type Sql, inTransaction, queryOnce } from "./pool.ts";
import { RUNNING_LEASE, START_LEASE } from "./start-leases.ts";

export interface Claim {
  readonly id: string;
  readonly organization: { readonly id: string; readonly num: number };
  readonly priority: Priority;
  readonly runIds: readonly string[];
  readonly spaceIds: readonly string[];
  readonly documentIds: readonly string[];
  /** The one run goes alone, in a workflow of its own. */
  readonly alone: boolean;
  /** The one run is suspected, and worked on in a process that has nothing else in hand. */
  readonly isolated: boolean;
  /** Of the first of its runs that has one. */
  readonly traceparent: string | null;
}

/** Groups that an organization may have under way in each priority: what comes meanwhile gathers in the queue and shares a workflow. */
const MAX_OPEN_CLAIMS = { 0: 3, 1: 1 } as const;

interface QueuedRow {
  id: string;
  space_id: string;
  document_id: string;
  alone: boolean;
  suspected: boolean;
  traceparent: string | null;
}

/** Claims that count against what an organization may have under way. */
const UNDER_WAY = "closed_at is null and not waiting and not isolated";

/**
 * Claims queued runs of one organization and priority: groups of at most 32 small files, and large or suspected ones each alone.
 * Two processes that claim at once take different runs. Empty where nothing waits or enough is under way.
 */
export async function claimRuns(system: pg.Pool, organization: { id: string; num: number }, priority: Priority): Promise<Claim[]> {
  if (!(await mayClaim(system, organization.id, priority))) return [];
  return inTransaction(system, async (sql) => {
    await sql.query("select pg_advisory_xact_lock(hashtextextended('claims ' || $1::text, $2))", [organization.id, priority]);
    const { rows } = await sql.query<QueuedRow>({
      name: "claims.queued",
      text: `select id, space_id, document_id, traceparent, suspected, suspected or file_size > ${ALONE_ABOVE_BYTES} as alone from pipeline_runs
             where organization_id = $1 and priority = $2 and status = 'queued' and claim_id is null and not held
               and (select count(*) from claims where organization_id = $1 and priority = $2 and ${UNDER_WAY}) < $3
             order by num limit ${MAX_CLAIM_RUNS} for update skip locked`,
      values: [organization.id, priority, MAX_OPEN_CLAIMS[priority]],
    });
    if (rows.length === 0) return [];
    const groups = [rows.filter((row) => !row.alone), ...rows.filter((row) => row.alone).map((row) => [row])].filter((group) => group.length > 0);
    const claims = groups.map((group) => ({
      id: newId(),
      organization,
      priority,
      runIds: group.map((row) => row.id),
      spaceIds: group.map((row) => row.space_id),
      documentIds: group.map((row) => row.document_id),
      alone: group[0]!.alone,
      isolated: group[0]!.suspected,
      traceparent: group.find((row) => row.traceparent !== null)?.traceparent ?? null,
    }));
    await writeClaims(sql, claims);
    return claims;
  });
}

/** A look without a lock, which on a busy system is all that most wakes cost: whoever ends a claim claims next. */
async function mayClaim(system: pg.Pool, organizationId: string, priority: Priority): Promise<boolean> {
  const { rows } = await queryOnce<{ open: number }>(system, {
    name: "claims.open",
    text: `select count(*)::int as open from claims where organization_id = $1 and priority = $2 and ${UNDER_WAY}`,
    values: [organizationId, priority],
  });
  return rows[0]!.open < MAX_OPEN_CLAIMS[priority];
}

async function writeClaims(sql: Sql, claims: Claim[]): Promise<void> {
  const { organization, priority } = claims[0]!;
  for (const claim of claims) {
    await sql.query({
      name: "claims.write",
      text: `with written as (
               insert into claims (id, organization_id, priority, run_ids, isolated, leased_until)
               values ($1, $2, $3, $4::uuid[], $5, now() + interval '${START_LEASE}'))
             update pipeline_runs set claim_id = $1 where id = any($4::uuid[])`,
      values: [claim.id, organization.id, priority, claim.runIds, claim.isolated],
    });
  }
  await sql.query(
    `insert into claim_turns (organization_id, priority, last_claimed_at) values ($1, $2, now())
     on conflict (organization_id, priority) do update set last_claimed_at = now()`,
    [organization.id, priority],
  );
}

/** The organizations with runs to claim, the one served longest ago first. */
export async function waitingOrganizations(system: pg.Pool, priority: Priority, limit: number): Promise<Array<{ id: string; num: number }>> {
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
  await queryOnce(system, `update claims set started_at = coalesce(started_at, now()), leased_until = now() + interval '${RUNNING_LEASE}' where id = $1 and closed_at is null`, [
    claimId,
  ]);
}

/** Lets go of a claim whose workflow could not be started: the next round may try again at once. */
export async function endLease(system: pg.Pool, claimId: string): Promise<void> {
  await queryOnce(system, "update claims set leased_until = now() where id = $1 and closed_at is null", [claimId]);
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
     returning c.id, c.organization_id, o.num, c.priority, c.run_ids, c.isolated,
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
  await sql.query("update claims set waiting = $2 where id = $1 and closed_at is null and waiting <> $2", [claimId, waiting]);
}
