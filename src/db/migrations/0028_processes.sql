-- The processes of the service that say so themselves, for operators: those of versions before do not.
create table processes (
  id uuid primary key,
  kind text not null check (kind in ('api', 'worker')),
  version text not null,
  -- PROCESS@MACHINE, the name under which Temporal knows it too.
  identity text not null,
  -- The task queues that a worker was told to poll.
  queues text[] not null default '{}',
  started_at timestamptz(3) not null default now(),
  renewed_at timestamptz(3) not null default now()
);
grant select, insert, update, delete on processes to holdfast_system;

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
grant select, update on orphan_counts to holdfast_system;
