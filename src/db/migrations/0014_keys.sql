-- Keys say who made them, from where they may be used and from where they were; they are rolled, bounded in lifetime, and revoked by who finds them.

alter table api_keys add column created_by uuid; -- Null: the operator, by provisioning or the command line.
alter table api_keys add column allowed_cidrs cidr[];
alter table api_keys add column last_used_ip inet;
alter table api_keys add column last_used_user_agent text;
alter table api_keys add column revoked_reason text check (revoked_reason in ('leaked'));

alter table organizations add column max_key_lifetime_seconds int check (max_key_lifetime_seconds > 0);
alter table organizations add column default_key_lifetime_seconds int check (default_key_lifetime_seconds > 0);
grant update (max_key_lifetime_seconds, default_key_lifetime_seconds) on organizations to holdfast_app;

-- Of a user who is bound: the address before an administrator changed it, until a login confirms the new one. Null: it is `email`.
alter table users add column confirmed_email text;

-- Texts that keys had before they were rolled. They stay after their time, so that a provisioning file cannot bring one back.
create table superseded_keys (
  hash bytea primary key,
  api_key_id uuid not null references api_keys on delete cascade,
  organization_id uuid not null references organizations,
  created_at timestamptz not null default now(),
  valid_until timestamptz not null
);
create index on superseded_keys (api_key_id, valid_until);
create index on superseded_keys (api_key_id, created_at);
call protect_tenant_table('superseded_keys');

-- Processes of the version before do not write created_by, but like this one they write the audit row of a new key in the key's own transaction.
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

update api_keys k
set created_by = made.actor_id
from (
  select distinct on (resource_id) resource_id, organization_id, actor_id
  from audit_log
  where action = 'api_keys:create' and resource_type = 'api_key' and outcome = 'success' and actor_id is not null
  order by resource_id, at
) made
where made.resource_id = k.id::text and made.organization_id = k.organization_id;

-- As before, but a key that somebody else made for its owner reaches shared spaces alone. Both versions ask this function.
create or replace function reach_of(of_user uuid, of_key uuid) returns jsonb language sql stable security definer set search_path = public, pg_temp
  return (
    select coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'num', s.num, 'role', m.role, 'is_private', s.is_private)), '[]')
    from users u join space_members m on m.user_id = u.id
      join spaces s on s.id = m.space_id and s.organization_id = u.organization_id and s.deleted_at is null
    where u.id = of_user and u.removed_at is null
      and (of_key is null
        or exists (select from api_keys k where k.id = of_key and k.all_spaces)
        or exists (select from api_key_spaces ks where ks.api_key_id = of_key and ks.space_id = s.id))
      and not (s.is_private and exists (select from api_keys k where k.id = of_key and k.created_by <> k.user_id)));

-- A key by its text or, while that is still accepted, by one of before, whose end is the key's then.
create function authenticate_caller_key(key_hash bytea) returns jsonb language sql stable security definer set search_path = public, pg_temp
  return (
    with meant as (
      select k.id as key_id, null::timestamptz as ends_at from api_keys k where k.hash = key_hash
      union all
      select s.api_key_id, s.valid_until from superseded_keys s where s.hash = key_hash and s.valid_until > now()
      order by ends_at nulls first limit 1)
    select jsonb_build_object(
      'key', jsonb_build_object('id', k.id, 'all_spaces', k.all_spaces, 'capabilities', k.capabilities, 'expires_at', least(k.expires_at, meant.ends_at),
        'revoked_at', k.revoked_at, 'allowed_cidrs', k.allowed_cidrs),
      'user', jsonb_build_object('id', u.id, 'email', u.email, 'name', u.name, 'avatar_url', u.avatar_url, 'role', u.role, 'removed', u.removed_at is not null),
      'organization', jsonb_build_object('id', o.id, 'num', o.num, 'name', o.name, 'deleted', o.deleted_at is not null, 'is_home', u.organization_id = k.organization_id),
      'has_private_space', has_private_space(u.id),
      'spaces', reach_of(u.id, k.id))
    from meant join api_keys k on k.id = meant.key_id join users u on u.id = k.user_id join organizations o on o.id = k.organization_id);

-- What the version before asks. It knows no lists of addresses, so that it must not let in a key that has one.
create or replace function authenticate_key(key_hash bytea) returns jsonb language sql stable security definer set search_path = public, pg_temp
  return (
    select caller from authenticate_caller_key(key_hash) as caller
    where caller -> 'key' ->> 'allowed_cidrs' is null);

-- touch_api_keys stays for the version before.
create function touch_caller_keys(key_ids uuid[], used_at timestamptz[], ips inet[], user_agents text[]) returns void
  language sql volatile security definer set search_path = public, pg_temp
begin atomic
  with used as (select * from unnest(key_ids, used_at, ips, user_agents) as t (id, at, ip, user_agent)),
       locked as (select k.id from api_keys k join used on used.id = k.id order by k.id for no key update of k)
  update api_keys k
  set last_used_at = used.at, last_used_ip = used.ip, last_used_user_agent = used.user_agent
  from used join locked on locked.id = used.id
  where k.id = used.id and used.at >= coalesce(k.last_used_at, '-infinity');
end;

-- Texts that somebody reported as leaked, known or not, until a process has looked whose they are. Nobody but these two functions touches it.
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

-- Takes the oldest reports and revokes the keys that are meant, also by a text of before that was still accepted when it was reported.
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

revoke execute on function note_key_creator, authenticate_caller_key, touch_caller_keys, report_leaked_keys, revoke_leaked_keys from public;
grant execute on function authenticate_caller_key, touch_caller_keys, report_leaked_keys, revoke_leaked_keys to holdfast_app;
