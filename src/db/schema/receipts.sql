-- What vouches for a citation.

-- The keys that sign receipts: one of an organization signs, and those before it stay, for what they signed.
create table receipt_keys (
  -- Random, so that nobody can list keys: whoever has a receipt knows the one that signed it.
  kid text primary key,
  organization_id uuid not null references organizations,
  -- The 32 bytes of an Ed25519 key.
  public_key bytea not null check (length(public_key) = 32),
  -- Sealed with the key of the organization that `seal_key_id` names; a retired key has no private half.
  seal_key_id uuid,
  sealed_private_key bytea,
  created_at timestamptz(3) not null default now(),
  retired_at timestamptz(3),
  check ((retired_at is null) = (sealed_private_key is not null)),
  check ((sealed_private_key is null) = (seal_key_id is null))
);
create unique index receipt_keys_active on receipt_keys (organization_id) where retired_at is null;
create index on receipt_keys (organization_id, created_at);

-- The public half of a key of any organization that is not closed, for whoever checks a receipt.
create function find_receipt_key(wanted text)
  returns table (organization_id uuid, public_key bytea, created_at timestamptz, retired_at timestamptz)
  language sql stable security definer set search_path = public, pg_temp
begin atomic
  select key.organization_id, key.public_key, key.created_at, key.retired_at
  from receipt_keys key
  join organizations organization
    on organization.id = key.organization_id
    and organization.deleted_at is null
  where key.kid = wanted;
end;
