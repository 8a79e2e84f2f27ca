-- Agents and the books of chat turns. Messages are never stored.

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
  deleted_at timestamptz
);
create unique index on agents (space_id, lower(name)) where deleted_at is null;
create index on agents (organization_id) where deleted_at is null;
call protect_tenant_table('agents');
-- The books of turns count conversations for all organizations; nothing else of an agent is open to them.
create policy system on agents to holdfast_system using (true) with check (true);
grant select (id, conversation_count), update (conversation_count) on agents to holdfast_system;

-- An API process is alive while it renews its lease.
create table api_processes (
  id uuid primary key,
  renewed_at timestamptz not null default now()
);
grant select, insert, update, delete on api_processes to holdfast_app, holdfast_system;

create table turns (
  id uuid primary key,
  organization_id uuid not null references organizations,
  space_id uuid not null,
  agent_id uuid not null,
  user_id uuid not null,
  api_key_id uuid,
  api_process_id uuid not null,
  status text not null check (status in ('open', 'completed', 'failed', 'cancelled', 'lost')),
  error_code text,
  starts_conversation boolean not null,
  started_at timestamptz not null,
  ended_at timestamptz
);
create index on turns (api_process_id) where status in ('open', 'lost');
create index on turns (organization_id, started_at);
call protect_tenant_table('turns');
call open_to_system('turns');

-- Which of these users were removed: all that the books of turns may ask about people.
create function removed_users(ids uuid[]) returns setof uuid language sql stable security definer set search_path = pg_catalog, public
  as 'select id from public.users where id = any(ids) and removed_at is not null';
revoke execute on function removed_users from public;
grant execute on function removed_users to holdfast_system;

create table turn_calls (
  turn_id uuid not null,
  call_no smallint not null,
  organization_id uuid not null references organizations,
  model text not null,
  prompt_tokens int not null,
  completion_tokens int not null,
  at timestamptz not null default now(),
  primary key (turn_id, call_no)
);
create index on turn_calls (organization_id, at);
call protect_tenant_table('turn_calls');
call open_to_system('turn_calls');
