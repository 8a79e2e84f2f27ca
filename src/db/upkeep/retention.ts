/**
 * All SQL of maintenance over all organizations: deletes rows that are past their retention, counts what is
 * kept of responses, and queues stray runs again.
 */
import type pg from "pg";
import { ROWS_A_PURGE } from "../../domain/work/maintenance-rounds.ts";
import { type Database, queryOnce } from "../pool.ts";

/**
 * Returns active runs to the queue whose claim is closed or does not exist, since no workflow processes them.
 * Open claims are left to the dispatcher, which asks Temporal what became of their workflows.
 * @returns how many runs.
 */
export async function requeueStrayRuns(system: pg.Pool): Promise<number> {
  const { rowCount } = await queryOnce(
    system,
    `update pipeline_runs run
     set claim_id = null,
         attempt_id = null,
         status = 'queued',
         waiting_for = null
     where run.status in ('queued', 'parsing', 'chunking', 'embedding')
       and (
         (run.claim_id is null and run.status <> 'queued')
         or (
           run.claim_id is not null
           and not exists (
             select
             from claims claim
             where claim.id = run.claim_id
               and claim.closed_at is null
           )
         )
       )`,
  );
  return rowCount ?? 0;
}

/** For each table, the statement that deletes at most `$1` rows that are past their retention. */
const DELETE_EXPIRED = {
  idempotency_keys: `delete from idempotency_keys
                     where ctid = any(array(
                       select ctid
                       from idempotency_keys
                       where claimed_at < now() - interval '24 hours'
                       limit $1
                     ))`,
  budgets_reached: `delete from budgets_reached
                    where ctid = any(array(
                      select ctid
                      from budgets_reached
                      where month < now() - interval '62 days'
                      limit $1
                    ))`,
  kept_turns: `delete from kept_turns
               where ctid = any(array(
                 select ctid
                 from kept_turns
                 where created_at < now() - interval '24 hours'
                 limit $1
               ))`,
  mcp_answers: `delete from mcp_answers
                where ctid = any(array(
                  select ctid
                  from mcp_answers
                  where created_at < now() - interval '1 hour'
                  limit $1
                ))`,
  mcp_sessions: `delete from mcp_sessions
                 where ctid = any(array(
                   select ctid
                   from mcp_sessions
                   where used_at < now() - interval '25 hours'
                   limit $1
                 ))`,
  responses: `delete from responses
              where ctid = any(array(
                select ctid
                from responses
                where expires_at < now()
                limit $1
              ))`,
  claims: `delete from claims
           where ctid = any(array(
             select ctid
             from claims
             where closed_at < now() - interval '1 day'
             limit $1
           ))`,
  deletions: `delete from deletions
              where ctid = any(array(
                select ctid
                from deletions
                where completed_at < now() - interval '30 days'
                limit $1
              ))`,
  turn_calls: `delete from turn_calls
               where ctid = any(array(
                 select ctid
                 from turn_calls
                 where at < now() - interval '400 days'
                 limit $1
               ))`,
  rate_limits: `delete from rate_limits
                where ctid = any(array(
                  select ctid
                  from rate_limits
                  where minute < extract(epoch from now()) / 60 - 60
                  limit $1
                ))`,
  turns: `delete from turns
          where ctid = any(array(
            select ctid
            from turns
            where started_at < now() - interval '400 days'
              and status <> 'open'
            limit $1
          ))`,
  webhook_deliveries: `delete from webhook_deliveries
                       where num = any(array(
                         select delivery.num
                         from webhooks webhook
                         join webhook_deliveries delivery on delivery.webhook_id = webhook.id
                         where webhook.deleted_at is not null
                         limit $1
                       ))`,
  // After their deliveries, and long after a worker that still had one in hand.
  webhooks: `delete from webhooks
             where id = any(array(
               select webhook.id
               from webhooks webhook
               where webhook.deleted_at < now() - interval '1 day'
                 and not exists (
                   select
                   from webhook_deliveries delivery
                   where delivery.webhook_id = webhook.id
                 )
               limit $1
             ))`,
} as const;

/**
 * Deletes a bounded part of the rows that are past their retention from every table. One table that fails
 * keeps no other from it.
 * @returns how many rows of each table, whether there may be more, and what was thrown.
 */
export async function deleteExpired(
  db: Database,
): Promise<{ counts: Record<string, number>; hasMore: boolean; errors: unknown[] }> {
  const counts: Record<string, number> = {};
  const errors: unknown[] = [];
  for (const [table, statement] of Object.entries(DELETE_EXPIRED)) {
    try {
      const { rowCount } = await queryOnce(db.system, statement, [ROWS_A_PURGE]);
      counts[table] = rowCount ?? 0;
    } catch (error) {
      errors.push(error);
    }
  }
  return { counts, hasMore: Object.values(counts).some((count) => count >= ROWS_A_PURGE), errors };
}

/** Sealed bytes of the responses that are kept for all users of all organizations. */
export async function countResponseBytes(system: pg.Pool): Promise<number> {
  const { rows } = await queryOnce<{ bytes: number }>(
    system,
    `select coalesce(sum(bytes), 0)::bigint as bytes
     from response_usage`,
  );
  return rows[0]!.bytes;
}
