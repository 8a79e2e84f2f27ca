/** The only SQL that says which deletions and batches are started next: the oldest of each organization, as far as it has room. */
import type pg from "pg";
import { queryOnce } from "../pool.ts";
import { IS_DUE, type Outbox, START_LEASE } from "./leases.ts";

/**
 * What an organization may have under way of a kind: few young ones, since each is some work for everybody's workers; one that is no
 * longer young is slow (a large folder, a store that is down, a batch of many documents), and nothing waits for it, up to `open`. A batch
 * that is paused asks for nothing, so it neither needs a workflow nor takes the place of one; one that is cancelled needs no room.
 */
const OUTBOXES = {
  deletions: {
    young: 6,
    open: 32,
    mayStart: "true",
    isUnderWay: "true",
    needsNoRoom: "false",
    columns: "kind",
  },
  // The workflow of a batch sleeps most of the time, and lasts until its last document has ended.
  batches: {
    young: 16,
    open: 128,
    mayStart: "status <> 'paused'",
    isUnderWay: "status <> 'paused'",
    needsNoRoom: "status = 'cancelled'",
    columns: "accepted",
  },
} as const satisfies Partial<Record<Outbox, object>>;
const YOUNG = "interval '2 seconds'";
/** Those whose lease has passed are looked after whatever else goes on, so many of an organization at once. */
const AGAIN = 50;

export interface Taken {
  readonly id: string;
  readonly organization: { readonly id: string; readonly num: number };
}

interface Turn {
  readonly limit: number;
  /** Null: all organizations. */
  readonly organizationId: string | null;
}

/**
 * Rows that are not complete and that nobody has a lease on, each leased to the caller, so that two processes do not take the same: those
 * that were started before, and the oldest others as far as there is room. The room is looked at without a lock: those who look at the same
 * time may exceed it, by as much each.
 */
export async function takeInTurn<Columns>(
  system: pg.Pool,
  outbox: keyof typeof OUTBOXES,
  { limit, organizationId }: Turn,
): Promise<Array<Taken & Columns>> {
  const { young, open, mayStart, isUnderWay, needsNoRoom, columns } = OUTBOXES[outbox];
  const { rows } = await queryOnce<
    Columns & { id: string; organization_id: string; organization_num: number }
  >(
    system,
    `with recursive waiting as (
       (select organization_id as id from ${outbox} where completed_at is null and ($2::uuid is null or organization_id = $2) order by organization_id limit 1)
       union all
       select next.organization_id from waiting, lateral (
         select organization_id from ${outbox} where completed_at is null and $2::uuid is null and organization_id > waiting.id order by organization_id limit 1) next),
     due as (
       select next.id from waiting
       cross join lateral (
         select least(${young} - count(*) filter (where started_at > now() - ${YOUNG}), ${open} - count(*)) as room
         from ${outbox} where organization_id = waiting.id and completed_at is null and (started_at is not null or leased_until is not null) and ${isUnderWay}) under_way
       cross join lateral (
         (select id, created_at from ${outbox} where organization_id = waiting.id and ${IS_DUE} and (started_at is not null or ${needsNoRoom}) order by created_at limit ${AGAIN})
         union all
         (select id, created_at from ${outbox} where organization_id = waiting.id and ${IS_DUE} and started_at is null and not (${needsNoRoom}) and ${mayStart}
          order by created_at limit greatest(under_way.room, 0))) next
       order by next.created_at limit $1),
     mine as (select id from ${outbox} where id in (select id from due) and ${IS_DUE} for update skip locked)
     update ${outbox} taken set leased_until = now() + interval '${START_LEASE}', started_at = coalesce(taken.started_at, now()) from organizations o
     where o.id = taken.organization_id and taken.id in (select id from mine)
     returning taken.id, taken.${columns}, taken.organization_id, o.num as organization_num`,
    [limit, organizationId],
  );
  return rows.map(
    ({ organization_id: id, organization_num: num, ...row }) =>
      ({ ...row, organization: { id, num } }) as Taken & Columns,
  );
}
