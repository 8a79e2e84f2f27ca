-- Organizations, their people and spaces.

create table organizations (
  id uuid primary key,
  num int generated always as identity unique,
  name text not null unique,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  max_key_lifetime_seconds int check (max_key_lifetime_seconds > 0),
  default_key_lifetime_seconds int check (default_key_lifetime_seconds > 0)
);

-- Each organization's data-encryption keys, wrapped by the master key. Old ones stay while needed.
create table organization_keys (
  id uuid primary key,
  organization_id uuid not null references organizations,
  wrapped bytea not null,
  master_key_id text not null,
  is_current boolean not null,
  created_at timestamptz not null default now()
);
create unique index on organization_keys (organization_id) where is_current;

create table users (
  id uuid primary key,
  organization_id uuid not null references organizations,
  email text not null,
  name text not null,
  avatar_url text,
  role text not null check (role in ('admin', 'member')),
  subject text,
  created_at timestamptz not null default now(),
  removed_at timestamptz,
  -- Of a user who is bound: the address before an administrator changed it, until a login confirms the new
  -- one. Null: it is `email`.
  confirmed_email text
);
create unique index on users (subject) where removed_at is null;
create index on users (organization_id);
create index users_email on users (lower(email)) where removed_at is null;
-- An address names one member within its organization. That another organization has it too must not show.
create unique index users_lower_idx on users (organization_id, lower(email)) where removed_at is null;

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

create table space_members (
  space_id uuid not null references spaces on delete cascade,
  user_id uuid not null references users,
  organization_id uuid not null references organizations,
  role text not null check (role in ('owner', 'editor', 'viewer')),
  primary key (space_id, user_id)
);
create index on space_members (user_id);

create function has_private_space(of_user uuid) returns boolean language sql stable security definer set search_path = public, pg_temp
  return exists (select from spaces where owner_id = of_user and is_private and deleted_at is null);
