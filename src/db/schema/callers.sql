-- Who a caller is and what it reaches, for its key or its token.

-- What a caller may reach, in one answer: every live space of the user with its role, narrowed to a key's
-- spaces. A key that somebody else made for its owner reaches shared spaces alone. Runs with the owner's
-- rights, because the organization is known only once the caller is.
create function reach_of(of_user uuid, of_key uuid) returns jsonb language sql stable security definer set search_path = public, pg_temp
  return (
    select coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'num', s.num, 'role', m.role, 'is_private', s.is_private)), '[]')
    from users u join space_members m on m.user_id = u.id
      join spaces s on s.id = m.space_id and s.organization_id = u.organization_id and s.deleted_at is null
    where u.id = of_user and u.removed_at is null
      and (of_key is null
        or exists (select from api_keys k where k.id = of_key and k.all_spaces)
        or exists (select from api_key_spaces ks where ks.api_key_id = of_key and ks.space_id = s.id))
      and not (s.is_private and exists (select from api_keys k where k.id = of_key and k.created_by <> k.user_id)));

-- A key by its text or by an earlier one that is still accepted (the key then ends when that does), and
-- whether somebody else made the key.
create function authenticate_caller_key(key_hash bytea) returns jsonb language sql stable
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

-- The caller with the token's subject. A subject that nobody has is bound to the one member of a living
-- organization who waits for a first login with its verified e-mail address; where there are several nobody
-- is bound, and `ambiguous` has ids of them for the operator. Nobody waits with an address that an
-- administrator gave to a user who was bound, unless that user's own login confirmed it.
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

-- When and from where keys were used. Written behind in batches over all organizations, hence with the
-- owner's rights. Rows are locked in the order of their ids.
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

-- As authenticate_caller_key, without keys that are bound to addresses. No process of 0.10 or later calls it.
create function authenticate_key(key_hash bytea) returns jsonb language sql stable security definer set search_path = public, pg_temp
  return (
    select caller from authenticate_caller_key(key_hash) as caller
    where caller -> 'key' ->> 'allowed_cidrs' is null);

-- As authenticate_token. No process of 0.10 or later calls it.
create function authenticate_subject(token_subject text, verified_email text) returns jsonb language sql volatile security definer set search_path = public, pg_temp
  return nullif(authenticate_token(token_subject, verified_email) -> 'caller', 'null'::jsonb);

-- As touch_caller_keys, without the caller's address. No process of 0.10 or later calls it.
create function touch_api_keys(key_ids uuid[], used_at timestamptz[]) returns void language sql volatile security definer set search_path = public, pg_temp
begin atomic
  with used as (select * from unnest(key_ids, used_at) as t (id, at)),
       locked as (select k.id from api_keys k join used on used.id = k.id order by k.id for no key update of k)
  update api_keys k set last_used_at = greatest(k.last_used_at, used.at) from used join locked on locked.id = used.id where k.id = used.id;
end;
