-- The log of what happened. An event is written in the transaction of its change, without a position. After
-- the commit `place_events` gives it one, under a lock of its organization alone: positions are given to
-- committed events only and become visible in their order, so a reader who goes on after a position misses
-- nothing, and one organization's long transaction delays nobody else's events.

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
  -- `listed_ids`. All but 'listed' also need the reach of `space_id` and `space_ids`, as far as there are some.
  audience text not null
    check (audience in ('space', 'organization', 'admins', 'user', 'login', 'own', 'listed')),
  user_id uuid,
  space_ids uuid[] not null default '{}',
  -- Users and keys that reached a space just before it was deleted.
  listed_ids uuid[] not null default '{}'
);
create index events_unplaced on events (organization_id, num) where position is null;
create unique index events_order on events (organization_id, position) where position is not null;
create index events_of_resource on events (organization_id, resource_id, position) where position is not null;
-- For those who ask for a stretch of time.
create index events_age on events using brin (occurred_at);
-- Each event is updated once, when it is placed: what that leaves behind in `events_unplaced` is read by every
-- later placement until it is vacuumed.
alter table events set (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 20000,
  autovacuum_vacuum_cost_delay = 0
);
call protect_tenant_table('events');
revoke update, delete on events from holdfast_app;
create policy system on events to holdfast_system using (true) with check (true);
grant
  select (num, organization_id, position, occurred_at, type, space_id, space_ids, resource_id),
  update (position),
  delete
  on events to holdfast_system;

-- How far the log of an organization goes: its last position, and the last that is not kept any more.
create table event_positions (
  organization_id uuid primary key references organizations,
  last_position bigint not null default 0,
  expired_position bigint not null default 0
);
call protect_tenant_table('event_positions');
revoke insert, update, delete on event_positions from holdfast_app;
create policy system on event_positions to holdfast_system using (true) with check (true);
grant select, insert, update, delete on event_positions to holdfast_system;

-- The monthly budgets of tokens that were found used up, each once, whichever process finds it first.
create table budgets_reached (
  organization_id uuid not null references organizations,
  budget text not null,
  -- The organization, the user or the key whose budget it is.
  owner_id uuid not null,
  month date not null,
  primary key (organization_id, budget, owner_id, month)
);
call protect_tenant_table('budgets_reached');
revoke update, delete on budgets_reached from holdfast_app;
create policy system on budgets_reached to holdfast_system using (true) with check (true);
grant select, delete on budgets_reached to holdfast_system;

-- Places at most `at_most` committed events of the organization after those that are placed already, in the
-- order in which they were written, and tells listeners. Idempotent; several processes may call it at once. Its
-- transaction is `read committed`: each statement sees what was committed before it began.
-- @returns how many it placed, and whether there is somebody to deliver them to.
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

-- Everybody who reaches the space, as `reach_of` decides it: users by their id, and keys by theirs.
create function callers_of_space(of_space uuid) returns uuid[] language sql stable
  security definer set search_path = public, pg_temp
  return (
    select coalesce(array_agg(caller.id), '{}')
    from (
      select member.user_id as id
      from space_members member
      where member.space_id = of_space
      union
      select key.id
      from space_members member
      join spaces space on space.id = member.space_id
      join api_keys key on key.user_id = member.user_id and key.revoked_at is null
      where member.space_id = of_space
        and (
          key.all_spaces
          or exists (
            select from api_key_spaces scope where scope.api_key_id = key.id and scope.space_id = of_space
          )
        )
        and not (space.is_private and coalesce(key.created_by <> key.user_id, false))
    ) caller);

