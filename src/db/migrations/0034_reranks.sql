-- Calls of the chat model that reranked a search are in the books of turns for their tokens: they count in
-- budgets and usage, but are no answer of anybody, so no event tells of them. Versions before write none.
alter table turns add column is_rerank boolean not null default false;

create or replace function note_turn_events() returns trigger language plpgsql security definer
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
