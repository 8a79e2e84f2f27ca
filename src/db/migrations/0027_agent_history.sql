-- Who changed what of an agent, and when: at most 1,000 entries of each. A trigger writes them, whichever
-- version makes the change; agents of before have a history from their next change on.
create table agent_changes (
  num bigint generated always as identity primary key,
  organization_id uuid not null references organizations,
  agent_id uuid not null references agents on delete cascade,
  at timestamptz(3) not null default clock_timestamp(),
  -- The version of the agent from then on.
  version text not null,
  actor_id uuid references users,
  action text not null check (action in ('created', 'updated', 'deleted')),
  -- A list of {field, before, after}.
  changes jsonb not null default '[]'
);
create index on agent_changes (agent_id, num);
create index on agent_changes (organization_id);
create index on agent_changes (actor_id);
call protect_tenant_table('agent_changes');
revoke insert, update on agent_changes from holdfast_app;

create function note_agent_change() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
declare
  before jsonb := '{}';
  after jsonb := to_jsonb(new);
  is_deletion boolean := false;
  changed jsonb;
begin
  if tg_op = 'UPDATE' then
    before := to_jsonb(old);
    is_deletion := new.deleted_at is not null and old.deleted_at is null;
  end if;
  select coalesce(
    jsonb_agg(
      jsonb_build_object('field', field, 'before', before -> field, 'after', after -> field) order by ordinal
    ),
    '[]'
  )
  into changed
  from unnest(array[
    'name', 'description', 'agent_type', 'model', 'system_prompt', 'temperature', 'max_tokens',
    'reasoning_config', 'tool_attachments', 'is_public', 'show_citations', 'require_support', 'save_to_inbox',
    'data_access_mode', 'allowed_folder_ids', 'space_id'
  ]) with ordinality as known (field, ordinal)
  where tg_op = 'UPDATE'
    and before -> field is distinct from after -> field;
  if tg_op = 'UPDATE' and not is_deletion and changed = '[]' then return null; end if;
  insert into agent_changes (organization_id, agent_id, version, actor_id, action, changes)
  values (
    new.organization_id,
    new.id,
    new.version,
    -- Who deletes an agent is not in its row.
    case when not is_deletion then new.last_edited_by end,
    case when tg_op = 'INSERT' then 'created' when is_deletion then 'deleted' else 'updated' end,
    changed
  );
  delete from agent_changes
  where agent_id = new.id
    and num <= (
      select num from agent_changes where agent_id = new.id order by num desc limit 1 offset 1000
    );
  return null;
end $$;
create trigger note_agent_creation after insert on agents for each row execute function note_agent_change();
create trigger note_agent_change after update on agents for each row
  when (new.conversation_count = old.conversation_count)
  execute function note_agent_change();
revoke execute on function note_agent_change from public;
