/** Turns that ended without a bookkeeping workflow: their rows wait until a workflow adopts them. */
import { DEADLINES } from "#timings";
import type { AdoptedStatus } from "../../domain/work/turn.ts";
import { type Database, queryOnce, type Sql } from "../pool.ts";

/** Gives a group whose start is under way, or failed unnoticed, the time to adopt its turns itself. */
const ADOPTED_FROM = "2 seconds";
/** If the process dies meanwhile, another one starts a workflow for them so much later. */
const ADOPTION_LEASE = `${DEADLINES.adoptionLease} milliseconds`;
export const TURNS_AN_ADOPTION = 500;

/** The statement that lets ended turns wait for a workflow. It comes after the one that ends them. */
export const LEAVE_TURNS = `
  update turns
  set adopt_after = now() + interval '${ADOPTED_FROM}'
  where id = any($1::uuid[])
    and status in ('completed', 'failed', 'cancelled')`;

/** Leases the turns that have waited longest. @returns their ids. */
export async function takeWaitingTurns(db: Database): Promise<string[]> {
  const { rows } = await queryOnce<{ id: string }>(db.system, {
    name: "turns.take-waiting",
    text: `update turns
       set adopt_after = now() + interval '${ADOPTION_LEASE}'
       where id = any(array(
         select id
         from turns
         where adopt_after <= now()
         order by ended_at
         limit ${TURNS_AN_ADOPTION}
         for update skip locked
       ))
       returning id`,
  });
  return rows.map((row) => row.id);
}

/** Ends the leases of turns whose workflow could not be started. */
export async function giveBackTurns(db: Database, turnIds: readonly string[]): Promise<void> {
  await queryOnce(
    db.system,
    `update turns
     set adopt_after = now()
     where id = any($1::uuid[])
       and adopt_after is not null`,
    [turnIds],
  );
}

/**
 * Ends the wait of those turns that are waiting. If several workflows ask for one turn, only one gets it.
 * @returns how each of them had ended.
 */
export async function adoptWaitingTurns(db: Database, turnIds: readonly string[]): Promise<AdoptedStatus[]> {
  const { rows } = await queryOnce<{ status: AdoptedStatus }>(
    db.system,
    `update turns
     set adopt_after = null
     where id = any($1::uuid[])
       and adopt_after is not null
     returning status`,
    [turnIds],
  );
  return rows.map((row) => row.status);
}

export async function countWaitingTurns(db: Database): Promise<number> {
  const { rows } = await queryOnce<{ count: number }>(
    db.system,
    `select count(*)::int as count
     from turns
     where adopt_after is not null`,
  );
  return rows[0]!.count;
}

export interface TurnFaultCounts {
  /** Turns that wait for a workflow although one that ended after them, over an hour ago, needed no wait. */
  readonly turns_not_adopted: number;
}

/** A turn that needed no wait shows that Temporal was there when it ended. */
export async function countTurnFaults(sql: Sql, organizationId: string): Promise<TurnFaultCounts> {
  const { rows } = await sql.query<TurnFaultCounts>(
    `select count(*)::int as turns_not_adopted
     from turns waiting
     where waiting.organization_id = $1
       and waiting.adopt_after is not null
       and waiting.ended_at < (
         select max(later.ended_at)
         from turns later
         where later.organization_id = $1
           and later.adopt_after is null
           and later.status in ('completed', 'failed', 'cancelled')
           and not later.is_rerank
           and later.ended_at < now() - interval '1 hour'
       )`,
    [organizationId],
  );
  return rows[0]!;
}
