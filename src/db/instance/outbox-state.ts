/** Counts what is in the outboxes of all organizations, and groups what waits by what it waits for. */
import { DUE_WEBHOOKS } from "../events/lag.ts";
import type { PageRequest } from "../page.ts";
import { type Database, queryOnce } from "../pool.ts";

export interface OutboxState {
  readonly kind: "runs" | "deletions" | "batches" | "operations" | "webhooks" | "events";
  /** Rows that nobody has taken. */
  readonly waiting: number;
  /** Rows that a workflow or a process has. */
  readonly under_way: number;
  /** Since when the oldest of those that nobody has taken waits; null if there is none. */
  readonly oldest_at: Date | null;
}

export interface Waiting {
  readonly kind: "run" | "deletion" | "batch" | "operation" | "webhook";
  /** Null for work on the whole instance. */
  readonly organization_id: string | null;
  /** `queued`, `held`, `paused`, `not_before`, `receiver_fails`, or the code of an error. */
  readonly code: string;
  readonly count: number;
  readonly since: Date;
  readonly next_attempt_at: Date | null;
}

const OUTBOX = (table: "deletions" | "batches" | "operations", since: string, isHeld: string): string => `
  select '${table}' as kind,
         count(*) filter (where (leased_until is null or leased_until < now()) and not (${isHeld}))::int
           as waiting,
         count(*) filter (where leased_until >= now())::int as under_way,
         min(${since}) filter (where (leased_until is null or leased_until < now()) and not (${isHeld}))
           as oldest_at
  from ${table}
  where completed_at is null`;

const STATES = `
  select 'runs' as kind,
         count(*) filter (where status = 'queued' and not held)::int as waiting,
         count(*) filter (where status <> 'queued')::int as under_way,
         min(created_at) filter (where status = 'queued' and not held) as oldest_at
  from pipeline_runs
  where status in ('queued', 'parsing', 'chunking', 'embedding')
  union all
  ${OUTBOX("deletions", "created_at", "false")}
  union all
  ${OUTBOX("batches", "created_at", "status = 'paused'")}
  union all
  ${OUTBOX("operations", "requested_at", "not_before > now()")}
  union all
  select 'webhooks' as kind,
         count(*) filter (where leased_until is null or leased_until < now())::int,
         count(*) filter (where leased_until >= now())::int,
         min(due_at) filter (where leased_until is null or leased_until < now())
  from ${DUE_WEBHOOKS}
  union all
  select 'events' as kind, count(*)::int, 0, min(occurred_at)
  from events
  where position is null`;

/** What is at work is left out: it waits for nothing. Texts and names are nowhere in it. */
const WAITING = `
  select 'run' as kind,
         organization_id,
         case when held then 'held' when waiting_for is not null then waiting_for else 'queued' end as code,
         count(*)::int as count,
         min(case when waiting_for is not null then coalesce(waiting_since, started_at, created_at)
                  else created_at end) as since,
         min(case when waiting_for is not null then next_attempt_at end) as next_attempt_at
  from pipeline_runs
  where status in ('queued', 'parsing', 'chunking', 'embedding')
    and (held or waiting_for is not null or status = 'queued')
  group by 2, 3
  union all
  select 'deletion', organization_id, 'queued', count(*)::int, min(created_at), null
  from deletions
  where completed_at is null
    and (leased_until is null or leased_until < now())
  group by 2
  union all
  select 'batch', organization_id, case when status = 'paused' then 'paused' else 'queued' end,
         count(*)::int, min(created_at), null
  from batches
  where completed_at is null
    and (leased_until is null or leased_until < now() or status = 'paused')
  group by 2, 3
  union all
  select 'operation', subject, case when not_before > now() then 'not_before' else 'queued' end,
         count(*)::int, min(requested_at), min(case when not_before > now() then not_before end)
  from operations
  where completed_at is null
    and (leased_until is null or leased_until < now() or not_before > now())
  group by 2, 3
  union all
  select 'webhook', organization_id, 'receiver_fails', count(*)::int, min(failing_since),
         min(next_attempt_at)
  from webhooks
  where status = 'active'
    and failing_since is not null
  group by 2`;

/** @throws DomainError `database_unavailable`. */
export async function readOutboxes(db: Database): Promise<OutboxState[]> {
  return (await queryOnce<OutboxState>(db.system, STATES)).rows;
}

/** Lists a page of what waits, the longest wait first. @throws DomainError `database_unavailable`. */
export async function listWaiting(
  db: Database,
  { page, limit }: PageRequest,
): Promise<{ items: Waiting[]; total: number }> {
  const counted = await queryOnce<{ total: number }>(
    db.system,
    `select count(*)::int as total from (${WAITING}) waiting`,
  );
  const { rows } = await queryOnce<Waiting>(
    db.system,
    `select *
     from (${WAITING}) waiting
     order by since, kind, organization_id, code
     limit $1
     offset $2`,
    [limit, (page - 1) * limit],
  );
  return { items: rows, total: counted.rows[0]!.total };
}
