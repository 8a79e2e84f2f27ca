-- The log of what happened.

create table events (
  num bigint generated always as identity primary key,
  -- A UUIDv7 (RFC 9562): the milliseconds since the epoch, the version, and random bits.
  id uuid not null default encode(
    set_bit(
      set_bit(
        overlay(
          uuid_send(gen_random_uuid())
          placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
          from 1 for 6
        ),
        52,
        1
      ),
      53,
      1
    ),
    'hex'
  )::uuid,
  organization_id uuid not null references organizations,
  -- From 1, without gaps within the organization; null until the event is placed.
  position bigint,
  type text not null,
  occurred_at timestamptz(3) not null default clock_timestamp(),
  space_id uuid,
  resource_type text not null,
  resource_id uuid,
  actor_id uuid,
  auth_method text not null default 'system' check (auth_method in ('api_key', 'jwt', 'system')),
  api_key_id uuid,
  request_id text,
  -- Ids, states, codes and counts; never text and never names.
  data jsonb not null default '{}',
  -- From here on it says who may see the event, and is shown to nobody. 'space': who reaches its spaces;
  -- 'organization': all members; 'admins': admins who logged in; 'user': `user_id`, and admins who logged in;
  -- 'login': the same, but `user_id` has to log in too; 'own': `user_id` alone; 'listed': who is in
  -- `listed_ids`. All but 'listed' also need the reach of `space_id` and `space_ids`, as far as there are
  -- some.
  audience text not null
    check (audience in ('space', 'organization', 'admins', 'user', 'login', 'own', 'listed')),
  user_id uuid,
  space_ids uuid[] not null default '{}',
  -- Users and keys that reached a space just before it was deleted.
  listed_ids uuid[] not null default '{}'
);
-- Each event is updated once, when it is placed: what that leaves behind in `events_unplaced` is read by
-- every later placement until it is vacuumed.
alter table events set (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 20000,
  autovacuum_vacuum_cost_delay = 0
);
create index events_unplaced on events (organization_id, num) where position is null;
create unique index events_order on events (organization_id, position) where position is not null;
create index events_of_resource on events (organization_id, resource_id, position) where position is not null;
-- For those who ask for a stretch of time.
create index events_age on events using brin (occurred_at);

-- How far the log of an organization goes: its last position, and the last that is not kept any more.
create table event_positions (
  organization_id uuid primary key references organizations,
  last_position bigint not null default 0,
  expired_position bigint not null default 0
);

-- The monthly budgets of tokens that were found used up, each once, whichever process finds it first.
create table budgets_reached (
  organization_id uuid not null references organizations,
  budget text not null,
  -- The organization, the user or the key whose budget it is.
  owner_id uuid not null,
  month date not null,
  primary key (organization_id, budget, owner_id, month)
);

-- Places at most `at_most` committed events of the organization after those that are placed already, in the
-- order in which they were written, and tells listeners. Idempotent; several processes may call it at once.
-- Its transaction is `read committed`: each statement sees what was committed before it began. @returns how
-- many it placed, and whether there is somebody to deliver them to.
create function place_events(of_organization uuid, at_most int, out placed int, out has_webhooks boolean)
  language plpgsql set search_path = public, pg_temp as $$
declare
  last bigint;
begin
  select last_position into last from event_positions where organization_id = of_organization for update;
  if not found then
    insert into event_positions (organization_id) values (of_organization) on conflict do nothing;
    select last_position into last from event_positions where organization_id = of_organization for update;
  end if;
  -- A statement of its own, so that it sees what the last one who had the lock has placed.
  with unplaced as (
    select num,
           row_number() over (order by num) as ordinal
    from (
      select num
      from events
      where organization_id = of_organization
        and position is null
      order by num
      limit at_most
    ) oldest
  )
  update events event
  set position = last + unplaced.ordinal
  from unplaced
  where event.num = unplaced.num;
  get diagnostics placed = row_count;
  if placed > 0 then
    update event_positions set last_position = last + placed where organization_id = of_organization;
    perform pg_notify('holdfast_events', of_organization::text);
  end if;
  has_webhooks := exists (
    select from webhooks where organization_id = of_organization and status = 'active'
  );
end $$;
