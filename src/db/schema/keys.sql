-- API keys: who made them, from where they may be used and were used. They are rolled, bounded in lifetime,
-- and may be revoked by anybody who finds one.

create table api_keys (
  id uuid primary key,
  organization_id uuid not null references organizations,
  user_id uuid not null references users,
  name text not null,
  prefix text not null,
  hash bytea not null unique,
  all_spaces boolean not null,
  capabilities text[] not null default '{read,search,chat,write}',
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  -- Null: the operator, by provisioning or the command line.
  created_by uuid,
  allowed_cidrs cidr[],
  last_used_ip inet,
  last_used_user_agent text,
  revoked_reason text check (revoked_reason in ('leaked'))
);
create index on api_keys (organization_id, user_id);

create table api_key_spaces (
  api_key_id uuid not null references api_keys on delete cascade,
  space_id uuid not null references spaces on delete cascade,
  organization_id uuid not null references organizations,
  primary key (api_key_id, space_id)
);
create index on api_key_spaces (space_id);

-- Texts that keys had before they were rolled, kept so that a provisioning file brings none back.
create table superseded_keys (
  hash bytea primary key,
  api_key_id uuid not null references api_keys on delete cascade,
  organization_id uuid not null references organizations,
  created_at timestamptz not null default now(),
  valid_until timestamptz not null
);
create index on superseded_keys (api_key_id, valid_until);
create index on superseded_keys (api_key_id, created_at);

-- Texts that somebody reported as leaked, until a process has looked. Only these functions touch it.
create table leaked_keys (
  hash bytea primary key,
  reported_at timestamptz not null default now()
);

-- Stores what was reported, whosever it is, unless `at_most` reports wait already: then it answers false.
create function report_leaked_keys(hashes bytea[], at_most int) returns boolean language plpgsql volatile security definer set search_path = public, pg_temp as $$
begin
  if (select count(*) from (select from leaked_keys limit at_most) waiting) >= at_most then return false; end if;
  insert into leaked_keys (hash) select distinct reported from unnest(hashes) as reported order by reported on conflict do nothing;
  return true;
end $$;

-- Takes the oldest reports and revokes their keys, also by an earlier text that was still accepted when it
-- was reported.
create function revoke_leaked_keys(at_most int) returns table (id uuid, organization_id uuid, user_id uuid)
  language plpgsql volatile security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
  -- Every process asks every few seconds, mostly for nothing.
  if not exists (select from leaked_keys) then return; end if;
  return query
  with due as (select l.hash from leaked_keys l order by l.reported_at, l.hash limit at_most for update skip locked),
       taken as (delete from leaked_keys l using due where l.hash = due.hash returning l.hash, l.reported_at),
       meant as (
         select k.id from taken join api_keys k on k.hash = taken.hash
         union
         select s.api_key_id from taken join superseded_keys s on s.hash = taken.hash where s.valid_until > taken.reported_at),
       locked as (select k.id from api_keys k join meant on meant.id = k.id where k.revoked_at is null order by k.id for no key update of k)
  update api_keys k
  set revoked_at = now(), revoked_reason = 'leaked'
  from locked
  where k.id = locked.id
  returning k.id, k.organization_id, k.user_id;
end $$;
