-- A key that somebody else made for its owner reaches of the owner's things only what it made itself.

-- The key that started the batch; null: its starter had logged in, or the key is not known any more.
alter table batches add column api_key_id uuid;

-- The first row about a batch is that of its start.
update batches batch
set api_key_id = started.api_key_id
from (
  select distinct on (resource_id) resource_id, organization_id, api_key_id
  from audit_log
  where resource_type = 'batch'
    and outcome = 'success'
  order by resource_id, at, id
) started
where started.resource_id = batch.id::text
  and started.organization_id = batch.organization_id
  and started.api_key_id is not null;

-- Processes of the version before do not write it, but like this one they write the audit row of a new batch in
-- the batch's own transaction.
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
revoke execute on function note_batch_key from public;

-- As before, and says whether somebody else made the key.
create or replace function authenticate_caller_key(key_hash bytea) returns jsonb language sql stable
  security definer set search_path = public, pg_temp
  return (
    with meant as (
      select key.id as key_id, null::timestamptz as ends_at
      from api_keys key
      where key.hash = key_hash
      union all
      select superseded.api_key_id, superseded.valid_until
      from superseded_keys superseded
      where superseded.hash = key_hash
        and superseded.valid_until > now()
      order by ends_at nulls first
      limit 1
    )
    select jsonb_build_object(
      'key', jsonb_build_object(
        'id', key.id,
        'all_spaces', key.all_spaces,
        'capabilities', key.capabilities,
        'expires_at', least(key.expires_at, meant.ends_at),
        'revoked_at', key.revoked_at,
        'allowed_cidrs', key.allowed_cidrs,
        'made_by_other', coalesce(key.created_by <> key.user_id, false)
      ),
      'user', jsonb_build_object(
        'id', member.id,
        'email', member.email,
        'name', member.name,
        'avatar_url', member.avatar_url,
        'role', member.role,
        'removed', member.removed_at is not null
      ),
      'organization', jsonb_build_object(
        'id', organization.id,
        'num', organization.num,
        'name', organization.name,
        'deleted', organization.deleted_at is not null,
        'is_home', member.organization_id = key.organization_id
      ),
      'has_private_space', has_private_space(member.id),
      'spaces', reach_of(member.id, key.id)
    )
    from meant
    join api_keys key on key.id = meant.key_id
    join users member on member.id = key.user_id
    join organizations organization on organization.id = key.organization_id
  );
