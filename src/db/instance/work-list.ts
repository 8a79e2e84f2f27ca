/** What is under way in the whole instance, as an operator asks for it: operations, deletions and batches, and documents by what they wait for. */
import { type Database, queryOnce } from "../pool.ts";
import { WAITING_SINCE } from "../runs/waits.ts";

export interface WorkRow {
  readonly id: string;
  /** That of an operation, `delete_document` and its like, or `batch`. */
  readonly kind: string;
  readonly organization_id: string | null;
  /** Null where it is gone, or yet to be made. */
  readonly organization: string | null;
  readonly state: "asked for" | "waits" | "under way" | "paused" | "completed" | "failed";
  /** When it was asked for. */
  readonly since: Date;
  /** Before then it does not begin. */
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
  /** Since when the first of them waits; where they wait for nothing, when it was accepted. */
  readonly since: Date;
}

interface WorkPage {
  readonly items: WorkRow[];
  readonly total: number;
}

interface WorkRequest {
  /** Those that have ended too. Of deletions and batches a few days are kept. */
  readonly includesEnded: boolean;
  /** From 1. */
  readonly page: number;
  readonly limit: number;
}

const ENDED = "completed_at is not null";
const TAKEN = "leased_until is not null";

/** Parameters of operations stay out: they hold wrapped keys. */
const WORK = `(
  select id, kind, subject as organization_id, requested_at as since, not_before, completed_at, report,
    case when ${ENDED} then case when report ? 'failed' then 'failed' else 'completed' end when not_before > now() then 'waits'
      when ${TAKEN} then 'under way' else 'asked for' end as state
  from operations
  union all select id, 'delete_' || kind, organization_id, created_at, null, completed_at, '{}',
    case when ${ENDED} then 'completed' when ${TAKEN} then 'under way' else 'asked for' end
  from deletions
  union all select id, 'batch', organization_id, created_at, null, completed_at, jsonb_build_object('documents', accepted, 'refused', jsonb_array_length(rejected)),
    case when ${ENDED} then 'completed' when status = 'paused' then 'paused' when ${TAKEN} then 'under way' else 'asked for' end
  from batches)`;
const COLUMNS =
  "w.id, w.kind, w.organization_id, o.name as organization, w.state, w.since, w.not_before, w.completed_at, w.report";

/** Newest first. @throws DomainError `database_unavailable`. */
export async function listWork(db: Database, { includesEnded, page, limit }: WorkRequest): Promise<WorkPage> {
  const where = includesEnded ? "true" : "w.completed_at is null";
  const counted = await queryOnce<{ total: number }>(
    db.system,
    `select count(*)::int as total from ${WORK} w where ${where}`,
  );
  const { rows } = await queryOnce<WorkRow>(
    db.system,
    `select ${COLUMNS} from ${WORK} w left join organizations o on o.id = w.organization_id where ${where} order by w.since desc, w.id desc limit $1 offset $2`,
    [limit, (page - 1) * limit],
  );
  return { items: rows, total: counted.rows[0]!.total };
}

export async function findWork(db: Database, id: string): Promise<WorkRow | undefined> {
  return (
    await queryOnce<WorkRow>(
      db.system,
      `select ${COLUMNS} from ${WORK} w left join organizations o on o.id = w.organization_id where w.id = $1`,
      [id],
    )
  ).rows[0];
}

/** The `limit` groups that wait for longest. @throws DomainError `database_unavailable`. */
export async function listWaitingDocuments(db: Database, limit: number): Promise<WaitingDocuments[]> {
  const { rows } = await queryOnce<WaitingDocuments>(
    db.system,
    `select r.organization_id, o.name as organization,
       case when r.held then 'held' else coalesce(r.waiting_for, case when r.status = 'queued' then 'queued' else 'at work' end) end as state,
       count(*)::int as runs, coalesce(min(${WAITING_SINCE}), min(r.created_at)) as since
     from pipeline_runs r join organizations o on o.id = r.organization_id
     where r.status in ('queued', 'parsing', 'chunking', 'embedding') group by 1, 2, 3 order by 5, 1, 3 limit $1`,
    [limit],
  );
  return rows;
}