-- The event that a change is, by the action and the resource of its audit row; null if it is none, or if the
-- change writes its events itself.
create function event_of_change(action text, resource_type text) returns text language sql immutable
  return case action || ' ' || resource_type
    when 'documents:create document' then 'document.uploaded'
    when 'files:create document' then 'document.uploaded'
    when 'documents:update document' then 'document.updated'
    when 'documents:delete document' then 'document.deleted'
    when 'files:create file' then 'file.created'
    when 'files:rename file' then 'file.renamed'
    when 'files:delete file' then 'file.deleted'
    when 'folders:create folder' then 'folder.created'
    when 'folders:update folder' then 'folder.updated'
    when 'folders:delete folder' then 'folder.deleted'
    when 'agents:create agent' then 'agent.created'
    when 'agents:update agent' then 'agent.updated'
    when 'agents:delete agent' then 'agent.deleted'
    when 'spaces:create space' then 'space.created'
    when 'spaces:update space' then 'space.updated'
    when 'spaces:delete space' then 'space.deleted'
    when 'space_members:create user' then 'space.member_added'
    when 'space_members:update user' then 'space.member_updated'
    when 'space_members:delete user' then 'space.member_removed'
    when 'members:create user' then 'member.added'
    when 'members:update user' then 'member.updated'
    when 'members:delete user' then 'member.removed'
    when 'organization:update organization' then 'organization.updated'
    when 'api_keys:create api_key' then 'key.created'
    when 'api_keys:roll api_key' then 'key.rolled'
    when 'api_keys:revoke api_key' then 'key.revoked'
    when 'api_keys:revoke_leaked api_key' then 'key.leaked'
  end;

-- Whom an event of this type concerns; by default whoever reaches its space.
create function audience_of_event(type text) returns text language sql immutable
  return case
    when type = 'space.deleted' then 'listed'
    when type like 'key.%' then 'login'
    when type like 'member.%' then 'admins'
    when type like 'turn.%' then 'user'
    when type like 'webhook.%' then 'user'
    when type like 'batch.%' then 'own'
    when type like 'organization.%' then 'organization'
    else 'space'
  end;

-- As before, and each successful change becomes an event, or the events that its row names: `events`, a list
-- of {type, resource_type, resource_id, space_id, data}, of which the row of the change gives what is left out.
-- Processes of the version before name none. Most rows are reads, which become none and cost a look at their
-- action.
create or replace function append_audit_rows(entries jsonb) returns void language plpgsql volatile
  security definer set search_path = public, pg_temp as $$
begin
  insert into audit_log (
    id, organization_id, at, actor_id, auth_method, api_key_id,
    action, resource_type, resource_id, space_id, request_id, outcome
  )
  select id, organization_id, at, actor_id, auth_method, api_key_id,
         action, resource_type, resource_id, space_id, request_id, outcome
  from jsonb_populate_recordset(null::audit_log, entries);

  insert into events (
    organization_id, type, space_id, resource_type, resource_id,
    actor_id, auth_method, api_key_id, request_id, data, audience, user_id, listed_ids
  )
  select change.organization_id, told.type, told.space_id, told.resource_type, told.resource_id,
         change.actor_id, change.auth_method, change.api_key_id, change.request_id, told.data,
         audience_of_event(told.type),
         case
           when told.type like 'key.%' then (select key.user_id from api_keys key where key.id = told.resource_id)
           when told.type like 'webhook.%' then coalesce(
             (select webhook.created_by from webhooks webhook where webhook.id = told.resource_id),
             change.actor_id
           )
         end,
         case when told.type = 'space.deleted' then callers_of_space(told.resource_id) else '{}' end
  from jsonb_array_elements(entries) with ordinality as entry (value, ordinal)
  cross join lateral (
    select event_of_change(entry.value ->> 'action', entry.value ->> 'resource_type') as type
  ) by_default
  cross join jsonb_populate_record(null::audit_log, entry.value) as change
  cross join jsonb_array_elements(
    coalesce(entry.value -> 'events', jsonb_build_array(jsonb_build_object('type', by_default.type)))
  ) with ordinality as event (value, ordinal)
  cross join lateral (
    select event.value ->> 'type' as type,
           coalesce((event.value ->> 'space_id')::uuid, change.space_id) as space_id,
           coalesce(event.value ->> 'resource_type', change.resource_type) as resource_type,
           coalesce(event.value ->> 'resource_id', change.resource_id)::uuid as resource_id,
           coalesce(event.value -> 'data', '{}') as data
  ) told
  where entry.value ->> 'outcome' = 'success'
    and (by_default.type is not null or entry.value ? 'events')
  order by entry.ordinal, event.ordinal;
end $$;

-- How a run ends or that it waits, whoever writes it: every path of this version and of the one before. Runs
-- that end because their document was deleted are part of its deletion.
create function note_run_event() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
declare
  is_end boolean := new.status in ('completed', 'failed', 'cancelled') and new.status <> old.status;
