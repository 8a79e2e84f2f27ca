/** The only SQL that says which queued runs of an organization are claimed next: by lane, in turns of users, as far as there is room. */
import type pg from "pg";
import { LANES, type Lane, MAX_CLAIM_RUNS, PRIORITY, type Priority } from "../../domain/work/processing.ts";
import { type Sql, queryOnce } from "../pool.ts";

/**
 * What an organization may have under way in a lane of a priority. While `young` claims are under way, what comes meanwhile gathers and
 * shares a workflow; a claim that is no longer young is slow, and nothing waits for it, up to `open` claims.
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
const YOUNG = "interval '2 seconds'";
/** A user who has nothing under way in a lane is claimed for even where the lane is full of others' work, up to so many claims of the lane. */
const MOST_OPEN = 24;
/** Users whose turns are looked at for one claim. */
const MAX_USERS = 1_000;

/** Claims that count against what an organization may have under way. Those of the version before know no lane; most were quick. */
const UNDER_WAY = "closed_at is null and not waiting and not isolated";
const IN_QUEUE =
  "organization_id = $1 and priority = $2 and status = 'queued' and claim_id is null and not held";
const IN_LANE = "run_lane(file_type, file_size) = $3";

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

/** A look without a lock: whether {@link takeQueued} would take anything. */
export async function mayClaim(
  system: pg.Pool,
  organizationId: string,
  priority: Priority,
): Promise<boolean> {
  const { rows } = await queryOnce<LaneState>(system, laneStates(organizationId, priority));
  for (const state of rows) {
    if (!state.is_queued) continue;
    if (!isFull(state, priority)) return true;
    if (
      state.open < MOST_OPEN &&
      (await queryOnce(system, turnsOfUsers(organizationId, priority, state))).rows.length > 0
    )
      return true;
  }
  return false;
}

function isFull({ lane, young, open }: LaneState, priority: Priority): boolean {
  const room = ROOM[priority][lane];
  return young >= room.young || open >= room.open;
}

/** How the lanes stand, quick ones first. */
export async function readLanes(
  system: Sql,
  organizationId: string,
  priority: Priority,
): Promise<LaneState[]> {
  return (await system.query<LaneState>(laneStates(organizationId, priority))).rows;
}

function laneStates(organizationId: string, priority: Priority): pg.QueryConfig {
  return {
    name: "claims.lanes",
    text: `select l.lane, coalesce(c.young, 0)::int as young, coalesce(c.open, 0)::int as open,
             exists (select from pipeline_runs where ${IN_QUEUE} and run_lane(file_type, file_size) = l.lane) as is_queued
           from unnest(array[${Object.values(LANES).join(", ")}]::smallint[]) l(lane)
           left join (select coalesce(lane, ${LANES.quick}) as lane, count(*) as open, count(*) filter (where created_at > now() - ${YOUNG}) as young
                      from claims where organization_id = $1 and priority = $2 and ${UNDER_WAY} group by 1) c on c.lane = l.lane
           order by l.lane`,
    values: [organizationId, priority],
  };
}

/** Takes runs of a lane, as many as it has room for, so that nobody else takes them. */
export async function takeQueued(
  system: Sql,
  organizationId: string,
  priority: Priority,
  state: LaneState,
): Promise<QueuedRow[]> {
  if (isFull(state, priority) && state.open >= MOST_OPEN) return [];
  const { rows } = await system.query<{ id: string }>(turnsOfUsers(organizationId, priority, state));
  if (rows.length === 0) return [];
  const taken = await system.query<QueuedRow>(
    `select id, space_id, document_id, traceparent, suspected from pipeline_runs
     where id = any($1::uuid[]) and status = 'queued' and claim_id is null order by num for update skip locked`,
    [rows.map((row) => row.id)],
  );
  return taken.rows;
}

/** Runs of a lane in turns of their users: the oldest of each, then the second of each. Of a full lane, those of users with nothing under way in it. */
function turnsOfUsers(organizationId: string, priority: Priority, state: LaneState): pg.QueryConfig {
  const { lane, open } = state;
  const most = lane === LANES.large ? Math.max(1, ROOM[priority][lane].open - open) : MAX_CLAIM_RUNS;
  return {
    name: "claims.turns",
    text: `with recursive users as (
             (select run_user(created_by) as id from pipeline_runs where ${IN_QUEUE} and ${IN_LANE} order by 1 limit 1)
             union all
             select next.id from users, lateral (
               select run_user(created_by) as id from pipeline_runs where ${IN_QUEUE} and ${IN_LANE} and run_user(created_by) > users.id order by 1 limit 1) next),
           turns as (
             select r.id, r.num, r.turn from (select id from users limit ${MAX_USERS}) users, lateral (
               select q.id, q.num, row_number() over (order by q.num) as turn from (
                 select id, num from pipeline_runs where ${IN_QUEUE} and ${IN_LANE} and run_user(created_by) = users.id order by num limit $4) q) r
             where not $5 or not exists (
               select from (select id from claims where organization_id = $1 and priority = $2 and ${UNDER_WAY} and coalesce(lane, ${LANES.quick}) = $3) c
               join pipeline_runs busy on busy.claim_id = c.id and busy.status in ('queued', 'parsing', 'chunking', 'embedding')
               where run_user(busy.created_by) = users.id))
           select id from turns order by turn, num limit $4`,
    values: [organizationId, priority, lane, most, isFull(state, priority)],
  };
}
