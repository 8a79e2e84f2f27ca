-- The books of chat turns. Messages are never stored, but for answers that a request asked to keep.

-- An API process is alive while it renews its lease.
create table api_processes (
  id uuid primary key,
  renewed_at timestamptz not null default now()
);

create table turns (
  id uuid primary key,
  organization_id uuid not null references organizations,
  -- Null of a response that asks the configured model itself, without an agent.
  space_id uuid,
  agent_id uuid,
  user_id uuid not null,
  api_key_id uuid,
  api_process_id uuid not null,
  status text not null check (status in ('open', 'completed', 'failed', 'cancelled', 'lost')),
  error_code text,
  starts_conversation boolean not null,
  started_at timestamptz not null,
  ended_at timestamptz,
  -- Calls of the chat model that reranked a search are in the books of turns for their tokens: they count in
  -- budgets and usage, but are no answer of anybody, so no event tells of them.
  is_rerank boolean not null default false
);
create index on turns (api_process_id) where status in ('open', 'lost');
create index on turns (organization_id, started_at);
create index on turns using brin (started_at);
-- The budget of a user's month (MONTHLY_TOKENS_PER_USER) and of a key's, whose turns are all its owner's:
-- without it each look reads every turn of the organization's month. The table takes no writes while the
-- index is made, some two seconds for a million turns; chat answers meanwhile.
create index turns_of_user on turns (organization_id, user_id, started_at);

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
create index on turn_calls using brin (at);

-- Which of these users were removed: all that the books of turns may ask about people.
create function removed_users(ids uuid[]) returns setof uuid language sql stable security definer set search_path = pg_catalog, public
  as 'select id from public.users where id = any(ids) and removed_at is not null';

create table kept_turns (
  turn_id uuid primary key,
  organization_id uuid not null references organizations,
  -- The API key, else the user.
  caller_id uuid not null,
  key text not null,
  body_hash bytea not null,
  api_process_id uuid not null,
  status text not null default 'running' check (status in ('running', 'completed', 'failed', 'cancelled')),
  piece_count int not null default 0,
  created_at timestamptz not null default now(),
  -- When somebody last read the answer.
  read_at timestamptz not null default now(),
  key_id uuid,
  sealed_end bytea,
  unique (caller_id, key),
  -- Documents that the answer may rest on: a repeat is given it only while its caller reaches all of them.
  document_ids uuid[]
);
create index on kept_turns (created_at);

-- Pieces first_no to last_no of an answer, in one sealed list.
create table kept_turn_pieces (
  turn_id uuid not null references kept_turns on delete cascade,
  organization_id uuid not null,
  first_no int not null,
  last_no int not null,
  key_id uuid not null,
  sealed bytea not null,
  primary key (turn_id, first_no)
);
