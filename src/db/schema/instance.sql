-- What belongs to the instance and to no organization.

-- Secrets of the instance (the pepper of key hashes), wrapped by the master key.
create table instance_secrets (
  name text primary key,
  wrapped bytea not null,
  master_key_id text not null
);

-- What operators ask for on the command line: the outbox of the workflow that does it, and its report. A row
-- outlives the organization that it deletes.
create table operations (
  id uuid primary key,
  kind text not null
    check (kind in ('rotate_master', 'rotate_organization', 'reencrypt_organization', 'delete_organization', 'export_organization', 'import_organization')),
  -- The organization, where it is about one.
  subject uuid,
  subject_num int,
  -- Before then caches of other processes may still let somebody in.
  not_before timestamptz not null default now(),
  requested_at timestamptz not null default now(),
  leased_until timestamptz,
  completed_at timestamptz,
  -- Of an export or import: the folder, and the archive's key as the master key wraps it. Of encrypting anew:
  -- whether older keys are destroyed.
  parameters jsonb not null default '{}',
  report jsonb not null default '{}'
);

-- The processes of the service, for operators.
create table processes (
  id uuid primary key,
  kind text not null check (kind in ('api', 'worker')),
  version text not null,
  -- PROCESS@MACHINE, the name under which Temporal knows it too.
  identity text not null,
  -- The task queues that a worker was told to poll.
  queues text[] not null default '{}',
  started_at timestamptz(3) not null default now(),
  renewed_at timestamptz(3) not null default now(),
  -- False in 0.10 for processes of versions before it, which could not read items of responses.
  reads_response_items boolean not null default false
);

-- What the last count of orphans found, over all organizations: one row.
create table orphan_counts (
  is_only boolean primary key default true check (is_only),
  -- When a process began the count that is under way, or the last one.
  begun_at timestamptz(3),
  counted_at timestamptz(3),
  organizations int not null default 0,
  -- By kind; of one that is whole, 0.
  counts jsonb not null default '{}',
  -- Which organizations have some: an id, a kind and a count each.
  found jsonb not null default '[]'
);

insert into orphan_counts default values;

-- A POST that starts work, remembered by its Idempotency-Key.
create table idempotency_keys (
  organization_id uuid not null references organizations,
  caller_id uuid not null,
  route text not null,
  key text not null,
  body_hash bytea,
  status int,
  -- As text, so that a repeat is answered byte for byte.
  response text,
  claimed_at timestamptz not null default now(),
  leased_until timestamptz not null,
  primary key (caller_id, route, key),
  -- The request that works under the key; an answer of one that lost its lease meanwhile is not taken.
  token uuid
);
create index on idempotency_keys (claimed_at);

-- One gate for all requests to a provider, read by every worker.
create table provider_gates (
  provider text primary key,
  not_before timestamptz not null default '-infinity',
  updated_at timestamptz not null default now(),
  -- The provider failed last: it is tried by one request a second until one succeeds.
  is_failing boolean not null default false,
  -- Why the provider is left alone; null while it is not.
  code text
);

-- How often each key, user and address asked in the running minute, counted by all API processes together.
-- Unlogged: a crash may lose a minute.
create unlogged table rate_limits (
  caller text primary key,
  minute bigint not null,
  count int not null
);

-- Since when no older version runs any more, by what changes with that. 0.10 reads the rows; the time is
-- the database's.
create table cut_overs (
  name text primary key,
  at timestamptz not null default now()
);

insert into cut_overs (name) values ('bound_payloads'), ('response_items');
