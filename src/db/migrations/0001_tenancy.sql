-- Organizations, their people and keys, and the wall between them.
-- Roles: `app` serves one organization a transaction, `system` sees bookkeeping of all, the owner migrates and builds indexes.

-- Roles belong to the whole cluster, and another database of it may be migrated at the same time.
do $$
declare
  name text;
begin
  foreach name in array array['holdfast_app', 'holdfast_system'] loop
    begin
      if not exists (select from pg_roles where rolname = name) then execute format('create role %I nologin', name); end if;
    exception when duplicate_object or unique_violation then null;
    end;
    if not pg_has_role(current_user, name, 'set') then execute format('grant %I to %I', name, current_user); end if;
  end loop;
end $$;

create extension if not exists vector;
grant usage on schema public to holdfast_app, holdfast_system;

-- The organization of the running transaction; null (and so no row) where none was set.
create function current_organization_id() returns uuid language sql stable parallel safe
  return nullif(current_setting('app.organization_id', true), '')::uuid;
create function current_organization_num() returns int language sql stable parallel safe
  return nullif(current_setting('app.organization_num', true), '')::int;

-- Every tenant table goes through this once: only rows of the transaction's organization are seen or written by `app`.
create procedure protect_tenant_table(tenant_table regclass) language plpgsql as $$
declare
  by_num boolean := exists (select from pg_attribute where attrelid = tenant_table and attname = 'organization_num' and not attisdropped)
                and not exists (select from pg_attribute where attrelid = tenant_table and attname = 'organization_id' and not attisdropped);
  predicate text := case when by_num then 'organization_num = (select current_organization_num())'
                         else 'organization_id = (select current_organization_id())' end;
begin
  execute format('alter table %s enable row level security', tenant_table);
  execute format('create policy tenant on %s to holdfast_app using (%s) with check (%s)', tenant_table, predicate, predicate);
  execute format('grant select, insert, update, delete on %s to holdfast_app', tenant_table);
end $$;

-- Bookkeeping that dispatchers and reconcilers read across organizations; it holds ids and states, no content.
create procedure open_to_system(bookkeeping_table regclass) language plpgsql as $$
begin
  execute format('create policy system on %s to holdfast_system using (true) with check (true)', bookkeeping_table);
  execute format('grant select, insert, update, delete on %s to holdfast_system', bookkeeping_table);
end $$;

create table organizations (
  id uuid primary key,
  num int generated always as identity unique,
  name text not null unique,
  created_at timestamptz not null default now(),
  deleted_at timestamptz
);
alter table organizations enable row level security;
create policy tenant on organizations to holdfast_app using (id = (select current_organization_id()));
create policy system on organizations to holdfast_system using (true);
grant select on organizations to holdfast_app, holdfast_system;

-- Each organization's data-encryption key, wrapped by the master key. Old ones stay until nothing is encrypted with them.
create table organization_keys (
  id uuid primary key,
  organization_id uuid not null references organizations,
  wrapped bytea not null,
  master_key_id text not null,
  is_current boolean not null,
  created_at timestamptz not null default now()
);
create unique index on organization_keys (organization_id) where is_current;
call protect_tenant_table('organization_keys');

-- Secrets of the instance (the pepper of key hashes), wrapped by the master key.
create table instance_secrets (
  name text primary key,
  wrapped bytea not null,
  master_key_id text not null
);
grant select, insert on instance_secrets to holdfast_app;

create table users (
  id uuid primary key,
  organization_id uuid not null references organizations,
  email text not null,
  name text not null,
  avatar_url text,
  role text not null check (role in ('admin', 'member')),
  subject text,
  created_at timestamptz not null default now(),
  removed_at timestamptz
);
create unique index on users (lower(email)) where removed_at is null;
create unique index on users (subject) where removed_at is null;
create index on users (organization_id);
call protect_tenant_table('users');

create table spaces (
  id uuid primary key,
  num int generated always as identity unique,
  organization_id uuid not null references organizations,
  name text not null,
  is_private boolean not null default false,
  owner_id uuid not null references users,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz
);
create unique index on spaces (owner_id) where is_private and deleted_at is null;
create unique index on spaces (organization_id, lower(name)) where not is_private and deleted_at is null;
call protect_tenant_table('spaces');

create table space_members (
  space_id uuid not null references spaces on delete cascade,
  user_id uuid not null references users,
  organization_id uuid not null references organizations,
  role text not null check (role in ('owner', 'editor', 'viewer')),
  primary key (space_id, user_id)
);
create index on space_members (user_id);
call protect_tenant_table('space_members');

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
  revoked_at timestamptz
);
create index on api_keys (organization_id, user_id);
call protect_tenant_table('api_keys');

