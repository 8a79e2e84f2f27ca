-- Agents, and who changed them.

create table agents (
  id uuid primary key,
  organization_id uuid not null references organizations,
  space_id uuid not null references spaces,
  name text not null,
  description text not null default '',
  version text not null default '1.0.0',
  agent_type text not null default 'simple' check (agent_type in ('simple', 'rag')),
  model text not null default 'default',
  system_prompt text not null default '',
  temperature double precision,
  max_tokens int,
  reasoning_config jsonb,
  tool_attachments jsonb not null default '[]',
  is_public boolean not null default false,
  show_citations boolean not null default true,
  save_to_inbox boolean not null default false,
  data_access_mode text not null default 'origin' check (data_access_mode in ('origin', 'caller', 'none')),
  allowed_folder_ids uuid[],
  from_system boolean not null default false,
  conversation_count bigint not null default 0,
  created_by uuid not null references users,
  last_edited_by uuid not null references users,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  -- Whether the agent's answers lose the marks whose source does not support them.
  require_support boolean not null default false
);
create unique index on agents (space_id, lower(name)) where deleted_at is null;
create index on agents (organization_id) where deleted_at is null;

-- Who changed what of an agent, and when: at most 1,000 entries of each.
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

-- Each API process keeps agents for a moment, and drops the one whose id it hears here, or those of the space
-- with it, as soon as the change is committed and whoever made it. Counting an agent's conversations changes
-- nothing that a turn needs.
create function tell_agents_changed() returns trigger language plpgsql
  set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_notify('holdfast_agents', new.id::text);
  return null;
end $$;
create trigger tell_agents_changed after update on agents for each row
  when (new.conversation_count = old.conversation_count)
  execute function tell_agents_changed();
create trigger tell_agents_changed after update on spaces for each row
  when (new.deleted_at is distinct from old.deleted_at)
  execute function tell_agents_changed();
