-- An e-mail address names one member within its organization. That another organization has it too must not show, so that uniqueness ends at
-- the tenant's wall. The index keeps its name: processes of the version before know a taken address by it.

alter index users_lower_idx rename to users_lower_idx_before;
create unique index users_lower_idx on users (organization_id, lower(email)) where removed_at is null;
create index users_email on users (lower(email)) where removed_at is null;
drop index users_lower_idx_before;

-- The caller with the token's subject. A subject that nobody has is bound to the one member of a living organization who waits for a first
-- login with its verified e-mail address; where there are several nobody is bound, and `ambiguous` has ids of them for the operator.
-- Nobody waits with an address that an administrator gave to a user who was bound, unless that user's own login confirmed it.
create function authenticate_token(token_subject text, verified_email text) returns jsonb language plpgsql volatile security definer set search_path = public, pg_temp as $$
declare
  found users;
  waiting uuid[];
begin
  select * into found from users where subject = token_subject and removed_at is null;
  if found.confirmed_email is not null and lower(found.email) = lower(verified_email) then
    update users set confirmed_email = null where id = found.id and lower(email) = lower(verified_email);
  end if;
  if found.id is null and verified_email is not null then
    select array(
      select u.id from users u join organizations o on o.id = u.organization_id
      where lower(u.email) = lower(verified_email) and u.subject is null and u.confirmed_email is null and u.removed_at is null and o.deleted_at is null
      order by u.id limit 10) into waiting;
    if cardinality(waiting) > 1 then
      return jsonb_build_object('caller', null, 'ambiguous', to_jsonb(waiting));
    end if;
    update users set subject = token_subject where id = waiting[1] and lower(email) = lower(verified_email) and subject is null and confirmed_email is null and removed_at is null returning * into found;
  end if;
  if found.id is null then
    return jsonb_build_object('caller', null, 'ambiguous', '[]'::jsonb);
  end if;
  return (select jsonb_build_object('ambiguous', '[]'::jsonb, 'caller', jsonb_build_object(
      'user', jsonb_build_object('id', found.id, 'email', found.email, 'name', found.name, 'avatar_url', found.avatar_url, 'role', found.role, 'removed', false),
      'organization', jsonb_build_object('id', o.id, 'num', o.num, 'name', o.name, 'deleted', o.deleted_at is not null, 'is_home', true),
      'has_private_space', has_private_space(found.id),
      'spaces', reach_of(found.id, null)))
    from organizations o where o.id = found.organization_id);
end $$;
revoke execute on function authenticate_token from public;
grant execute on function authenticate_token to holdfast_app;

-- What the version before calls: the same rule.
create or replace function authenticate_subject(token_subject text, verified_email text) returns jsonb language sql volatile security definer set search_path = public, pg_temp
  return nullif(authenticate_token(token_subject, verified_email) -> 'caller', 'null'::jsonb);
