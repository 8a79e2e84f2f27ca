-- The audit log. A job chains an organization's committed rows by a keyed hash: writers never wait.

create table audit_log (
  id uuid primary key,
  organization_id uuid not null references organizations,
  at timestamptz not null default now(),
  actor_id uuid,
  auth_method text not null check (auth_method in ('api_key', 'jwt', 'system')),
  api_key_id uuid,
  action text not null,
  resource_type text not null,
  resource_id text,
  space_id uuid,
  request_id text,
  outcome text not null,
  -- A job chains committed rows of each organization by a keyed hash: writers never wait.
  chain_seq bigint,
  chain_hash bytea
);
create index on audit_log (organization_id, at desc, id desc);
create index on audit_log using brin (at);
create index audit_log_unchained on audit_log (organization_id, at, id) where chain_seq is null;
create unique index audit_log_chain on audit_log (organization_id, chain_seq) where chain_seq is not null;

-- The chain's end, and its beginning: the last row that was deleted by its age.
create table audit_chains (
  organization_id uuid primary key references organizations,
  base_seq bigint not null default 0,
  base_hash bytea not null default '',
  seq bigint not null default 0,
  hash bytea not null default ''
);

-- Notes who made a key by the audit row that is written in the key's own transaction, whoever writes the key.
create function note_key_creator() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update api_keys
  set created_by = new.actor_id
  where id = new.resource_id::uuid and organization_id = new.organization_id and created_by is null;
  return null;
end $$;
create trigger note_key_creator after insert on audit_log for each row
  when (new.action = 'api_keys:create' and new.resource_type = 'api_key' and new.outcome = 'success' and new.actor_id is not null)
  execute function note_key_creator();

-- Notes which key started a batch by the audit row that is written in the batch's own transaction.
create function note_batch_key() returns trigger language plpgsql security definer
  set search_path = public, pg_temp as $$
begin
  update batches
  set api_key_id = new.api_key_id
  where id = new.resource_id::uuid
    and organization_id = new.organization_id
    and api_key_id is null
    and created_at = now();
  return null;
end $$;
create trigger note_batch_key after insert on audit_log for each row
  when (new.resource_type = 'batch' and new.outcome = 'success' and new.api_key_id is not null)
  execute function note_batch_key();
