-- Folders, documents, raw files and the runs of the pipeline.

create table folders (
  id uuid primary key,
  organization_id uuid not null references organizations,
  space_id uuid not null references spaces,
  parent_folder_id uuid references folders,
  name text not null,
  from_system boolean not null default false,
  created_by uuid references users,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz
);
create index on folders (space_id, parent_folder_id);
create index on folders (parent_folder_id);
create index on folders (space_id) where deleted_at is not null;
call protect_tenant_table('folders');

-- `latest_run_num` is the run that processing_state shows; `published_run_num` is the one that search serves.
create table documents (
  id uuid primary key,
  num int generated always as identity unique,
  organization_id uuid not null references organizations,
  space_id uuid not null references spaces,
  space_num int not null,
  folder_id uuid references folders,
  name text not null,
  file_type text not null,
  file_size bigint not null,
  content_type text not null,
  metadata jsonb not null default '{}',
  extracted jsonb not null default '{}',
  created_by uuid not null references users,
  -- In milliseconds, as callers see them, so that a filter with a value that was read finds its row.
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  run_count int not null default 0,
  latest_run_num int,
  published_run_num int,
  published_version int,
  deleted_at timestamptz
);
create index on documents (space_id, created_at desc, id desc) where deleted_at is null;
create index on documents (space_id, file_type) where deleted_at is null;
create index on documents (folder_id) where folder_id is not null;
create index on documents (published_run_num);
create index on documents (latest_run_num);
create index on documents (space_id) where deleted_at is not null;
call protect_tenant_table('documents');

-- A stored file by its path in the space. `object_key` names the encrypted object; a rename changes the path only.
create table raw_files (
  id uuid primary key,
  organization_id uuid not null references organizations,
  space_id uuid not null references spaces,
  path text not null,
  size bigint,
  content_type text,
  sha256 text,
  object_key text,
  document_id uuid references documents on delete set null,
  created_by uuid references users,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz
);
create unique index raw_files_path on raw_files (space_id, path collate "C") where deleted_at is null;
create index on raw_files (document_id);
call protect_tenant_table('raw_files');

create table pipeline_runs (
  id uuid primary key,
  num int generated always as identity unique,
  organization_id uuid not null references organizations,
  space_id uuid not null references spaces,
  space_num int not null,
  document_id uuid not null,
  version int not null,
  trigger text not null check (trigger in ('upload', 'reprocess', 'batch', 'replace', 'restore')),
  -- 0: uploads and single requests; 1: batches.
  priority smallint not null default 0,
  status text not null default 'queued' check (status in ('queued', 'parsing', 'chunking', 'embedding', 'completed', 'failed', 'cancelled')),
  parsed boolean not null default false,
  chunked boolean not null default false,
  embedded boolean not null default false,
  progress real not null default 0,
  waiting_for text,
  cancel_requested boolean not null default false,
  claim_id uuid,
  -- Held runs belong to a batch that has not released them yet.
  held boolean not null default false,
  -- The attempt that has the run in hand. One that is still there when the next attempt begins was lost with its process:
  -- the run is suspected then, and worked on in a process that has nothing else in hand.
  attempt_id uuid,
  suspected boolean not null default false,
  -- Such processes that were lost with it since it last got on; with the third it ends `worker_crashed`.
  lost_attempts smallint not null default 0,
  batch_id uuid,
  object_key text not null,
  file_name text not null,
  file_type text not null,
  file_size bigint not null,
  parser_name text,
  chunker_name text not null,
  chunker_config jsonb not null default '{}',
  embedding_model text,
  analyzer_version smallint,
  page_count int,
  chunk_count int,
  embedded_chunk_count int,
  -- Terms of all its chunks, as far as they are indexed: what the run adds to the space's total when it is published.
  term_count bigint not null default 0,
  error jsonb,
  warnings jsonb not null default '[]',
  -- Where a long document goes on, as the activity that divides it wrote it; null before the first part and after the last.
  checkpoint jsonb,
  -- W3C: the trace of the request that queued it, where there is one; its processing goes on in it.
  traceparent text,
  created_by uuid,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz
);
create unique index pipeline_runs_version on pipeline_runs (document_id, version);
create unique index pipeline_runs_active on pipeline_runs (document_id) where status in ('queued', 'parsing', 'chunking', 'embedding');
create index pipeline_runs_queue on pipeline_runs (priority, organization_id, num) where status = 'queued' and claim_id is null and not held;
create index on pipeline_runs (claim_id) where claim_id is not null and status in ('queued', 'parsing', 'chunking', 'embedding');
create index pipeline_runs_batch on pipeline_runs (batch_id, num) where batch_id is not null;
create index pipeline_runs_held on pipeline_runs (batch_id, num) where held and status = 'queued';
create index pipeline_runs_released on pipeline_runs (batch_id) where batch_id is not null and not held and status in ('queued', 'parsing', 'chunking', 'embedding');
call protect_tenant_table('pipeline_runs');
call open_to_system('pipeline_runs');

