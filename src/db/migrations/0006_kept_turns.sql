-- Chat turns whose request had an Idempotency-Key, so that any API process can give their answer again. Text is sealed with the organization's key.

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
  unique (caller_id, key)
);
create index on kept_turns (created_at);
call protect_tenant_table('kept_turns');
call open_to_system('kept_turns');

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
call protect_tenant_table('kept_turn_pieces');