begin
  if new.status = 'cancelled'
    and exists (select from documents where id = new.document_id and deleted_at is not null) then
    return null;
  end if;
  insert into events (organization_id, type, space_id, resource_type, resource_id, data, audience)
  values (
    new.organization_id,
    'document.' || case when is_end then new.status else 'waiting' end,
    new.space_id,
    'document',
    new.document_id,
    jsonb_strip_nulls(jsonb_build_object(
      'version', new.version,
      'run_id', new.id,
      'batch_id', new.batch_id,
      'trigger', new.trigger,
      'page_count', case when new.status = 'completed' then new.page_count end,
      'chunk_count', case when new.status = 'completed' then new.chunk_count end,
      'code', case when new.status = 'failed' then new.error ->> 'code' when not is_end then new.waiting_for end
    )),
    'space'
  );
  return null;
end $$;
create trigger note_run_event after update on pipeline_runs for each row
  when (
    (new.status in ('completed', 'failed', 'cancelled') and new.status <> old.status)
    or (new.waiting_for is not null and new.waiting_for is distinct from old.waiting_for)
  )
  execute function note_run_event();

create function note_batch_event() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
begin
  insert into events (organization_id, type, resource_type, resource_id, data, audience, user_id, space_ids)
  select new.organization_id,
         'batch.completed',
         'batch',
         new.id,
         jsonb_build_object(
           'status', new.status,
           'accepted', new.accepted,
           'completed', count(*) filter (where run.status = 'completed'),
           'failed', count(*) filter (where run.status = 'failed'),
           'cancelled', count(*) filter (where run.status = 'cancelled')
         ),
         audience_of_event('batch.completed'),
         new.created_by,
         new.space_ids
  from pipeline_runs run
  where run.batch_id = new.id;
  return null;
end $$;
create trigger note_batch_event after update on batches for each row
  when (new.completed_at is not null and old.completed_at is null)
  execute function note_batch_event();

-- How turns ended, once for a statement, because a process writes the ends of many at once. Calls are counted
-- if they were written before, as this version does. A turn that was taken for lost may end again, as it did
-- in truth.
create function note_turn_events() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
declare
  turn_ids uuid[];
begin
  if tg_op = 'INSERT' then
    turn_ids := array(select id from written where status <> 'open');
  else
    turn_ids := array(
      select written.id
      from written
      join overwritten on overwritten.id = written.id
      where written.status <> 'open'
        and written.status <> overwritten.status
    );
  end if;
  if turn_ids = '{}' then return null; end if;
  insert into events (
    organization_id, type, space_id, resource_type, resource_id, api_key_id, actor_id, auth_method,
    data, audience, user_id
  )
  select turn.organization_id,
         case when turn.status = 'completed' then 'turn.completed' else 'turn.failed' end,
         turn.space_id,
         'turn',
         turn.id,
         turn.api_key_id,
         turn.user_id,
         case when turn.api_key_id is null then 'jwt' else 'api_key' end,
         jsonb_strip_nulls(jsonb_build_object(
           'agent_id', turn.agent_id,
           'status', turn.status,
           'code', turn.error_code,
           'model_calls', nullif(used.calls, 0),
           'prompt_tokens', used.prompt_tokens,
           'completion_tokens', used.completion_tokens
         )),
         audience_of_event('turn.completed'),
         turn.user_id
  from written turn
  cross join lateral (
    select count(*) as calls,
           sum(call.prompt_tokens) as prompt_tokens,
           sum(call.completion_tokens) as completion_tokens
    from turn_calls call
    where call.turn_id = turn.id
  ) used
  where turn.id = any(turn_ids);
  return null;
end $$;
create trigger note_turn_ends after insert on turns
  referencing new table as written
  for each statement execute function note_turn_events();
create trigger note_turn_ends_later after update on turns
  referencing old table as overwritten new table as written
  for each statement execute function note_turn_events();

revoke execute on function place_events, callers_of_space, event_of_change, audience_of_event,
  note_run_event, note_batch_event, note_turn_events from public;
grant execute on function place_events to holdfast_system;
