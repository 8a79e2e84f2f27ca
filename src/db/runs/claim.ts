/** All SQL of claims, from claiming queued runs for one workflow to closing or releasing the claim. */
import type pg from "pg";
import { LANES, type Lane, type Priority } from "../../domain/work/processing.ts";
import { newId } from "../../domain/ids.ts";
import { type QueuedRow, mayClaim, readLanes, takeQueued } from "./claim-order.ts";
import { type Sql, inTransaction, queryOnce } from "../pool.ts";
import { START_LEASE } from "../outbox/leases.ts";

export interface Claim {
  readonly id: string;
  readonly organization: { readonly id: string; readonly num: number };
  readonly priority: Priority;
  readonly runIds: readonly string[];
  readonly spaceIds: readonly string[];
  readonly documentIds: readonly string[];
  /** Null if the previous version made the claim. */
  readonly lane: Lane;
  /** The claim has one run by design: a large or a suspected one. */
  readonly isForOneRun: boolean;
  /** Its one run is suspected, and is processed in a process that does nothing else. */
  readonly isolated: boolean;
  /** The trace of the first of its runs that has one. */
  readonly traceparent: string | null;
}

/**
 * Claims queued runs of one organization and priority, lane by lane: groups of at most 32 runs, but a claim
 * of its own for each large or suspected run. Two processes that claim at once get different runs. Returns no
 * claim if nothing is queued or enough is under way.
 */
export async function claimRuns(
  system: pg.Pool,
  organization: { id: string; num: number },
  priority: Priority,
): Promise<Claim[]> {
  // On a busy system most calls end with this check: the process that ends a claim claims the next runs.
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

/** Puts each suspected run, and each run of the large lane, into a group of its own. */
function groupsOf(rows: readonly QueuedRow[], lane: Lane): QueuedRow[][] {
  const needsOwnClaim = (row: QueuedRow): boolean => row.suspected || lane === LANES.large;
  const shared = rows.filter((row) => !needsOwnClaim(row));
  const single = rows.filter(needsOwnClaim).map((row) => [row]);
  return shared.length > 0 ? [shared, ...single] : single;
}

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
    isForOneRun: isolated || lane === LANES.large,
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
               values ($1, $2, $3, $4::uuid[], $5, $6, now() + interval '${START_LEASE}')
             )
             update pipeline_runs
             set claim_id = $1
             where id = any($4::uuid[])`,
      values: [claim.id, organization.id, priority, claim.runIds, claim.isolated, claim.lane],
    });
  }
  await sql.query(
    `insert into claim_turns (organization_id, priority, last_claimed_at)
     values ($1, $2, now())
     on conflict (organization_id, priority) do update
     set last_claimed_at = now()`,
    [organization.id, priority],
  );
}

/** A run of priority `$1` that may be claimed. */
const IS_WAITING = "status = 'queued' and claim_id is null and not held and priority = $1";

/** Returns organizations with runs to claim, the least recently served first. */
export async function waitingOrganizations(
  system: pg.Pool,
  priority: Priority,
  limit: number,
): Promise<Array<{ id: string; num: number }>> {
  const { rows } = await queryOnce<{ id: string; num: number }>(system, {
    name: "claims.waiting-organizations",
    text: `with recursive waiting as (
         (
           select organization_id
           from pipeline_runs
           where ${IS_WAITING}
           order by organization_id
           limit 1
         )
         union all
         select next.organization_id
         from waiting,
              lateral (
                select organization_id
                from pipeline_runs
                where ${IS_WAITING}
                  and organization_id > waiting.organization_id
                order by organization_id
                limit 1
              ) next
       )
       select organization.id, organization.num
       from waiting
       join organizations organization on organization.id = waiting.organization_id
       left join claim_turns served on served.organization_id = organization.id and served.priority = $1
       order by served.last_claimed_at nulls first
       limit $2`,
    values: [priority, limit],
  });
  return rows;
}

/** Returns whether any organization has an open claim of a suspected run. */
export async function hasIsolatedClaims(system: pg.Pool): Promise<boolean> {
  const { rows } = await queryOnce<{ has: boolean }>(system, {
    name: "claims.isolated",
    text: `select exists (
             select
             from claims
             where isolated
               and closed_at is null
           ) as has`,
    values: [],
  });
  return rows[0]!.has;
}

/** Closes a claim whose workflow has closed. @returns how many of its active runs are queued again. */
export async function releaseClaim(system: pg.Pool, claimId: string): Promise<number> {
  return inTransaction(system, async (sql) => {
    const released = await sql.query(
      `update pipeline_runs
       set claim_id = null,
           attempt_id = null,
           status = 'queued',
           waiting_for = null
       where claim_id = $1
         and status in ('queued', 'parsing', 'chunking', 'embedding')`,
      [claimId],
    );
    await sql.query("update claims set closed_at = now() where id = $1 and closed_at is null", [claimId]);
    return released.rowCount ?? 0;
  });
}

/** Closes the claim if none of its runs is active. Call it in the transaction that ended some. */
export async function closeClaimIfDone(sql: Sql, claimId: string): Promise<void> {
  await sql.query({
    name: "claims.close",
    text: `update claims
           set closed_at = now()
           where id = $1
             and closed_at is null
             and not exists (
               select
               from pipeline_runs
               where claim_id = $1
                 and status in ('queued', 'parsing', 'chunking', 'embedding')
             )`,
    values: [claimId],
  });
}

/** Notes whether every active run of the claim waits for an outage; it then takes no room in its lane. */
export async function setClaimWaiting(sql: Sql, claimId: string, waiting: boolean): Promise<void> {
  await sql.query(
    `update claims
     set waiting = $2
     where id = $1
       and closed_at is null
       and waiting <> $2`,
    [claimId, waiting],
  );
}