-- A group of at most 32 runs of one organization that one workflow carries. Its members never change.
create table claims (
  id uuid primary key,
  organization_id uuid not null references organizations,
  priority smallint not null,
  run_ids uuid[] not null check (cardinality(run_ids) between 1 and 32),
  leased_until timestamptz not null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  -- All that is left in it waits for an outage to end; it does not count against what an organization may have under way.
  waiting boolean not null default false,
  -- Of one suspected run: worked on in a process that has nothing else in hand. It does not count either.
  isolated boolean not null default false,
  closed_at timestamptz
);
create index on claims (leased_until) where closed_at is null;
create index on claims (id) where isolated and closed_at is null;
create index on claims (organization_id, priority) where closed_at is null;
call protect_tenant_table('claims');
call open_to_system('claims');

-- Whose turn it is: one row an organization and priority, taken oldest first.
create table claim_turns (
  organization_id uuid not null references organizations,
  priority smallint not null,
  last_claimed_at timestamptz not null default '-infinity',
  primary key (organization_id, priority)
);
call protect_tenant_table('claim_turns');
call open_to_system('claim_turns');

-- An upload under way: its object is not an orphan while the lease lives.
create table upload_intents (
  object_key text primary key,
  organization_id uuid not null references organizations,
  leased_until timestamptz not null,
  created_at timestamptz not null default now()
);
call protect_tenant_table('upload_intents');
call open_to_system('upload_intents');

-- Deletions that were accepted: the outbox of the deletion workflows.
create table deletions (
  id uuid primary key,
  organization_id uuid not null references organizations,
  kind text not null check (kind in ('document', 'raw_file', 'folder', 'space')),
  target_id uuid not null,
  created_by uuid,
  created_at timestamptz not null default now(),
  leased_until timestamptz,
  completed_at timestamptz
);
create index on deletions (created_at) where completed_at is null;
call protect_tenant_table('deletions');
call open_to_system('deletions');

-- Batches that were accepted: the outbox of their workflows. Pause, resume and cancel are facts here, which the workflow's steps read.
create table batches (
  id uuid primary key,
  organization_id uuid not null references organizations,
  created_by uuid not null references users,
  -- The spaces of its documents.
  space_ids uuid[] not null,
  total int not null,
  accepted int not null,
  rejected jsonb not null default '[]',
  status text not null default 'running' check (status in ('running', 'paused', 'cancelled', 'completed')),
  created_at timestamptz not null default now(),
  leased_until timestamptz,
  completed_at timestamptz
);
create index on batches (created_at) where completed_at is null;
call protect_tenant_table('batches');
call open_to_system('batches');

-- A POST that starts work, remembered by its Idempotency-Key.
create table idempotency_keys (
  organization_id uuid not null references organizations,
  caller_id uuid not null,
  route text not null,
  key text not null,
  body_hash bytea,
  status int,
  response jsonb,
  claimed_at timestamptz not null default now(),
  leased_until timestamptz not null,
  primary key (caller_id, route, key)
);
create index on idempotency_keys (claimed_at);
call protect_tenant_table('idempotency_keys');
call open_to_system('idempotency_keys');

-- One gate for all requests to a provider, read by every worker.
create table provider_gates (
  provider text primary key,
  not_before timestamptz not null default '-infinity',
  updated_at timestamptz not null default now()
);
grant select, insert, update on provider_gates to holdfast_app, holdfast_system;

-- Names from the root joined by '/'; null for no folder.
create function folder_path(of_folder uuid) returns text language sql stable
  return (
    with recursive up as (
      select id, parent_folder_id, name, 1 as depth from folders where id = of_folder
      union all
      select f.id, f.parent_folder_id, f.name, up.depth + 1 from folders f join up on f.id = up.parent_folder_id where up.depth < 1000)
    select string_agg(name, '/' order by depth desc) from up);
