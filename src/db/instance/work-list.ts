/** Lists what is under way in the instance: operations, deletions, batches, and waiting documents. */
import { type Database, queryOnce } from "../pool.ts";

export interface WorkRow {
  readonly id: string;
  /** The kind of an operation, `delete_` with what is deleted, or `batch`. */
  readonly kind: string;
  readonly organization_id: string | null;
  /** Its name; null if the organization is gone, or does not exist yet. */
  readonly organization: string | null;
  readonly state: "asked for" | "waits" | "under way" | "paused" | "completed" | "failed";
  /** When it was asked for. */
  readonly since: Date;
  /** The work does not begin before then. */
  readonly not_before: Date | null;
  readonly completed_at: Date | null;
  readonly report: Readonly<Record<string, unknown>>;
}

export interface WaitingDocuments {
  readonly organization_id: string;
  readonly organization: string;
  /** `queued`, `held` by a batch, `at work`, or the code of what they wait for. */
  readonly state: string;
  readonly runs: number;
  /** Since when the first of them waits; if they wait for nothing, when the first was accepted. */
  readonly since: Date;
}

interface WorkPage {
  readonly items: WorkRow[];
  readonly total: number;
}

interface WorkRequest {
  /** Whether ended work is listed too. Ended deletions and batches are kept for a few days. */
  readonly includesEnded: boolean;
  /** From 1. */
  readonly page: number;
  readonly limit: number;
}

/** Parameters of operations are left out, because they hold wrapped keys. */
const WORK = `(
  select id,
         kind,
         subject as organization_id,
         requested_at as since,
         not_before,
         completed_at,
         report,
         case
           when completed_at is not null and report ? 'failed' then 'failed'
           when completed_at is not null then 'completed'
           when not_before > now() then 'waits'
           when leased_until is not null then 'under way'
           else 'asked for'
         end as state
  from operations
  union all
  select id,
         'delete_' || kind,
         organization_id,
         created_at,
         null,
         completed_at,
         '{}',
         case
           when completed_at is not null then 'completed'
           when leased_until is not null then 'under way'
           else 'asked for'
         end
  from deletions
  union all
  select id,
         'batch',
         organization_id,
         created_at,
         null,
         completed_at,
         jsonb_build_object('documents', accepted, 'refused', jsonb_array_length(rejected)),
         case
           when completed_at is not null then 'completed'
           when status = 'paused' then 'paused'
           when leased_until is not null then 'under way'
           else 'asked for'
         end
  from batches
)`;
const COLUMNS = `
  work.id,
  work.kind,
  work.organization_id,
  organization.name as organization,
  work.state,
  work.since,
  work.not_before,
  work.completed_at,
  work.report`;

/** Lists one page of the work, newest first. @throws DomainError `database_unavailable`. */
export async function listWork(db: Database, { includesEnded, page, limit }: WorkRequest): Promise<WorkPage> {
  const counted = await queryOnce<{ total: number }>(
    db.system,
    `select count(*)::int as total
     from ${WORK} work
     where $1
       or work.completed_at is null`,
    [includesEnded],
  );
  const { rows } = await queryOnce<WorkRow>(
    db.system,
    `select ${COLUMNS}
     from ${WORK} work
     left join organizations organization on organization.id = work.organization_id
     where $1
       or work.completed_at is null
     order by work.since desc, work.id desc
     limit $2
     offset $3`,
    [includesEnded, limit, (page - 1) * limit],
  );
  return { items: rows, total: counted.rows[0]!.total };
}

export async function findWork(db: Database, id: string): Promise<WorkRow | undefined> {
  const { rows } = await queryOnce<WorkRow>(
    db.system,
    `select ${COLUMNS}
     from ${WORK} work
     left join organizations organization on organization.id = work.organization_id
     where work.id = $1`,
    [id],
  );
  return rows[0];
}

/** Lists the `limit` groups of documents that wait longest. @throws DomainError `database_unavailable`. */
export async function listWaitingDocuments(db: Database, limit: number): Promise<WaitingDocuments[]> {
  const { rows } = await queryOnce<WaitingDocuments>(
    db.system,
    `select run.organization_id,
            organization.name as organization,
            case
              when run.held then 'held'
              when run.waiting_for is not null then run.waiting_for
              when run.status = 'queued' then 'queued'
              else 'at work'
            end as state,
            count(*)::int as runs,
            coalesce(
              min(
                case
                  when run.waiting_for is not null
                  then coalesce(run.waiting_since, run.started_at, run.created_at)
                end
              ),
              min(run.created_at)
            ) as since
     from pipeline_runs run
     join organizations organization on organization.id = run.organization_id
     where run.status in ('queued', 'parsing', 'chunking', 'embedding')
     group by 1, 2, 3
     order by 5, 1, 3
     limit $1`,
    [limit],
  );
  return rows;
}

/** What it waits for, in words; null if a worker is at it or it has ended. */
export function waitsFor({ state, not_before, report, completed_at }: WorkRow): string | null {
  if (completed_at !== null) return null;
  if (state === "waits") return `caches of other processes, until ${not_before?.toISOString()}`;
  if (state === "asked for") return "a worker";
  if (state === "paused") return "whoever paused it";
  const waits = report["waits_for"];
  if (typeof waits !== "object" || waits === null) return null;
  const counts = Object.entries(waits).filter(([, count]) => typeof count === "number" && count > 0);
  return counts.map(([what, count]) => `${what} ${String(count)}`).join(", ") || null;
}
