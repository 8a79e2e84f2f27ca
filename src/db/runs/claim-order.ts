/** Says which queued runs are claimed next: lane by lane, round robin over users, while there is room. */
import type pg from "pg";
import { LANES, type Lane, MAX_CLAIM_RUNS, PRIORITY, type Priority } from "../../domain/work/processing.ts";
import { type Sql, queryOnce } from "../pool.ts";

/**
 * How many claims an organization may have under way in a lane of a priority. While `young` claims are young,
 * later runs gather and share the next claim. A claim that is no longer young is slow, and others do not wait
 * for it, up to `open` claims.
 */
const ROOM: Record<Priority, Record<Lane, { readonly young: number; readonly open: number }>> = {
  [PRIORITY.interactive]: {
    [LANES.quick]: { young: 3, open: 6 },
    [LANES.middle]: { young: 3, open: 6 },
    [LANES.large]: { young: 3, open: 3 },
  },
  [PRIORITY.batch]: {
    [LANES.quick]: { young: 1, open: 2 },
    [LANES.middle]: { young: 1, open: 2 },
    [LANES.large]: { young: 2, open: 2 },
  },
};
/** How long a claim is young after it was made. */
const YOUNG = "2 seconds";
/** A lane full of others' work still takes up to so many claims of a user who has none under way in it. */
const MOST_OPEN = 24;
/** Bounds the users that one claim considers. */
const MAX_USERS = 1_000;

export interface LaneState {
  readonly lane: Lane;
  readonly young: number;
  readonly open: number;
  readonly is_queued: boolean;
}

export interface QueuedRow {
  readonly id: string;
  readonly space_id: string;
  readonly document_id: string;
  readonly suspected: boolean;
  readonly traceparent: string | null;
}

/** Checks without a lock whether {@link takeQueued} would find any run. */
export async function mayClaim(
  system: pg.Pool,
  organizationId: string,
  priority: Priority,
): Promise<boolean> {
  const { rows } = await queryOnce<LaneState>(system, laneStates(organizationId, priority));
  for (const state of rows) {
    if (!state.is_queued) continue;
    if (!isFull(state, priority)) return true;
    if (state.open >= MOST_OPEN) continue;
    const next = await queryOnce(system, runsByUser(organizationId, priority, state));
    if (next.rows.length > 0) return true;
  }
  return false;
}

function isFull({ lane, young, open }: LaneState, priority: Priority): boolean {
  const room = ROOM[priority][lane];
  return young >= room.young || open >= room.open;
}

/** Returns the state of each lane, the quick one first. */
export async function readLanes(
  system: Sql,
  organizationId: string,
  priority: Priority,
): Promise<LaneState[]> {
  return (await system.query<LaneState>(laneStates(organizationId, priority))).rows;
}

const ALL_LANES = Object.values(LANES).join(", ");

const LANE_STATES = `
  select lanes.lane,
         coalesce(under_way.young, 0)::int as young,
         coalesce(under_way.open, 0)::int as open,
         exists (
           select
           from pipeline_runs
           where organization_id = $1
             and priority = $2
             and status = 'queued'
             and claim_id is null
             and not held
             and run_lane(file_type, file_size) = lanes.lane
         ) as is_queued
  from unnest(array[${ALL_LANES}]::smallint[]) lanes(lane)
  left join (
    select lane,
           count(*) as open,
           count(*) filter (where created_at > now() - interval '${YOUNG}') as young
    from claims
    where organization_id = $1
      and priority = $2
      and closed_at is null
      and not waiting
      and not isolated
    group by 1
  ) under_way on under_way.lane = lanes.lane
  order by lanes.lane`;

function laneStates(organizationId: string, priority: Priority): pg.QueryConfig {
  return { name: "claims.lanes", text: LANE_STATES, values: [organizationId, priority] };
}

/** Locks queued runs of a lane, as many as it has room for, until the transaction ends. */
export async function takeQueued(
  system: Sql,
  organizationId: string,
  priority: Priority,
  state: LaneState,
): Promise<QueuedRow[]> {
  if (isFull(state, priority) && state.open >= MOST_OPEN) return [];
  const { rows } = await system.query<{ id: string }>(runsByUser(organizationId, priority, state));
  if (rows.length === 0) return [];
  const taken = await system.query<QueuedRow>(
    `select id, space_id, document_id, traceparent, suspected
     from pipeline_runs
     where id = any($1::uuid[])
       and status = 'queued'
       and claim_id is null
     order by num
     for update skip locked`,
    [rows.map((row) => row.id)],
  );
  return taken.rows;
}

/** A run of organization `$1` and priority `$2` that waits in lane `$3`. */
const QUEUED_IN_LANE = `organization_id = $1
  and priority = $2
  and status = 'queued'
  and claim_id is null
  and not held
  and run_lane(file_type, file_size) = $3`;

/**
 * At most `$4` runs of lane `$3`, round robin over their users: the oldest run of each, then the second of
 * each. If the lane is full (`$5`), only runs of users who have nothing under way in it. The recursive query
 * finds each next user by index, since Postgres has no skip scan.
 * @see https://wiki.postgresql.org/wiki/Loose_indexscan
 */
const RUNS_BY_USER = `
  with recursive users as (
    (
      select run_user(created_by) as id
      from pipeline_runs
      where ${QUEUED_IN_LANE}
      order by 1
      limit 1
    )
    union all
    select next.id
    from users,
         lateral (
           select run_user(created_by) as id
           from pipeline_runs
           where ${QUEUED_IN_LANE}
             and run_user(created_by) > users.id
           order by 1
           limit 1
         ) next
  ),
  numbered as (
    select run.id, run.num, run.position
    from (select id from users limit ${MAX_USERS}) users,
         lateral (
           select oldest.id,
                  oldest.num,
                  row_number() over (order by oldest.num) as position
           from (
             select id, num
             from pipeline_runs
             where ${QUEUED_IN_LANE}
               and run_user(created_by) = users.id
             order by num
             limit $4
           ) oldest
         ) run
    where not $5
       or not exists (
         select
         from (
           select id
           from claims
           where organization_id = $1
             and priority = $2
             and closed_at is null
             and not waiting
             and not isolated
             and lane = $3
         ) under_way
         join pipeline_runs busy on busy.claim_id = under_way.id
                                and busy.status in ('queued', 'parsing', 'chunking', 'embedding')
         where run_user(busy.created_by) = users.id
       )
  )
  select id
  from numbered
  order by position, num
  limit $4`;

function runsByUser(organizationId: string, priority: Priority, state: LaneState): pg.QueryConfig {
  const { lane, open } = state;
  const most = lane === LANES.large ? Math.max(1, ROOM[priority][lane].open - open) : MAX_CLAIM_RUNS;
  return {
    name: "claims.turns",
    text: RUNS_BY_USER,
    values: [organizationId, priority, lane, most, isFull(state, priority)],
  };
}
