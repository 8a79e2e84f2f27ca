-- Since when nothing of an older version runs any more, by what changes with that. A row is made once and stays.
create table cut_overs (
  name text primary key,
  at timestamptz not null default now()
);
-- The time is the database's: a process cannot say that the cut-over was long ago.
grant select, insert (name) on cut_overs to holdfast_system;

-- An empty database has never had an older version: its secrets are made by the first process that starts.
insert into cut_overs (name)
select 'bound_payloads'
where not exists (select from instance_secrets);