create table api_key_spaces (
  api_key_id uuid not null references api_keys on delete cascade,
  space_id uuid not null references spaces on delete cascade,
  organization_id uuid not null references organizations,
  primary key (api_key_id, space_id)
);
create index on api_key_spaces (space_id);
call protect_tenant_table('api_key_spaces');

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
  outcome text not null
);
create index on audit_log (organization_id, at desc, id desc);
call protect_tenant_table('audit_log');
revoke update, delete on audit_log from holdfast_app;

-- What a caller may reach, in one answer: every live space of the user with its role, narrowed to a key's spaces.
-- Runs with the owner's rights, because the organization is known only once the caller is.
create function reach_of(of_user uuid, of_key uuid) returns jsonb language sql stable security definer set search_path = public, pg_temp
  return (
    select coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'num', s.num, 'role', m.role, 'is_private', s.is_private)), '[]')
    from users u join space_members m on m.user_id = u.id
      join spaces s on s.id = m.space_id and s.organization_id = u.organization_id and s.deleted_at is null
    where u.id = of_user and u.removed_at is null
      and (of_key is null
        or exists (select from api_keys k where k.id = of_key and k.all_spaces)
        or exists (select from api_key_spaces ks where ks.api_key_id = of_key and ks.space_id = s.id)));

create function has_private_space(of_user uuid) returns boolean language sql stable security definer set search_path = public, pg_temp
  return exists (select from spaces where owner_id = of_user and is_private and deleted_at is null);

create function authenticate_key(key_hash bytea) returns jsonb language sql stable security definer set search_path = public, pg_temp
  return (
    select jsonb_build_object(
      'key', jsonb_build_object('id', k.id, 'all_spaces', k.all_spaces, 'capabilities', k.capabilities, 'expires_at', k.expires_at, 'revoked_at', k.revoked_at),
      'user', jsonb_build_object('id', u.id, 'email', u.email, 'name', u.name, 'avatar_url', u.avatar_url, 'role', u.role, 'removed', u.removed_at is not null),
      'organization', jsonb_build_object('id', o.id, 'num', o.num, 'name', o.name, 'deleted', o.deleted_at is not null, 'is_home', u.organization_id = k.organization_id),
      'has_private_space', has_private_space(u.id),
      'spaces', reach_of(u.id, k.id))
    from api_keys k join users u on u.id = k.user_id join organizations o on o.id = k.organization_id
    where k.hash = key_hash);

-- A subject that nobody is bound to yet is bound to the user with its verified e-mail.
create function authenticate_subject(token_subject text, verified_email text) returns jsonb language plpgsql volatile security definer set search_path = public, pg_temp as $$
declare
  found users;
begin
  select * into found from users where subject = token_subject and removed_at is null;
  if found.id is null and verified_email is not null then
    update users set subject = token_subject
      where lower(email) = lower(verified_email) and subject is null and removed_at is null returning * into found;
  end if;
  if found.id is null then return null; end if;
  return (select jsonb_build_object(
      'user', jsonb_build_object('id', found.id, 'email', found.email, 'name', found.name, 'avatar_url', found.avatar_url, 'role', found.role, 'removed', false),
      'organization', jsonb_build_object('id', o.id, 'num', o.num, 'name', o.name, 'deleted', o.deleted_at is not null, 'is_home', true),
      'has_private_space', has_private_space(found.id),
      'spaces', reach_of(found.id, null))
    from organizations o where o.id = found.organization_id);
end $$;

-- Written behind in batches over all organizations, hence with the owner's rights. Rows are locked in the order of their ids.
create function touch_api_keys(key_ids uuid[], used_at timestamptz[]) returns void language sql volatile security definer set search_path = public, pg_temp
begin atomic
  with used as (select * from unnest(key_ids, used_at) as t (id, at)),
       locked as (select k.id from api_keys k join used on used.id = k.id order by k.id for no key update of k)
  update api_keys k set last_used_at = greatest(k.last_used_at, used.at) from used join locked on locked.id = used.id where k.id = used.id;
end;

create function append_audit_rows(entries jsonb) returns void language sql volatile security definer set search_path = public, pg_temp
begin atomic
  insert into audit_log (id, organization_id, at, actor_id, auth_method, api_key_id, action, resource_type, resource_id, space_id, request_id, outcome)
    select id, organization_id, at, actor_id, auth_method, api_key_id, action, resource_type, resource_id, space_id, request_id, outcome
    from jsonb_populate_recordset(null::audit_log, entries);
end;

revoke execute on function reach_of, has_private_space, authenticate_key, authenticate_subject, touch_api_keys, append_audit_rows from public;
grant execute on function reach_of, authenticate_key, authenticate_subject, touch_api_keys, append_audit_rows to holdfast_app;
