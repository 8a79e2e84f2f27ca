/** The outboxes, and which of their rows are started next. */
import type { OperationKind } from "../../domain/work/operation.ts";
import type { DeletionKind } from "../deletions/accept.ts";
import type { OrganizationRef } from "../sql.ts";
import { defineOutbox } from "./define-outbox.ts";
import { START_LEASE } from "./leases.ts";

interface FairOrder {
  readonly table: "deletions" | "batches";
  /** What the starter needs to know of a row, beside its organization. */
  readonly column: string;
  /**
   * How much an organization may have under way. Few rows may be young, because each is work for workers that
   * all organizations share. A row that is no longer young is slow (a large folder, an object store that is
   * down, a batch of many documents), and others do not wait for it, up to `open` rows.
   */
  readonly young: number;
  readonly open: number;
  /** Rows that are taken whatever the room. */
  readonly isTakenAtOnce: string;
  /** Rows that are started at all, and take room. */
  readonly takesRoom: string;
}

/** How long a row is young after its start. */
const YOUNG = "2 seconds";
/** Rows of an organization that are taken whatever the room, this many at once. */
const TAKEN_AT_ONCE = 50;

/**
 * The organizations with open rows, walked by index: a recursive query, since Postgres has no skip scan.
 * @see https://wiki.postgresql.org/wiki/Loose_indexscan
 */
const waitingIn = (table: string): string => `waiting as (
    (
      select organization_id as id
      from ${table}
      where completed_at is null
        and ($2::uuid is null or organization_id = $2)
      order by organization_id
      limit 1
    )
    union all
    select next.organization_id
    from waiting,
         lateral (
           select organization_id
           from ${table}
           where completed_at is null
             and $2::uuid is null
             and organization_id > waiting.id
           order by organization_id
           limit 1
         ) next
  )`;

/**
 * The statement that leases the oldest rows of each organization, as far as it has room. The room is counted
 * without a lock, so processes that count at the same time may exceed it, each by as much.
 */
const leaseFairly = ({ table, column, young, open, isTakenAtOnce, takesRoom }: FairOrder): string => `
  with recursive ${waitingIn(table)},
  due as (
    select next.id
    from waiting
    cross join lateral (
      select least(
               ${young} - count(*) filter (where started_at > now() - interval '${YOUNG}'),
               ${open} - count(*)
             ) as room
      from ${table}
      where organization_id = waiting.id
        and completed_at is null
        and (started_at is not null or leased_until is not null)
        and ${takesRoom}
    ) under_way
    cross join lateral (
      (
        select id, created_at
        from ${table}
        where organization_id = waiting.id
          and completed_at is null
          and (leased_until is null or leased_until < now())
          and ${isTakenAtOnce}
        order by created_at
        limit ${TAKEN_AT_ONCE}
      )
      union all
      (
        select id, created_at
        from ${table}
        where organization_id = waiting.id
          and completed_at is null
          and (leased_until is null or leased_until < now())
          and not (${isTakenAtOnce})
          and ${takesRoom}
        order by created_at
        limit greatest(under_way.room, 0)
      )
    ) next
    order by next.created_at
    limit $1
  ),
  locked as (
    select id
    from ${table}
    where id in (select id from due)
      and completed_at is null
      and (leased_until is null or leased_until < now())
    for update skip locked
  )
  update ${table} leased
  set leased_until = now() + interval '${START_LEASE}',
      started_at = coalesce(leased.started_at, now())
  from organizations organization
  where organization.id = leased.organization_id
    and leased.id in (select id from locked)
  returning leased.id,
            leased.${column},
            jsonb_build_object('id', organization.id, 'num', organization.num) as organization`;

export const DELETIONS = defineOutbox<{ id: string; kind: DeletionKind; organization: OrganizationRef }>({
  table: "deletions",
  lease: leaseFairly({
    table: "deletions",
    column: "kind",
    young: 6,
    open: 32,
    isTakenAtOnce: "started_at is not null",
    takesRoom: "true",
  }),
});

/**
 * More than of deletions: the workflow of a batch sleeps most of the time, and lasts until its last run ends.
 * A paused batch has nothing to do, so it is not started and takes no room. A cancelled batch is started
 * whatever the room.
 */
export const BATCHES = defineOutbox<{ id: string; accepted: number; organization: OrganizationRef }>({
  table: "batches",
  lease: leaseFairly({
    table: "batches",
    column: "accepted",
    young: 16,
    open: 128,
    isTakenAtOnce: "(started_at is not null or status = 'cancelled')",
    takesRoom: "status <> 'paused'",
  }),
});

/** They are few, and operators ask for them, so all of them are started. */
export const OPERATIONS = defineOutbox<{ id: string; kind: OperationKind }>({
  table: "operations",
  lease: `
    update operations
    set leased_until = now() + interval '${START_LEASE}'
    where id in (
      select id
      from operations
      where completed_at is null
        and (leased_until is null or leased_until < now())
        and $2::uuid is null
      limit $1
      for update skip locked
    )
    returning id, kind`,
});
