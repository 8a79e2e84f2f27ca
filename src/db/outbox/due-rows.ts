/**
 * The statements that lease the deletions and batches to start next: `$1` bounds the rows, `$2` is an
 * organization or null for all of them.
 *
 * Both walk the organizations with open rows by index (a recursive query, since Postgres has no skip scan),
 * take the oldest rows of each as far as it has room, and lease the oldest of all of these.
 * @see https://wiki.postgresql.org/wiki/Loose_indexscan
 */
import { START_LEASE } from "./leases.ts";

/**
 * How much an organization may have under way. Few rows may be young, because each is work for workers that
 * all organizations share. A row that is no longer young is slow (a large folder, an object store that is
 * down, a batch of many documents), and others do not wait for it, up to `open` rows.
 */
const DELETIONS_AT_ONCE = { young: 6, open: 32 } as const;
/**
 * More than of deletions: the workflow of a batch sleeps most of the time, and lasts until its last run ends.
 */
const BATCHES_AT_ONCE = { young: 16, open: 128 } as const;
/** How long a row is young after its start. */
const YOUNG = "2 seconds";
/**
 * Rows of an organization whose lease has passed after a start. They are taken whatever the room, this many
 * at once.
 */
const RESTARTS_AT_ONCE = 50;

export const DUE_DELETIONS = `
  with recursive waiting as (
    (
      select organization_id as id
      from deletions
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
           from deletions
           where completed_at is null
             and $2::uuid is null
             and organization_id > waiting.id
           order by organization_id
           limit 1
         ) next
  ),
  due as (
    select next.id
    from waiting
    cross join lateral (
      select least(
               ${DELETIONS_AT_ONCE.young} - count(*) filter (where started_at > now() - interval '${YOUNG}'),
               ${DELETIONS_AT_ONCE.open} - count(*)
             ) as room
      from deletions
      where organization_id = waiting.id
        and completed_at is null
        and (started_at is not null or leased_until is not null)
    ) under_way
    cross join lateral (
      (
        select id, created_at
        from deletions
        where organization_id = waiting.id
          and completed_at is null
          and (leased_until is null or leased_until < now())
          and started_at is not null
        order by created_at
        limit ${RESTARTS_AT_ONCE}
      )
      union all
      (
        select id, created_at
        from deletions
        where organization_id = waiting.id
          and completed_at is null
          and (leased_until is null or leased_until < now())
          and started_at is null
        order by created_at
        limit greatest(under_way.room, 0)
      )
    ) next
    order by next.created_at
    limit $1
  ),
  locked as (
    select id
    from deletions
    where id in (select id from due)
      and completed_at is null
      and (leased_until is null or leased_until < now())
    for update skip locked
  )
  update deletions leased
  set leased_until = now() + interval '${START_LEASE}',
      started_at = coalesce(leased.started_at, now())
  from organizations organization
  where organization.id = leased.organization_id
    and leased.id in (select id from locked)
  returning leased.id, leased.kind, leased.organization_id, organization.num as organization_num`;

/**
 * A paused batch has nothing to do, so it is not started and takes no room. A cancelled batch is started
 * whatever the room.
 * @see test/db/outbox/start-order.database.test.ts
 */
export const DUE_BATCHES = `
  with recursive waiting as (
    (
      select organization_id as id
      from batches
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
           from batches
           where completed_at is null
             and $2::uuid is null
             and organization_id > waiting.id
           order by organization_id
           limit 1
         ) next
  ),
  due as (
    select next.id
    from waiting
    cross join lateral (
      select least(
               ${BATCHES_AT_ONCE.young} - count(*) filter (where started_at > now() - interval '${YOUNG}'),
               ${BATCHES_AT_ONCE.open} - count(*)
             ) as room
      from batches
      where organization_id = waiting.id
        and completed_at is null
        and (started_at is not null or leased_until is not null)
        and status <> 'paused'
    ) under_way
    cross join lateral (
      (
        select id, created_at
        from batches
        where organization_id = waiting.id
          and completed_at is null
          and (leased_until is null or leased_until < now())
          and (started_at is not null or status = 'cancelled')
        order by created_at
        limit ${RESTARTS_AT_ONCE}
      )
      union all
      (
        select id, created_at
        from batches
        where organization_id = waiting.id
          and completed_at is null
          and (leased_until is null or leased_until < now())
          and started_at is null
          and status <> 'cancelled'
          and status <> 'paused'
        order by created_at
        limit greatest(under_way.room, 0)
      )
    ) next
    order by next.created_at
    limit $1
  ),
  locked as (
    select id
    from batches
    where id in (select id from due)
      and completed_at is null
      and (leased_until is null or leased_until < now())
    for update skip locked
  )
  update batches leased
  set leased_until = now() + interval '${START_LEASE}',
      started_at = coalesce(leased.started_at, now())
  from organizations organization
  where organization.id = leased.organization_id
    and leased.id in (select id from locked)
  returning leased.id, leased.accepted, leased.organization_id, organization.num as organization_num`;
