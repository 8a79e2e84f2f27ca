-- How changes become events.

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

-- The event of a change, by the action and the resource of its audit row; null if it has none, or if the
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

-- Rows come in through this function alone. Each successful change becomes an event, or the events that its
-- row names: `events`, a list of {type, resource_type, resource_id, space_id, data}, of which the row of the
-- change gives what is left out. Most rows are reads, which become none and cost a look at their action.
create function append_audit_rows(entries jsonb) returns void language plpgsql volatile
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

-- How a run ends or waits, whoever writes it. Those of deleted documents are part of the deletion.
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

-- The step that a run has gone on to, whoever writes it. Only changes of the status count, so that an attempt
-- which is made again within a step tells nothing. A trigger, so that processing takes no further statement.
create function note_run_progress() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
begin
  insert into events (organization_id, type, space_id, resource_type, resource_id, data, audience)
  values (
    new.organization_id,
    'document.progressed',
    new.space_id,
    'document',
    new.document_id,
    jsonb_strip_nulls(jsonb_build_object(
      'version', new.version,
      'run_id', new.id,
      'batch_id', new.batch_id,
      'trigger', new.trigger,
      'status', new.status
    )),
    'space'
  );
  return null;
end $$;
create trigger note_run_progress after update on pipeline_runs for each row
  when (new.status in ('parsing', 'chunking', 'embedding') and new.status <> old.status)
  execute function note_run_progress();

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
-- if they were written before. A turn that was taken for lost may end again, as it did in truth. Calls that
-- reranked a search are no answer of anybody.
create function note_turn_events() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
declare
  turn_ids uuid[];
begin
  if tg_op = 'INSERT' then
    turn_ids := array(select id from written where status <> 'open' and not is_rerank);
  else
    turn_ids := array(
      select written.id
      from written
      join overwritten on overwritten.id = written.id
      where written.status <> 'open'
        and written.status <> overwritten.status
        and not written.is_rerank
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
