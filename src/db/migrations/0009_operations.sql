-- What operators ask for on the command line and a workflow does: the outbox of it, and its report. It outlives the organization that it deletes.
create table operations (
  id uuid primary key,
  kind text not null check (kind in ('rotate_master', 'rotate_organization', 'reencrypt_organization', 'delete_organization', 'export_organization', 'import_organization')),
  -- The organization, where it is about one.
  subject uuid,
  subject_num int,
  -- Before then caches of other processes may still let somebody in.
  not_before timestamptz not null default now(),
  requested_at timestamptz not null default now(),
  leased_until timestamptz,
  completed_at timestamptz,
  -- Of an export or import: the folder, and the archive's key as the master key wraps it. Of encrypting anew: whether older keys are destroyed.
  parameters jsonb not null default '{}',
  report jsonb not null default '{}'
);
grant select, update on operations to holdfast_system;
