-- The schema that the migrations of 0.10.0 made, as pg_dump 18.6 --schema-only --no-owner printed it, without its
-- own comments and settings; and the rows that they wrote. Generated once; nothing changes it.

SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;

CREATE SCHEMA vectors;

CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;

COMMENT ON EXTENSION vector IS 'vector data type and ivfflat and hnsw access methods';

CREATE FUNCTION public.append_audit_rows(entries jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  insert into audit_log (
    id, organization_id, at, actor_id, auth_method, api_key_id,
    action, resource_type, resource_id, space_id, request_id, outcome
  )
  select id, organization_id, at, actor_id, auth_method, api_key_id,
         action, resource_type, resource_id, space_id, request_id, outcome
  from jsonb_populate_recordset(null::audit_log, entries);

  insert into events (
    organization_id, type, space_id, resource_type, resource_id,
    actor_id, auth_method, api_key_id, request_id, data, audience, user_id, listed_ids
  )
  select change.organization_id, told.type, told.space_id, told.resource_type, told.resource_id,
         change.actor_id, change.auth_method, change.api_key_id, change.request_id, told.data,
         audience_of_event(told.type),
         case
           when told.type like 'key.%' then (select key.user_id from api_keys key where key.id = told.resource_id)
           when told.type like 'webhook.%' then coalesce(
             (select webhook.created_by from webhooks webhook where webhook.id = told.resource_id),
             change.actor_id
           )
         end,
         case when told.type = 'space.deleted' then callers_of_space(told.resource_id) else '{}' end
  from jsonb_array_elements(entries) with ordinality as entry (value, ordinal)
  cross join lateral (
    select event_of_change(entry.value ->> 'action', entry.value ->> 'resource_type') as type
  ) by_default
  cross join jsonb_populate_record(null::audit_log, entry.value) as change
  cross join jsonb_array_elements(
    coalesce(entry.value -> 'events', jsonb_build_array(jsonb_build_object('type', by_default.type)))
  ) with ordinality as event (value, ordinal)
  cross join lateral (
    select event.value ->> 'type' as type,
           coalesce((event.value ->> 'space_id')::uuid, change.space_id) as space_id,
           coalesce(event.value ->> 'resource_type', change.resource_type) as resource_type,
           coalesce(event.value ->> 'resource_id', change.resource_id)::uuid as resource_id,
           coalesce(event.value -> 'data', '{}') as data
  ) told
  where entry.value ->> 'outcome' = 'success'
    and (by_default.type is not null or entry.value ? 'events')
  order by entry.ordinal, event.ordinal;
end $$;

CREATE FUNCTION public.audience_of_event(type text) RETURNS text
    LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN (type = 'space.deleted'::text) THEN 'listed'::text WHEN (type ~~ 'key.%'::text) THEN 'login'::text WHEN (type ~~ 'member.%'::text) THEN 'admins'::text WHEN (type ~~ 'turn.%'::text) THEN 'user'::text WHEN (type ~~ 'webhook.%'::text) THEN 'user'::text WHEN (type ~~ 'batch.%'::text) THEN 'own'::text WHEN (type ~~ 'organization.%'::text) THEN 'organization'::text ELSE 'space'::text END;

CREATE TABLE public.spaces (
    id uuid NOT NULL,
    num integer NOT NULL,
    organization_id uuid NOT NULL,
    name text NOT NULL,
    is_private boolean DEFAULT false NOT NULL,
    owner_id uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp with time zone
);

CREATE FUNCTION public.has_private_space(of_user uuid) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    RETURN (EXISTS (SELECT FROM public.spaces WHERE ((spaces.owner_id = has_private_space.of_user) AND spaces.is_private AND (spaces.deleted_at IS NULL))));

CREATE TABLE public.api_key_spaces (
    api_key_id uuid NOT NULL,
    space_id uuid NOT NULL,
    organization_id uuid NOT NULL
);

CREATE TABLE public.api_keys (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    hash bytea NOT NULL,
    all_spaces boolean NOT NULL,
    capabilities text[] DEFAULT '{read,search,chat,write}'::text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    created_by uuid,
    allowed_cidrs cidr[],
    last_used_ip inet,
    last_used_user_agent text,
    revoked_reason text,
    CONSTRAINT api_keys_revoked_reason_check CHECK ((revoked_reason = 'leaked'::text))
);

CREATE TABLE public.space_members (
    space_id uuid NOT NULL,
    user_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    role text NOT NULL,
    CONSTRAINT space_members_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'editor'::text, 'viewer'::text])))
);

CREATE TABLE public.users (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    email text NOT NULL,
    name text NOT NULL,
    avatar_url text,
    role text NOT NULL,
    subject text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    removed_at timestamp with time zone,
    confirmed_email text,
    CONSTRAINT users_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'member'::text])))
);

CREATE FUNCTION public.reach_of(of_user uuid, of_key uuid) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    RETURN (SELECT COALESCE(jsonb_agg(jsonb_build_object('id', s.id, 'num', s.num, 'role', m.role, 'is_private', s.is_private)), '[]'::jsonb) AS "coalesce" FROM ((public.users u JOIN public.space_members m ON ((m.user_id = u.id))) JOIN public.spaces s ON (((s.id = m.space_id) AND (s.organization_id = u.organization_id) AND (s.deleted_at IS NULL)))) WHERE ((u.id = reach_of.of_user) AND (u.removed_at IS NULL) AND ((reach_of.of_key IS NULL) OR (EXISTS (SELECT FROM public.api_keys k WHERE ((k.id = reach_of.of_key) AND k.all_spaces))) OR (EXISTS (SELECT FROM public.api_key_spaces ks WHERE ((ks.api_key_id = reach_of.of_key) AND (ks.space_id = s.id))))) AND (NOT (s.is_private AND (EXISTS (SELECT FROM public.api_keys k WHERE ((k.id = reach_of.of_key) AND (k.created_by <> k.user_id))))))));

CREATE TABLE public.organizations (
    id uuid NOT NULL,
    num integer NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp with time zone,
    max_key_lifetime_seconds integer,
    default_key_lifetime_seconds integer,
    CONSTRAINT organizations_default_key_lifetime_seconds_check CHECK ((default_key_lifetime_seconds > 0)),
    CONSTRAINT organizations_max_key_lifetime_seconds_check CHECK ((max_key_lifetime_seconds > 0))
);

CREATE TABLE public.superseded_keys (
    hash bytea NOT NULL,
    api_key_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    valid_until timestamp with time zone NOT NULL
);

CREATE FUNCTION public.authenticate_caller_key(key_hash bytea) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    RETURN (WITH meant AS (SELECT key_1.id AS key_id, NULL::timestamp with time zone AS ends_at FROM public.api_keys key_1 WHERE (key_1.hash = authenticate_caller_key.key_hash) UNION ALL SELECT superseded.api_key_id, superseded.valid_until FROM public.superseded_keys superseded WHERE ((superseded.hash = authenticate_caller_key.key_hash) AND (superseded.valid_until > now())) ORDER BY 2 NULLS FIRST LIMIT 1) SELECT jsonb_build_object('key', jsonb_build_object('id', key.id, 'all_spaces', key.all_spaces, 'capabilities', key.capabilities, 'expires_at', LEAST(key.expires_at, meant.ends_at), 'revoked_at', key.revoked_at, 'allowed_cidrs', key.allowed_cidrs, 'made_by_other', COALESCE((key.created_by <> key.user_id), false)), 'user', jsonb_build_object('id', member.id, 'email', member.email, 'name', member.name, 'avatar_url', member.avatar_url, 'role', member.role, 'removed', (member.removed_at IS NOT NULL)), 'organization', jsonb_build_object('id', organization.id, 'num', organization.num, 'name', organization.name, 'deleted', (organization.deleted_at IS NOT NULL), 'is_home', (member.organization_id = key.organization_id)), 'has_private_space', public.has_private_space(member.id), 'spaces', public.reach_of(member.id, key.id)) AS jsonb_build_object FROM (((meant JOIN public.api_keys key ON ((key.id = meant.key_id))) JOIN public.users member ON ((member.id = key.user_id))) JOIN public.organizations organization ON ((organization.id = key.organization_id))));

CREATE FUNCTION public.authenticate_key(key_hash bytea) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    RETURN (SELECT caller.caller FROM public.authenticate_caller_key(authenticate_key.key_hash) caller(caller) WHERE (((caller.caller -> 'key'::text) ->> 'allowed_cidrs'::text) IS NULL));

CREATE FUNCTION public.authenticate_token(token_subject text, verified_email text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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

CREATE FUNCTION public.authenticate_subject(token_subject text, verified_email text) RETURNS jsonb
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    RETURN NULLIF((public.authenticate_token(token_subject, verified_email) -> 'caller'::text), 'null'::jsonb);

CREATE FUNCTION public.callers_of_space(of_space uuid) RETURNS uuid[]
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    RETURN (SELECT COALESCE(array_agg(caller.id), '{}'::uuid[]) AS "coalesce" FROM (SELECT member.user_id AS id FROM public.space_members member WHERE (member.space_id = callers_of_space.of_space) UNION SELECT key.id FROM ((public.space_members member JOIN public.spaces space ON ((space.id = member.space_id))) JOIN public.api_keys key ON (((key.user_id = member.user_id) AND (key.revoked_at IS NULL)))) WHERE ((member.space_id = callers_of_space.of_space) AND (key.all_spaces OR (EXISTS (SELECT FROM public.api_key_spaces scope WHERE ((scope.api_key_id = key.id) AND (scope.space_id = callers_of_space.of_space))))) AND (NOT (space.is_private AND COALESCE((key.created_by <> key.user_id), false))))) caller);

CREATE FUNCTION public.close_organization(organization uuid) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  update public.organizations set deleted_at = now() where id = organization and deleted_at is null;
end $$;

CREATE FUNCTION public.closed_organization_num(organization uuid) RETURNS integer
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  found record;
begin
  select o.num, o.deleted_at into found from public.organizations o where o.id = organization;
  if found.num is not null and found.deleted_at is null then raise exception 'the organization is not closed' using errcode = 'insufficient_privilege'; end if;
  return found.num;
end $$;

CREATE FUNCTION public.count_faults(run_nums integer[], run_terms bigint[], vector_runs integer[], vector_counts bigint[]) RETURNS TABLE(published_incomplete integer, published_hidden integer, runs_without_claim integer, documents_without_file integer, statistics_wrong integer)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
  own_id uuid := current_organization_id();
  own_num int := current_organization_num();
begin
  -- Live documents whose published run is gone, or has not as many chunks, embeddings and terms as it was published with; a chunk that its model refuses
  -- has no embedding.
  published_incomplete := (
    select count(*) from documents d where d.organization_id = own_id and d.deleted_at is null and d.published_run_num is not null
      and not exists (select from pipeline_runs r where r.num = d.published_run_num));
  published_incomplete := published_incomplete + (
    select count(*) from documents d join pipeline_runs r on r.num = d.published_run_num
      left join (select c.run_num, count(*) as count from chunks c where c.organization_id = own_id group by c.run_num) chunked on chunked.run_num = r.num
      left join unnest(vector_runs, vector_counts) as embedded (run_num, count) on embedded.run_num = r.num
      left join unnest(run_nums, run_terms) as posted (run_num, terms) on posted.run_num = r.num
    where d.organization_id = own_id and d.deleted_at is null
      and (coalesce(chunked.count, 0) <> r.chunk_count
        or coalesce(posted.terms, 0) <> r.term_count
        or coalesce(embedded.count, 0) <> r.chunk_count));
  published_hidden := (
    select count(*) from hidden_runs h join documents d on d.published_run_num = h.run_num where h.organization_num = own_num and d.deleted_at is null);
  runs_without_claim := (
    select count(*) from pipeline_runs r where r.organization_id = own_id and r.status in ('queued', 'parsing', 'chunking', 'embedding')
      and ((r.claim_id is null and r.status <> 'queued')
        or (r.claim_id is not null and not exists (select from claims c where c.id = r.claim_id and c.closed_at is null))));
  documents_without_file := (
    select count(*) from documents d where d.organization_id = own_id and d.deleted_at is null
      and not exists (select from raw_files f where f.document_id = d.id and f.deleted_at is null));
  -- Spaces whose totals are not those of their published documents.
  statistics_wrong := (
    select count(*) from spaces s
      left join (select t.space_num, sum(t.chunks) as chunks, sum(t.terms) as terms from space_statistics t where t.organization_num = own_num group by t.space_num) told
        on told.space_num = s.num
      left join (
        select d.space_num, sum(r.chunk_count) as chunks, sum(r.term_count) as terms from documents d join pipeline_runs r on r.num = d.published_run_num
        where d.organization_id = own_id and d.deleted_at is null group by d.space_num) published on published.space_num = s.num
    where s.organization_id = own_id and s.deleted_at is null
      and (coalesce(told.chunks, 0) <> coalesce(published.chunks, 0) or coalesce(told.terms, 0) <> coalesce(published.terms, 0)));
  return next;
end $$;

CREATE FUNCTION public.count_response_bytes() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
  of_organization uuid;
  of_user uuid;
  more bigint := 0;
begin
  if tg_op <> 'INSERT' then
    of_organization := old.organization_id;
    of_user := old.user_id;
    if tg_table_name = 'responses' then
      more := -octet_length(old.sealed_request) - coalesce(octet_length(old.sealed_response), 0) - old.event_bytes;
    else
      more := -old.bytes;
    end if;
  end if;
  if tg_op <> 'DELETE' then
    of_organization := new.organization_id;
    of_user := new.user_id;
    if tg_table_name = 'responses' then
      more := more + octet_length(new.sealed_request) + coalesce(octet_length(new.sealed_response), 0)
        + new.event_bytes;
    else
      more := more + new.bytes;
    end if;
  end if;
  if more > 0 then
    insert into response_usage as kept (organization_id, user_id, bytes)
    values (of_organization, of_user, more)
    on conflict (organization_id, user_id) do update
    set bytes = kept.bytes + excluded.bytes;
  elsif more < 0 then
    -- Never made here: the row of a closed organization may be gone before its responses are.
    update response_usage
    set bytes = bytes + more
    where organization_id = of_organization
      and user_id = of_user;
  end if;
  return null;
end $$;

CREATE FUNCTION public.count_rows_of_closed(organization uuid) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  organization_num int := public.closed_organization_num(organization);
  total bigint := (select count(*) from public.organization_keys k where k.organization_id = organization)
    + (select count(*) from public.spaces s where s.organization_id = organization);
  counted bigint;
  one record;
begin
  for one in select * from public.tenant_tables() loop
    execute format('select count(*) from %s where %I = %L', one.tenant_table, one.by_column,
      case one.by_column when 'organization_id' then organization::text else organization_num::text end) into counted;
    total := total + counted;
  end loop;
  return total;
end $$;

CREATE FUNCTION public.current_organization_id() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid;

CREATE FUNCTION public.current_organization_num() RETURNS integer
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (NULLIF(current_setting('app.organization_num'::text, true), ''::text))::integer;

CREATE FUNCTION public.delete_rows_of_closed(organization uuid, from_table regclass, at_most integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  by_column name := (select t.by_column from public.tenant_tables() t where t.tenant_table = from_table);
  organization_num int := public.closed_organization_num(organization);
  deleted int;
begin
  if by_column is null then raise exception 'the table holds no rows of organizations' using errcode = 'insufficient_privilege'; end if;
  if organization_num is null then return 0; end if;
  -- Folders are in one another; nothing else refers to rows of its own table.
  if from_table = 'public.folders'::regclass then
    update public.folders set parent_folder_id = null where organization_id = organization and parent_folder_id is not null;
  end if;
  execute format('delete from %1$s where ctid = any(array(select ctid from %1$s where %2$I = %3$L limit %4$s))', from_table, by_column,
    case by_column when 'organization_id' then organization::text else organization_num::text end, at_most);
  get diagnostics deleted = row_count;
  return deleted;
exception when foreign_key_violation then
  return null;
end $_$;

CREATE FUNCTION public.event_of_change(action text, resource_type text) RETURNS text
    LANGUAGE sql IMMUTABLE
    RETURN CASE ((action || ' '::text) || resource_type) WHEN 'documents:create document'::text THEN 'document.uploaded'::text WHEN 'files:create document'::text THEN 'document.uploaded'::text WHEN 'documents:update document'::text THEN 'document.updated'::text WHEN 'documents:delete document'::text THEN 'document.deleted'::text WHEN 'files:create file'::text THEN 'file.created'::text WHEN 'files:rename file'::text THEN 'file.renamed'::text WHEN 'files:delete file'::text THEN 'file.deleted'::text WHEN 'folders:create folder'::text THEN 'folder.created'::text WHEN 'folders:update folder'::text THEN 'folder.updated'::text WHEN 'folders:delete folder'::text THEN 'folder.deleted'::text WHEN 'agents:create agent'::text THEN 'agent.created'::text WHEN 'agents:update agent'::text THEN 'agent.updated'::text WHEN 'agents:delete agent'::text THEN 'agent.deleted'::text WHEN 'spaces:create space'::text THEN 'space.created'::text WHEN 'spaces:update space'::text THEN 'space.updated'::text WHEN 'spaces:delete space'::text THEN 'space.deleted'::text WHEN 'space_members:create user'::text THEN 'space.member_added'::text WHEN 'space_members:update user'::text THEN 'space.member_updated'::text WHEN 'space_members:delete user'::text THEN 'space.member_removed'::text WHEN 'members:create user'::text THEN 'member.added'::text WHEN 'members:update user'::text THEN 'member.updated'::text WHEN 'members:delete user'::text THEN 'member.removed'::text WHEN 'organization:update organization'::text THEN 'organization.updated'::text WHEN 'api_keys:create api_key'::text THEN 'key.created'::text WHEN 'api_keys:roll api_key'::text THEN 'key.rolled'::text WHEN 'api_keys:revoke api_key'::text THEN 'key.revoked'::text WHEN 'api_keys:revoke_leaked api_key'::text THEN 'key.leaked'::text ELSE NULL::text END;

CREATE TABLE public.receipt_keys (
    kid text NOT NULL,
    organization_id uuid NOT NULL,
    public_key bytea NOT NULL,
    seal_key_id uuid,
    sealed_private_key bytea,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    retired_at timestamp(3) with time zone,
    CONSTRAINT receipt_keys_check CHECK (((retired_at IS NULL) = (sealed_private_key IS NOT NULL))),
    CONSTRAINT receipt_keys_check1 CHECK (((sealed_private_key IS NULL) = (seal_key_id IS NULL))),
    CONSTRAINT receipt_keys_public_key_check CHECK ((length(public_key) = 32))
);

CREATE FUNCTION public.find_receipt_key(wanted text) RETURNS TABLE(organization_id uuid, public_key bytea, created_at timestamp with time zone, retired_at timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    BEGIN ATOMIC
 SELECT key.organization_id,
     key.public_key,
     key.created_at,
     key.retired_at
    FROM (public.receipt_keys key
      JOIN public.organizations organization ON (((organization.id = key.organization_id) AND (organization.deleted_at IS NULL))))
   WHERE (key.kid = find_receipt_key.wanted);
END;

CREATE TABLE public.folders (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    space_id uuid NOT NULL,
    parent_folder_id uuid,
    name text NOT NULL,
    from_system boolean DEFAULT false NOT NULL,
    created_by uuid,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp with time zone
);

CREATE FUNCTION public.folder_path(of_folder uuid) RETURNS text
    LANGUAGE sql STABLE
    RETURN (WITH RECURSIVE up AS (SELECT folders.id, folders.parent_folder_id, folders.name, 1 AS depth FROM public.folders WHERE (folders.id = folder_path.of_folder) UNION ALL SELECT f.id, f.parent_folder_id, f.name, (up_1.depth + 1) FROM (public.folders f JOIN up up_1 ON ((f.id = up_1.parent_folder_id))) WHERE (up_1.depth < 1000)) SELECT string_agg(up.name, '/'::text ORDER BY up.depth DESC) AS string_agg FROM up);

CREATE FUNCTION public.forget_vectors() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  delete from public.embeddings where space_num = old.num;
  return null;
end $$;

CREATE FUNCTION public.note_agent_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
  before jsonb := '{}';
  after jsonb := to_jsonb(new);
  is_deletion boolean := false;
  changed jsonb;
begin
  if tg_op = 'UPDATE' then
    before := to_jsonb(old);
    is_deletion := new.deleted_at is not null and old.deleted_at is null;
  end if;
  select coalesce(
    jsonb_agg(
      jsonb_build_object('field', field, 'before', before -> field, 'after', after -> field) order by ordinal
    ),
    '[]'
  )
  into changed
  from unnest(array[
    'name', 'description', 'agent_type', 'model', 'system_prompt', 'temperature', 'max_tokens',
    'reasoning_config', 'tool_attachments', 'is_public', 'show_citations', 'require_support', 'save_to_inbox',
    'data_access_mode', 'allowed_folder_ids', 'space_id'
  ]) with ordinality as known (field, ordinal)
  where tg_op = 'UPDATE'
    and before -> field is distinct from after -> field;
  if tg_op = 'UPDATE' and not is_deletion and changed = '[]' then return null; end if;
  insert into agent_changes (organization_id, agent_id, version, actor_id, action, changes)
  values (
    new.organization_id,
    new.id,
    new.version,
    -- Who deletes an agent is not in its row.
    case when not is_deletion then new.last_edited_by end,
    case when tg_op = 'INSERT' then 'created' when is_deletion then 'deleted' else 'updated' end,
    changed
  );
  delete from agent_changes
  where agent_id = new.id
    and num <= (
      select num from agent_changes where agent_id = new.id order by num desc limit 1 offset 1000
    );
  return null;
end $$;

CREATE FUNCTION public.note_attempt() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
  last int := jsonb_array_length(new.attempts) - 1;
  outcome text;
  code text;
begin
  if old.attempt_id is not null and last >= 0 and not new.attempts -> last ? 'ended_at' then
    if new.status = 'completed' then outcome := 'done';
    elsif new.status = 'cancelled' then outcome := 'superseded';
    elsif new.status = 'failed' then
      code := new.error ->> 'code';
      outcome := case when code = 'worker_crashed' then 'lost' else 'failed' end;
    elsif new.attempt_id is not null then outcome := 'superseded';
    elsif new.chunked and not old.chunked then outcome := 'done';
    elsif new.waiting_for is not null and new.next_attempt_at is distinct from old.next_attempt_at then
      outcome := 'waiting';
      code := new.waiting_for;
    -- A lost attempt makes its run suspected; one that goes on in an orderly way never does.
    elsif new.suspected and (
      not old.suspected or new.lost_attempts > old.lost_attempts or new.claim_id is null
    ) then outcome := 'lost';
    else outcome := 'released';
    end if;
    new.attempts := jsonb_set(
      new.attempts,
      array[last::text],
      (new.attempts -> last) || jsonb_strip_nulls(jsonb_build_object(
        'ended_at', clock_timestamp(), 'outcome', outcome, 'code', code
      ))
    );
  end if;
  if new.attempt_id is not null and new.attempt_id is distinct from old.attempt_id then
    new.attempts := new.attempts || jsonb_build_object(
      'attempt', coalesce((new.attempts -> last ->> 'attempt')::int, 0) + 1,
      'step', case when new.chunked then 'embed' else 'prepare' end,
      'started_at', clock_timestamp(),
      'workflow_id', (
        select case
          when claim.isolated or (cardinality(claim.run_ids) = 1 and new.file_size > 1048576) then
            'document/' || new.organization_id || '/' || new.id || '/' || claim.id
          else 'document-pipeline/' || new.organization_id || '/' || claim.id
        end
        from claims claim
        where claim.id = new.claim_id
      )
    );
    if last >= 49 then new.attempts := new.attempts - 10; end if;
  end if;
  return new;
end $$;

CREATE FUNCTION public.note_batch_event() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  insert into events (organization_id, type, resource_type, resource_id, data, audience, user_id, space_ids)
  select new.organization_id,
         'batch.completed',
         'batch',
         new.id,
         jsonb_build_object(
           'status', new.status,
           'accepted', new.accepted,
           'completed', count(*) filter (where run.status = 'completed'),
           'failed', count(*) filter (where run.status = 'failed'),
           'cancelled', count(*) filter (where run.status = 'cancelled')
         ),
         audience_of_event('batch.completed'),
         new.created_by,
         new.space_ids
  from pipeline_runs run
  where run.batch_id = new.id;
  return null;
end $$;

CREATE FUNCTION public.note_batch_key() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  update batches
  set api_key_id = new.api_key_id
  where id = new.resource_id::uuid
    and organization_id = new.organization_id
    and api_key_id is null
    and created_at = now();
  return null;
end $$;

CREATE FUNCTION public.note_key_creator() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  update api_keys
  set created_by = new.actor_id
  where id = new.resource_id::uuid and organization_id = new.organization_id and created_by is null;
  return null;
end $$;

CREATE FUNCTION public.note_run_event() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
  is_end boolean := new.status in ('completed', 'failed', 'cancelled') and new.status <> old.status;
begin
  if new.status = 'cancelled'
    and exists (select from documents where id = new.document_id and deleted_at is not null) then
    return null;
  end if;
  insert into events (organization_id, type, space_id, resource_type, resource_id, data, audience)
  values (
    new.organization_id,
    'document.' || case when is_end then new.status else 'waiting' end,
    new.space_id,
    'document',
    new.document_id,
    jsonb_strip_nulls(jsonb_build_object(
      'version', new.version,
      'run_id', new.id,
      'batch_id', new.batch_id,
      'trigger', new.trigger,
      'page_count', case when new.status = 'completed' then new.page_count end,
      'chunk_count', case when new.status = 'completed' then new.chunk_count end,
      'code', case when new.status = 'failed' then new.error ->> 'code' when not is_end then new.waiting_for end
    )),
    'space'
  );
  return null;
end $$;

CREATE FUNCTION public.note_run_progress() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  insert into events (organization_id, type, space_id, resource_type, resource_id, data, audience)
  values (
    new.organization_id,
    'document.progressed',
    new.space_id,
    'document',
    new.document_id,
    jsonb_strip_nulls(jsonb_build_object(
      'version', new.version,
      'run_id', new.id,
      'batch_id', new.batch_id,
      'trigger', new.trigger,
      'status', new.status
    )),
    'space'
  );
  return null;
end $$;

CREATE FUNCTION public.note_turn_events() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
  turn_ids uuid[];
begin
  if tg_op = 'INSERT' then
    turn_ids := array(select id from written where status <> 'open' and not is_rerank);
  else
    turn_ids := array(
      select written.id
      from written
      join overwritten on overwritten.id = written.id
      where written.status <> 'open'
        and written.status <> overwritten.status
        and not written.is_rerank
    );
  end if;
  if turn_ids = '{}' then return null; end if;
  insert into events (
    organization_id, type, space_id, resource_type, resource_id, api_key_id, actor_id, auth_method,
    data, audience, user_id
  )
  select turn.organization_id,
         case when turn.status = 'completed' then 'turn.completed' else 'turn.failed' end,
         turn.space_id,
         'turn',
         turn.id,
         turn.api_key_id,
         turn.user_id,
         case when turn.api_key_id is null then 'jwt' else 'api_key' end,
         jsonb_strip_nulls(jsonb_build_object(
           'agent_id', turn.agent_id,
           'status', turn.status,
           'code', turn.error_code,
           'model_calls', nullif(used.calls, 0),
           'prompt_tokens', used.prompt_tokens,
           'completion_tokens', used.completion_tokens
         )),
         audience_of_event('turn.completed'),
         turn.user_id
  from written turn
  cross join lateral (
    select count(*) as calls,
           sum(call.prompt_tokens) as prompt_tokens,
           sum(call.completion_tokens) as completion_tokens
    from turn_calls call
    where call.turn_id = turn.id
  ) used
  where turn.id = any(turn_ids);
  return null;
end $$;

CREATE PROCEDURE public.open_to_system(IN bookkeeping_table regclass)
    LANGUAGE plpgsql
    AS $$
begin
  execute format('create policy system on %s to holdfast_system using (true) with check (true)', bookkeeping_table);
  execute format('grant select, insert, update, delete on %s to holdfast_system', bookkeeping_table);
end $$;

CREATE FUNCTION public.orphan_runs(vector_spaces integer[], vector_runs integer[]) RETURNS TABLE(run_num integer, space_num integer, kind text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  own_id uuid := current_organization_id();
  own_num int := current_organization_num();
begin
  return query
    with recursive
    chunk_step as (
      (select c.run_num, c.organization_id from chunks c order by c.run_num limit 1)
      union all
      select n.run_num, n.organization_id from chunk_step s,
        lateral (select c.run_num, c.organization_id from chunks c where c.run_num > s.run_num order by c.run_num limit 1) n),
    text_step as (
      (select t.run_num, t.organization_id from text_blocks t order by t.run_num limit 1)
      union all
      select n.run_num, n.organization_id from text_step s,
        lateral (select t.run_num, t.organization_id from text_blocks t where t.run_num > s.run_num order by t.run_num limit 1) n),
    entered as (
      select p.run_num, p.space_num from posting_runs p where p.organization_num = own_num
      union
      select v.run_num, v.space_num from unnest(vector_spaces, vector_runs) as v (space_num, run_num))
    select c.run_num, null::int, 'chunks_without_run' from chunk_step c
      where c.organization_id = own_id and not exists (select from pipeline_runs r where r.num = c.run_num)
    union all
    select t.run_num, null, 'text_without_run' from text_step t
      where t.organization_id = own_id and not exists (select from pipeline_runs r where r.num = t.run_num)
    union all
    select x.run_num, x.space_num, case when r.num is null then 'entries_without_run' else 'entries_not_served' end
    from entered x left join pipeline_runs r on r.num = x.run_num and r.organization_id = own_id
    where not exists (select from hidden_runs h where h.space_num = x.space_num and h.run_num = x.run_num and h.organization_num = own_num)
      and not exists (select from documents d where d.published_run_num = x.run_num and d.organization_id = own_id);
end $$;

CREATE FUNCTION public.place_events(of_organization uuid, at_most integer, OUT placed integer, OUT has_webhooks boolean) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
  last bigint;
begin
  select last_position into last from event_positions where organization_id = of_organization for update;
  if not found then
    insert into event_positions (organization_id) values (of_organization) on conflict do nothing;
    select last_position into last from event_positions where organization_id = of_organization for update;
  end if;
  -- A statement of its own, so that it sees what the last one who had the lock has placed.
  with unplaced as (
    select num,
           row_number() over (order by num) as ordinal
    from (
      select num
      from events
      where organization_id = of_organization
        and position is null
      order by num
      limit at_most
    ) oldest
  )
  update events event
  set position = last + unplaced.ordinal
  from unplaced
  where event.num = unplaced.num;
  get diagnostics placed = row_count;
  if placed > 0 then
    update event_positions set last_position = last + placed where organization_id = of_organization;
    perform pg_notify('holdfast_events', of_organization::text);
  end if;
  has_webhooks := exists (
    select from webhooks where organization_id = of_organization and status = 'active'
  );
end $$;

CREATE PROCEDURE public.protect_tenant_table(IN tenant_table regclass)
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.release_response_contents() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
  released uuid := old.id;
begin
  while released is not null loop
    perform 1
    from response_contents
    where organization_id = old.organization_id
      and id = released
    for update;
    exit when not found;
    exit when exists (select from responses where id = released);
    exit when exists (
      select
      from response_contents later
      where later.organization_id = old.organization_id
        and later.before_id = released
    );
    delete from response_contents
    where organization_id = old.organization_id
      and id = released
    returning before_id into released;
  end loop;
  return null;
end $$;

CREATE FUNCTION public.removed_users(ids uuid[]) RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public'
    AS $$select id from public.users where id = any(ids) and removed_at is not null$$;

CREATE FUNCTION public.report_leaked_keys(hashes bytea[], at_most integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  if (select count(*) from (select from leaked_keys limit at_most) waiting) >= at_most then return false; end if;
  insert into leaked_keys (hash) select distinct reported from unnest(hashes) as reported order by reported on conflict do nothing;
  return true;
end $$;

CREATE FUNCTION public.revoke_leaked_keys(at_most integer) RETURNS TABLE(id uuid, organization_id uuid, user_id uuid)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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

CREATE FUNCTION public.run_lane(file_type text, file_size bigint) RETURNS smallint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select case when file_size > 1048576 then 2
    when file_size > 65536 or file_type in ('PDF', 'PNG', 'JPEG', 'TIFF', 'ZIP', 'EML', 'MSG') then 1
    else 0 end::smallint
$$;

CREATE FUNCTION public.run_user(created_by uuid) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select coalesce(created_by, '00000000-0000-0000-0000-000000000000')
$$;

CREATE FUNCTION public.tell_agents_changed() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  perform pg_notify('holdfast_agents', new.id::text);
  return null;
end $$;

CREATE FUNCTION public.tenant_tables() RETURNS TABLE(tenant_table regclass, by_column name)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select distinct on (c.oid) c.oid::regclass, a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid and not a.attisdropped
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attname in ('organization_id', 'organization_num')
    and c.relname not in ('organizations', 'organization_keys', 'spaces')
  order by c.oid, a.attname
$$;

CREATE FUNCTION public.touch_api_keys(key_ids uuid[], used_at timestamp with time zone[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    BEGIN ATOMIC
 WITH used AS (
          SELECT t.id,
             t.at
            FROM UNNEST(touch_api_keys.key_ids, touch_api_keys.used_at) t(id, at)
         ), locked AS (
          SELECT k_1.id
            FROM (public.api_keys k_1
              JOIN used used_1 ON ((used_1.id = k_1.id)))
           ORDER BY k_1.id
          FOR NO KEY UPDATE OF k_1
         )
  UPDATE public.api_keys k SET last_used_at = GREATEST(k.last_used_at, used.at)
    FROM (used
      JOIN locked ON ((locked.id = used.id)))
   WHERE (k.id = used.id);
END;

CREATE FUNCTION public.touch_caller_keys(key_ids uuid[], used_at timestamp with time zone[], ips inet[], user_agents text[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    BEGIN ATOMIC
 WITH used AS (
          SELECT t.id,
             t.at,
             t.ip,
             t.user_agent
            FROM UNNEST(touch_caller_keys.key_ids, touch_caller_keys.used_at, touch_caller_keys.ips, touch_caller_keys.user_agents) t(id, at, ip, user_agent)
         ), locked AS (
          SELECT k_1.id
            FROM (public.api_keys k_1
              JOIN used used_1 ON ((used_1.id = k_1.id)))
           ORDER BY k_1.id
          FOR NO KEY UPDATE OF k_1
         )
  UPDATE public.api_keys k SET last_used_at = used.at, last_used_ip = used.ip, last_used_user_agent = used.user_agent
    FROM (used
      JOIN locked ON ((locked.id = used.id)))
   WHERE ((k.id = used.id) AND (used.at >= COALESCE(k.last_used_at, '-infinity'::timestamp with time zone)));
END;

CREATE TABLE public.agent_changes (
    num bigint NOT NULL,
    organization_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    at timestamp(3) with time zone DEFAULT clock_timestamp() NOT NULL,
    version text NOT NULL,
    actor_id uuid,
    action text NOT NULL,
    changes jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT agent_changes_action_check CHECK ((action = ANY (ARRAY['created'::text, 'updated'::text, 'deleted'::text])))
);

ALTER TABLE public.agent_changes ALTER COLUMN num ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.agent_changes_num_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.agents (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    space_id uuid NOT NULL,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    version text DEFAULT '1.0.0'::text NOT NULL,
    agent_type text DEFAULT 'simple'::text NOT NULL,
    model text DEFAULT 'default'::text NOT NULL,
    system_prompt text DEFAULT ''::text NOT NULL,
    temperature double precision,
    max_tokens integer,
    reasoning_config jsonb,
    tool_attachments jsonb DEFAULT '[]'::jsonb NOT NULL,
    is_public boolean DEFAULT false NOT NULL,
    show_citations boolean DEFAULT true NOT NULL,
    save_to_inbox boolean DEFAULT false NOT NULL,
    data_access_mode text DEFAULT 'origin'::text NOT NULL,
    allowed_folder_ids uuid[],
    from_system boolean DEFAULT false NOT NULL,
    conversation_count bigint DEFAULT 0 NOT NULL,
    created_by uuid NOT NULL,
    last_edited_by uuid NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp with time zone,
    require_support boolean DEFAULT false NOT NULL,
    CONSTRAINT agents_agent_type_check CHECK ((agent_type = ANY (ARRAY['simple'::text, 'rag'::text]))),
    CONSTRAINT agents_data_access_mode_check CHECK ((data_access_mode = ANY (ARRAY['origin'::text, 'caller'::text, 'none'::text])))
);

CREATE TABLE public.api_processes (
    id uuid NOT NULL,
    renewed_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.audit_chains (
    organization_id uuid NOT NULL,
    base_seq bigint DEFAULT 0 NOT NULL,
    base_hash bytea DEFAULT '\x'::bytea NOT NULL,
    seq bigint DEFAULT 0 NOT NULL,
    hash bytea DEFAULT '\x'::bytea NOT NULL
);

CREATE TABLE public.audit_log (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    actor_id uuid,
    auth_method text NOT NULL,
    api_key_id uuid,
    action text NOT NULL,
    resource_type text NOT NULL,
    resource_id text,
    space_id uuid,
    request_id text,
    outcome text NOT NULL,
    chain_seq bigint,
    chain_hash bytea,
    CONSTRAINT audit_log_auth_method_check CHECK ((auth_method = ANY (ARRAY['api_key'::text, 'jwt'::text, 'system'::text])))
);

CREATE TABLE public.batches (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    created_by uuid NOT NULL,
    space_ids uuid[] NOT NULL,
    total integer NOT NULL,
    accepted integer NOT NULL,
    rejected jsonb DEFAULT '[]'::jsonb NOT NULL,
    status text DEFAULT 'running'::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    leased_until timestamp with time zone,
    completed_at timestamp with time zone,
    started_at timestamp with time zone,
    api_key_id uuid,
    CONSTRAINT batches_status_check CHECK ((status = ANY (ARRAY['running'::text, 'paused'::text, 'cancelled'::text, 'completed'::text])))
);

CREATE TABLE public.budgets_reached (
    organization_id uuid NOT NULL,
    budget text NOT NULL,
    owner_id uuid NOT NULL,
    month date NOT NULL
);

CREATE TABLE public.chunks (
    organization_id uuid NOT NULL,
    run_num integer NOT NULL,
    chunk_index integer NOT NULL,
    id uuid NOT NULL,
    document_id uuid NOT NULL,
    text text NOT NULL,
    token_count integer NOT NULL,
    page_start integer,
    page_end integer,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    content_hash bytea NOT NULL,
    refused_by smallint,
    start_offset integer,
    end_offset integer,
    places jsonb,
    header text
)
WITH (autovacuum_vacuum_insert_scale_factor='0.05');

CREATE TABLE public.claim_turns (
    organization_id uuid NOT NULL,
    priority smallint NOT NULL,
    last_claimed_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL
);

CREATE TABLE public.claims (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    priority smallint NOT NULL,
    run_ids uuid[] NOT NULL,
    leased_until timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    started_at timestamp with time zone,
    waiting boolean DEFAULT false NOT NULL,
    isolated boolean DEFAULT false NOT NULL,
    closed_at timestamp with time zone,
    lane smallint,
    CONSTRAINT claims_run_ids_check CHECK (((cardinality(run_ids) >= 1) AND (cardinality(run_ids) <= 32)))
);

CREATE TABLE public.cut_overs (
    name text NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.deletions (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    kind text NOT NULL,
    target_id uuid NOT NULL,
    created_by uuid,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    leased_until timestamp with time zone,
    completed_at timestamp with time zone,
    started_at timestamp with time zone,
    CONSTRAINT deletions_kind_check CHECK ((kind = ANY (ARRAY['document'::text, 'raw_file'::text, 'folder'::text, 'space'::text])))
);

CREATE TABLE public.documents (
    id uuid NOT NULL,
    num integer NOT NULL,
    organization_id uuid NOT NULL,
    space_id uuid NOT NULL,
    space_num integer NOT NULL,
    folder_id uuid,
    name text NOT NULL,
    file_type text NOT NULL,
    file_size bigint NOT NULL,
    content_type text NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    extracted jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    run_count integer DEFAULT 0 NOT NULL,
    latest_run_num integer,
    published_run_num integer,
    published_version integer,
    deleted_at timestamp with time zone
);

ALTER TABLE public.documents ALTER COLUMN num ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.documents_num_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.embedding_cache (
    organization_id uuid NOT NULL,
    model_num smallint NOT NULL,
    content_hash bytea NOT NULL,
    embedding public.halfvec NOT NULL,
    last_used_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY public.embedding_cache ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE public.embedding_cache_references (
    organization_id uuid NOT NULL,
    content_hash bytea NOT NULL,
    raw_file_id uuid NOT NULL
);

CREATE TABLE public.embedding_models (
    num smallint NOT NULL,
    name text NOT NULL,
    dimensions integer NOT NULL
);

ALTER TABLE public.embedding_models ALTER COLUMN num ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.embedding_models_num_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.embeddings (
    organization_num integer NOT NULL,
    space_num integer NOT NULL,
    run_num integer NOT NULL,
    chunk_index integer NOT NULL,
    model_num smallint NOT NULL,
    embedding public.halfvec NOT NULL
)
PARTITION BY HASH (space_num);
ALTER TABLE ONLY public.embeddings ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE public.event_positions (
    organization_id uuid NOT NULL,
    last_position bigint DEFAULT 0 NOT NULL,
    expired_position bigint DEFAULT 0 NOT NULL
);

CREATE TABLE public.events (
    num bigint NOT NULL,
    id uuid DEFAULT (encode(set_bit(set_bit(OVERLAY(uuid_send(gen_random_uuid()) PLACING SUBSTRING(int8send(((EXTRACT(epoch FROM clock_timestamp()) * (1000)::numeric))::bigint) FROM 3) FROM 1 FOR 6), (52)::bigint, 1), (53)::bigint, 1), 'hex'::text))::uuid NOT NULL,
    organization_id uuid NOT NULL,
    "position" bigint,
    type text NOT NULL,
    occurred_at timestamp(3) with time zone DEFAULT clock_timestamp() NOT NULL,
    space_id uuid,
    resource_type text NOT NULL,
    resource_id uuid,
    actor_id uuid,
    auth_method text DEFAULT 'system'::text NOT NULL,
    api_key_id uuid,
    request_id text,
    data jsonb DEFAULT '{}'::jsonb NOT NULL,
    audience text NOT NULL,
    user_id uuid,
    space_ids uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    listed_ids uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    CONSTRAINT events_audience_check CHECK ((audience = ANY (ARRAY['space'::text, 'organization'::text, 'admins'::text, 'user'::text, 'login'::text, 'own'::text, 'listed'::text]))),
    CONSTRAINT events_auth_method_check CHECK ((auth_method = ANY (ARRAY['api_key'::text, 'jwt'::text, 'system'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='20000', autovacuum_vacuum_cost_delay='0');

ALTER TABLE public.events ALTER COLUMN num ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.events_num_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.hidden_runs (
    organization_num integer NOT NULL,
    space_num integer NOT NULL,
    run_num integer NOT NULL,
    reason text NOT NULL,
    hidden_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT hidden_runs_reason_check CHECK ((reason = ANY (ARRAY['in_flight'::text, 'superseded'::text, 'deleted'::text])))
);

CREATE TABLE public.idempotency_keys (
    organization_id uuid NOT NULL,
    caller_id uuid NOT NULL,
    route text NOT NULL,
    key text NOT NULL,
    body_hash bytea,
    status integer,
    response text,
    claimed_at timestamp with time zone DEFAULT now() NOT NULL,
    leased_until timestamp with time zone NOT NULL,
    token uuid
);

CREATE TABLE public.instance_secrets (
    name text NOT NULL,
    wrapped bytea NOT NULL,
    master_key_id text NOT NULL
);

CREATE TABLE public.kept_turn_pieces (
    turn_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    first_no integer NOT NULL,
    last_no integer NOT NULL,
    key_id uuid NOT NULL,
    sealed bytea NOT NULL
);

CREATE TABLE public.kept_turns (
    turn_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    caller_id uuid NOT NULL,
    key text NOT NULL,
    body_hash bytea NOT NULL,
    api_process_id uuid NOT NULL,
    status text DEFAULT 'running'::text NOT NULL,
    piece_count integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    read_at timestamp with time zone DEFAULT now() NOT NULL,
    key_id uuid,
    sealed_end bytea,
    document_ids uuid[],
    CONSTRAINT kept_turns_status_check CHECK ((status = ANY (ARRAY['running'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])))
);

CREATE TABLE public.language_fits (
    organization_num integer NOT NULL,
    space_num integer NOT NULL,
    model_num smallint NOT NULL,
    auc real,
    pairs integer NOT NULL,
    chunks_measured integer NOT NULL,
    measured_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.leaked_keys (
    hash bytea NOT NULL,
    reported_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.mcp_answer_messages (
    stream_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    no integer NOT NULL,
    key_id uuid NOT NULL,
    sealed bytea NOT NULL
);

CREATE TABLE public.mcp_answers (
    stream_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    session_id uuid NOT NULL,
    request_id text NOT NULL,
    api_process_id uuid NOT NULL,
    space_ids uuid[] NOT NULL,
    document_ids uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    read_at timestamp with time zone DEFAULT now() NOT NULL,
    cancelled_at timestamp with time zone,
    ended_at timestamp with time zone
);

CREATE TABLE public.mcp_sessions (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    api_key_id uuid,
    protocol_version text NOT NULL,
    client_capabilities jsonb DEFAULT '{}'::jsonb NOT NULL,
    subscriptions text[] DEFAULT '{}'::text[] NOT NULL,
    "position" bigint NOT NULL,
    stream_id uuid,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    used_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.migrations (
    name text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.openai_files (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    api_key_id uuid,
    name text NOT NULL,
    purpose text NOT NULL,
    size bigint NOT NULL,
    content_type text NOT NULL,
    file_type text NOT NULL,
    sha256 text NOT NULL,
    object_key text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    expires_at timestamp(3) with time zone
);

CREATE TABLE public.operations (
    id uuid NOT NULL,
    kind text NOT NULL,
    subject uuid,
    subject_num integer,
    not_before timestamp with time zone DEFAULT now() NOT NULL,
    requested_at timestamp with time zone DEFAULT now() NOT NULL,
    leased_until timestamp with time zone,
    completed_at timestamp with time zone,
    parameters jsonb DEFAULT '{}'::jsonb NOT NULL,
    report jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT operations_kind_check CHECK ((kind = ANY (ARRAY['rotate_master'::text, 'rotate_organization'::text, 'reencrypt_organization'::text, 'delete_organization'::text, 'export_organization'::text, 'import_organization'::text])))
);

CREATE TABLE public.organization_keys (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    wrapped bytea NOT NULL,
    master_key_id text NOT NULL,
    is_current boolean NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE public.organizations ALTER COLUMN num ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.organizations_num_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.orphan_counts (
    is_only boolean DEFAULT true NOT NULL,
    begun_at timestamp(3) with time zone,
    counted_at timestamp(3) with time zone,
    organizations integer DEFAULT 0 NOT NULL,
    counts jsonb DEFAULT '{}'::jsonb NOT NULL,
    found jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT orphan_counts_is_only_check CHECK (is_only)
);

CREATE TABLE public.pipeline_runs (
    id uuid NOT NULL,
    num integer NOT NULL,
    organization_id uuid NOT NULL,
    space_id uuid NOT NULL,
    space_num integer NOT NULL,
    document_id uuid NOT NULL,
    version integer NOT NULL,
    trigger text NOT NULL,
    priority smallint DEFAULT 0 NOT NULL,
    status text DEFAULT 'queued'::text NOT NULL,
    parsed boolean DEFAULT false NOT NULL,
    chunked boolean DEFAULT false NOT NULL,
    embedded boolean DEFAULT false NOT NULL,
    progress real DEFAULT 0 NOT NULL,
    waiting_for text,
    cancel_requested boolean DEFAULT false NOT NULL,
    claim_id uuid,
    held boolean DEFAULT false NOT NULL,
    attempt_id uuid,
    suspected boolean DEFAULT false NOT NULL,
    lost_attempts smallint DEFAULT 0 NOT NULL,
    batch_id uuid,
    object_key text NOT NULL COLLATE pg_catalog."C",
    file_name text NOT NULL,
    file_type text NOT NULL,
    file_size bigint NOT NULL,
    parser_name text,
    chunker_name text NOT NULL,
    chunker_config jsonb DEFAULT '{}'::jsonb NOT NULL,
    embedding_model text,
    analyzer_version smallint,
    page_count integer,
    chunk_count integer,
    embedded_chunk_count integer,
    term_count bigint DEFAULT 0 NOT NULL,
    error jsonb,
    warnings jsonb DEFAULT '[]'::jsonb NOT NULL,
    checkpoint jsonb,
    traceparent text,
    created_by uuid,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    started_at timestamp with time zone,
    completed_at timestamp with time zone,
    text_purged boolean DEFAULT false NOT NULL,
    object_purged boolean DEFAULT false NOT NULL,
    waiting_since timestamp with time zone,
    waiting_attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone,
    attempts jsonb DEFAULT '[]'::jsonb NOT NULL,
    CONSTRAINT pipeline_runs_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'parsing'::text, 'chunking'::text, 'embedding'::text, 'completed'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT pipeline_runs_trigger_check CHECK ((trigger = ANY (ARRAY['upload'::text, 'reprocess'::text, 'batch'::text, 'replace'::text, 'restore'::text])))
);

ALTER TABLE public.pipeline_runs ALTER COLUMN num ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.pipeline_runs_num_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.posting_runs (
    organization_num integer NOT NULL,
    space_num integer NOT NULL,
    run_num integer NOT NULL,
    first_chunk integer NOT NULL,
    chunk_count integer NOT NULL,
    terms bigint NOT NULL,
    segment_num integer NOT NULL,
    header_terms bigint DEFAULT 0 NOT NULL
);

CREATE TABLE public.posting_segments (
    organization_num integer NOT NULL,
    space_num integer NOT NULL,
    num integer NOT NULL,
    analyzer_version smallint NOT NULL,
    languages text[] NOT NULL,
    terms bigint NOT NULL
);

ALTER TABLE public.posting_segments ALTER COLUMN num ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.posting_segments_num_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.postings (
    organization_num integer NOT NULL,
    space_num integer NOT NULL,
    segment_num integer NOT NULL,
    first_term text NOT NULL COLLATE pg_catalog."C",
    data bytea NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');
ALTER TABLE ONLY public.postings ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE public.processes (
    id uuid NOT NULL,
    kind text NOT NULL,
    version text NOT NULL,
    identity text NOT NULL,
    queues text[] DEFAULT '{}'::text[] NOT NULL,
    started_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    renewed_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    reads_response_items boolean DEFAULT false NOT NULL,
    CONSTRAINT processes_kind_check CHECK ((kind = ANY (ARRAY['api'::text, 'worker'::text])))
);

CREATE TABLE public.provider_gates (
    provider text NOT NULL,
    not_before timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    is_failing boolean DEFAULT false NOT NULL,
    code text
);

CREATE UNLOGGED TABLE public.rate_limits (
    caller text NOT NULL,
    minute bigint NOT NULL,
    count integer NOT NULL
);

CREATE TABLE public.raw_files (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    space_id uuid NOT NULL,
    path text NOT NULL,
    size bigint,
    content_type text,
    sha256 text,
    object_key text COLLATE pg_catalog."C",
    document_id uuid,
    created_by uuid,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp with time zone
);

CREATE TABLE public.response_contents (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    before_id uuid,
    bytes bigint NOT NULL,
    text_characters bigint NOT NULL,
    image_characters bigint NOT NULL
);

CREATE TABLE public.response_events (
    response_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    first_no integer NOT NULL,
    last_no integer NOT NULL,
    key_id uuid NOT NULL,
    sealed bytea NOT NULL
);

CREATE TABLE public.response_items (
    organization_id uuid NOT NULL,
    response_id uuid NOT NULL,
    is_output boolean NOT NULL,
    place integer NOT NULL,
    id_digest bytea NOT NULL,
    is_shown boolean NOT NULL,
    characters integer NOT NULL,
    image_characters integer NOT NULL,
    key_id uuid NOT NULL,
    sealed bytea NOT NULL
);
ALTER TABLE ONLY public.response_items ALTER COLUMN sealed SET STORAGE EXTERNAL;

CREATE TABLE public.response_usage (
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    bytes bigint NOT NULL
);

CREATE TABLE public.responses (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    caller_id uuid NOT NULL,
    user_id uuid NOT NULL,
    api_key_id uuid,
    status text NOT NULL,
    is_background boolean NOT NULL,
    api_process_id uuid NOT NULL,
    attempt integer DEFAULT 1 NOT NULL,
    outages integer DEFAULT 0 NOT NULL,
    waiting_for text,
    retry_at timestamp with time zone,
    document_ids uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    request_key_id uuid NOT NULL,
    sealed_request bytea NOT NULL,
    response_key_id uuid,
    sealed_response bytea,
    item_ids uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    is_itemized boolean DEFAULT false NOT NULL,
    event_bytes bigint DEFAULT 0 NOT NULL,
    CONSTRAINT responses_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'in_progress'::text, 'completed'::text, 'failed'::text, 'cancelled'::text, 'incomplete'::text])))
);

CREATE TABLE public.space_statistics (
    organization_num integer NOT NULL,
    space_num integer NOT NULL,
    chunks integer NOT NULL,
    terms bigint NOT NULL,
    embedding_model text,
    at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE public.spaces ALTER COLUMN num ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.spaces_num_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.text_blocks (
    organization_id uuid NOT NULL,
    run_num integer NOT NULL,
    first_index integer NOT NULL,
    unit_count integer NOT NULL,
    units jsonb NOT NULL
);

CREATE TABLE public.turn_calls (
    turn_id uuid NOT NULL,
    call_no smallint NOT NULL,
    organization_id uuid NOT NULL,
    model text NOT NULL,
    prompt_tokens integer NOT NULL,
    completion_tokens integer NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.turns (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    space_id uuid,
    agent_id uuid,
    user_id uuid NOT NULL,
    api_key_id uuid,
    api_process_id uuid NOT NULL,
    status text NOT NULL,
    error_code text,
    starts_conversation boolean NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    is_rerank boolean DEFAULT false NOT NULL,
    CONSTRAINT turns_status_check CHECK ((status = ANY (ARRAY['open'::text, 'completed'::text, 'failed'::text, 'cancelled'::text, 'lost'::text])))
);

CREATE TABLE public.upload_intents (
    object_key text NOT NULL COLLATE pg_catalog."C",
    organization_id uuid NOT NULL,
    leased_until timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.vector_indexes (
    organization_num integer NOT NULL,
    space_num integer NOT NULL,
    model_num smallint NOT NULL,
    built_rows integer NOT NULL,
    built_run_num integer NOT NULL,
    checked_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.vector_store_batches (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    folder_id uuid NOT NULL,
    document_ids uuid[] NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    cancelled_at timestamp(3) with time zone
);

CREATE TABLE public.vector_store_files (
    document_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    file_id uuid NOT NULL,
    chunking jsonb
);

CREATE TABLE public.vector_stores (
    folder_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    name text NOT NULL,
    folder_name text NOT NULL,
    description text,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    chunking jsonb,
    expires_after_days integer,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    last_active_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    expired_at timestamp(3) with time zone
);

CREATE TABLE public.webhook_deliveries (
    num bigint NOT NULL,
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    event_num bigint,
    event_id uuid,
    event_type text,
    resource_id uuid,
    status text DEFAULT 'pending'::text NOT NULL,
    error_code text,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    last_attempt_at timestamp(3) with time zone,
    http_status smallint,
    duration_ms integer,
    gives_up_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    completed_at timestamp(3) with time zone,
    CONSTRAINT webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text, 'skipped'::text])))
);

ALTER TABLE public.webhook_deliveries ALTER COLUMN num ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.webhook_deliveries_num_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.webhook_replays (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    types text[] DEFAULT '{}'::text[] NOT NULL,
    occurred_from timestamp(3) with time zone NOT NULL,
    occurred_until timestamp(3) with time zone NOT NULL,
    "position" bigint NOT NULL,
    until_position bigint NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    completed_at timestamp(3) with time zone
);

CREATE TABLE public.webhooks (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    space_id uuid,
    created_by uuid NOT NULL,
    url text NOT NULL,
    types text[] DEFAULT '{}'::text[] NOT NULL,
    description text,
    status text DEFAULT 'active'::text NOT NULL,
    status_reason text,
    status_changed_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    secret_key_id uuid,
    sealed_secret bytea,
    previous_secret_key_id uuid,
    sealed_previous_secret bytea,
    previous_until timestamp(3) with time zone,
    "position" bigint NOT NULL,
    failing_since timestamp(3) with time zone,
    failures integer DEFAULT 0 NOT NULL,
    is_resting boolean DEFAULT true NOT NULL,
    next_attempt_at timestamp(3) with time zone,
    leased_until timestamp with time zone,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp(3) with time zone,
    CONSTRAINT webhooks_check CHECK (((deleted_at IS NULL) OR (status = 'disabled'::text))),
    CONSTRAINT webhooks_check1 CHECK (((deleted_at IS NOT NULL) OR (sealed_secret IS NOT NULL))),
    CONSTRAINT webhooks_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'disabled'::text]))),
    CONSTRAINT webhooks_status_reason_check CHECK ((status_reason = ANY (ARRAY['by_user'::text, 'reach_lost'::text, 'failing'::text, 'gone'::text, 'deleted'::text])))
);

CREATE TABLE vectors.embeddings_0 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_0 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_1 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_1 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_10 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_10 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_11 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_11 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_12 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_12 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_13 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_13 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_14 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_14 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_15 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_15 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_16 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_16 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_17 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_17 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_18 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_18 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_19 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_19 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_2 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_2 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_20 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_20 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_21 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_21 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_22 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_22 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_23 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_23 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_24 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_24 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_25 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_25 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_26 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_26 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_27 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_27 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_28 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_28 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_29 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_29 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_3 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_3 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_30 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_30 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_31 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_31 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_32 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_32 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_33 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_33 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_34 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_34 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_35 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_35 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_36 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_36 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_37 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_37 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_38 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_38 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_39 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_39 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_4 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_4 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_40 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_40 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_41 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_41 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_42 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_42 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_43 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_43 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_44 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_44 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_45 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_45 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_46 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_46 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_47 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_47 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_48 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_48 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_49 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_49 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_5 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_5 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_50 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_50 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_51 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_51 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_52 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_52 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_53 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_53 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_54 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_54 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_55 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_55 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_56 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_56 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_57 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_57 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_58 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_58 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_59 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_59 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_6 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_6 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_60 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_60 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_61 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_61 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_62 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_62 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_63 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_63 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_7 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_7 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_8 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_8 ALTER COLUMN embedding SET STORAGE PLAIN;

CREATE TABLE vectors.embeddings_9 (
    organization_num integer CONSTRAINT embeddings_organization_num_not_null NOT NULL,
    space_num integer CONSTRAINT embeddings_space_num_not_null NOT NULL,
    run_num integer CONSTRAINT embeddings_run_num_not_null NOT NULL,
    chunk_index integer CONSTRAINT embeddings_chunk_index_not_null NOT NULL,
    model_num smallint CONSTRAINT embeddings_model_num_not_null NOT NULL,
    embedding public.halfvec CONSTRAINT embeddings_embedding_not_null NOT NULL
);
ALTER TABLE ONLY vectors.embeddings_9 ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_0 FOR VALUES WITH (modulus 64, remainder 0);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_1 FOR VALUES WITH (modulus 64, remainder 1);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_10 FOR VALUES WITH (modulus 64, remainder 10);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_11 FOR VALUES WITH (modulus 64, remainder 11);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_12 FOR VALUES WITH (modulus 64, remainder 12);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_13 FOR VALUES WITH (modulus 64, remainder 13);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_14 FOR VALUES WITH (modulus 64, remainder 14);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_15 FOR VALUES WITH (modulus 64, remainder 15);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_16 FOR VALUES WITH (modulus 64, remainder 16);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_17 FOR VALUES WITH (modulus 64, remainder 17);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_18 FOR VALUES WITH (modulus 64, remainder 18);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_19 FOR VALUES WITH (modulus 64, remainder 19);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_2 FOR VALUES WITH (modulus 64, remainder 2);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_20 FOR VALUES WITH (modulus 64, remainder 20);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_21 FOR VALUES WITH (modulus 64, remainder 21);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_22 FOR VALUES WITH (modulus 64, remainder 22);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_23 FOR VALUES WITH (modulus 64, remainder 23);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_24 FOR VALUES WITH (modulus 64, remainder 24);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_25 FOR VALUES WITH (modulus 64, remainder 25);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_26 FOR VALUES WITH (modulus 64, remainder 26);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_27 FOR VALUES WITH (modulus 64, remainder 27);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_28 FOR VALUES WITH (modulus 64, remainder 28);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_29 FOR VALUES WITH (modulus 64, remainder 29);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_3 FOR VALUES WITH (modulus 64, remainder 3);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_30 FOR VALUES WITH (modulus 64, remainder 30);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_31 FOR VALUES WITH (modulus 64, remainder 31);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_32 FOR VALUES WITH (modulus 64, remainder 32);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_33 FOR VALUES WITH (modulus 64, remainder 33);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_34 FOR VALUES WITH (modulus 64, remainder 34);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_35 FOR VALUES WITH (modulus 64, remainder 35);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_36 FOR VALUES WITH (modulus 64, remainder 36);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_37 FOR VALUES WITH (modulus 64, remainder 37);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_38 FOR VALUES WITH (modulus 64, remainder 38);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_39 FOR VALUES WITH (modulus 64, remainder 39);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_4 FOR VALUES WITH (modulus 64, remainder 4);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_40 FOR VALUES WITH (modulus 64, remainder 40);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_41 FOR VALUES WITH (modulus 64, remainder 41);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_42 FOR VALUES WITH (modulus 64, remainder 42);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_43 FOR VALUES WITH (modulus 64, remainder 43);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_44 FOR VALUES WITH (modulus 64, remainder 44);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_45 FOR VALUES WITH (modulus 64, remainder 45);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_46 FOR VALUES WITH (modulus 64, remainder 46);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_47 FOR VALUES WITH (modulus 64, remainder 47);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_48 FOR VALUES WITH (modulus 64, remainder 48);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_49 FOR VALUES WITH (modulus 64, remainder 49);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_5 FOR VALUES WITH (modulus 64, remainder 5);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_50 FOR VALUES WITH (modulus 64, remainder 50);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_51 FOR VALUES WITH (modulus 64, remainder 51);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_52 FOR VALUES WITH (modulus 64, remainder 52);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_53 FOR VALUES WITH (modulus 64, remainder 53);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_54 FOR VALUES WITH (modulus 64, remainder 54);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_55 FOR VALUES WITH (modulus 64, remainder 55);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_56 FOR VALUES WITH (modulus 64, remainder 56);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_57 FOR VALUES WITH (modulus 64, remainder 57);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_58 FOR VALUES WITH (modulus 64, remainder 58);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_59 FOR VALUES WITH (modulus 64, remainder 59);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_6 FOR VALUES WITH (modulus 64, remainder 6);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_60 FOR VALUES WITH (modulus 64, remainder 60);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_61 FOR VALUES WITH (modulus 64, remainder 61);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_62 FOR VALUES WITH (modulus 64, remainder 62);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_63 FOR VALUES WITH (modulus 64, remainder 63);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_7 FOR VALUES WITH (modulus 64, remainder 7);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_8 FOR VALUES WITH (modulus 64, remainder 8);

ALTER TABLE ONLY public.embeddings ATTACH PARTITION vectors.embeddings_9 FOR VALUES WITH (modulus 64, remainder 9);

ALTER TABLE ONLY public.agent_changes
    ADD CONSTRAINT agent_changes_pkey PRIMARY KEY (num);

ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.api_key_spaces
    ADD CONSTRAINT api_key_spaces_pkey PRIMARY KEY (api_key_id, space_id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_hash_key UNIQUE (hash);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.api_processes
    ADD CONSTRAINT api_processes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_chains
    ADD CONSTRAINT audit_chains_pkey PRIMARY KEY (organization_id);

ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.batches
    ADD CONSTRAINT batches_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.budgets_reached
    ADD CONSTRAINT budgets_reached_pkey PRIMARY KEY (organization_id, budget, owner_id, month);

ALTER TABLE ONLY public.chunks
    ADD CONSTRAINT chunks_pkey PRIMARY KEY (run_num, chunk_index);

ALTER TABLE ONLY public.claim_turns
    ADD CONSTRAINT claim_turns_pkey PRIMARY KEY (organization_id, priority);

ALTER TABLE ONLY public.claims
    ADD CONSTRAINT claims_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.cut_overs
    ADD CONSTRAINT cut_overs_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.deletions
    ADD CONSTRAINT deletions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.documents
    ADD CONSTRAINT documents_num_key UNIQUE (num);

ALTER TABLE ONLY public.documents
    ADD CONSTRAINT documents_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.embedding_cache
    ADD CONSTRAINT embedding_cache_pkey PRIMARY KEY (organization_id, model_num, content_hash);

ALTER TABLE ONLY public.embedding_cache_references
    ADD CONSTRAINT embedding_cache_references_pkey PRIMARY KEY (raw_file_id, content_hash);

ALTER TABLE ONLY public.embedding_models
    ADD CONSTRAINT embedding_models_name_key UNIQUE (name);

ALTER TABLE ONLY public.embedding_models
    ADD CONSTRAINT embedding_models_pkey PRIMARY KEY (num);

ALTER TABLE ONLY public.embeddings
    ADD CONSTRAINT embeddings_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY public.event_positions
    ADD CONSTRAINT event_positions_pkey PRIMARY KEY (organization_id);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (num);

ALTER TABLE ONLY public.folders
    ADD CONSTRAINT folders_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.hidden_runs
    ADD CONSTRAINT hidden_runs_pkey PRIMARY KEY (space_num, run_num);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (caller_id, route, key);

ALTER TABLE ONLY public.instance_secrets
    ADD CONSTRAINT instance_secrets_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.kept_turn_pieces
    ADD CONSTRAINT kept_turn_pieces_pkey PRIMARY KEY (turn_id, first_no);

ALTER TABLE ONLY public.kept_turns
    ADD CONSTRAINT kept_turns_caller_id_key_key UNIQUE (caller_id, key);

ALTER TABLE ONLY public.kept_turns
    ADD CONSTRAINT kept_turns_pkey PRIMARY KEY (turn_id);

ALTER TABLE ONLY public.language_fits
    ADD CONSTRAINT language_fits_pkey PRIMARY KEY (space_num, model_num);

ALTER TABLE ONLY public.leaked_keys
    ADD CONSTRAINT leaked_keys_pkey PRIMARY KEY (hash);

ALTER TABLE ONLY public.mcp_answer_messages
    ADD CONSTRAINT mcp_answer_messages_pkey PRIMARY KEY (stream_id, no);

ALTER TABLE ONLY public.mcp_answers
    ADD CONSTRAINT mcp_answers_pkey PRIMARY KEY (stream_id);

ALTER TABLE ONLY public.mcp_sessions
    ADD CONSTRAINT mcp_sessions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.openai_files
    ADD CONSTRAINT openai_files_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.operations
    ADD CONSTRAINT operations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.organization_keys
    ADD CONSTRAINT organization_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.organizations
    ADD CONSTRAINT organizations_name_key UNIQUE (name);

ALTER TABLE ONLY public.organizations
    ADD CONSTRAINT organizations_num_key UNIQUE (num);

ALTER TABLE ONLY public.organizations
    ADD CONSTRAINT organizations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.orphan_counts
    ADD CONSTRAINT orphan_counts_pkey PRIMARY KEY (is_only);

ALTER TABLE ONLY public.pipeline_runs
    ADD CONSTRAINT pipeline_runs_num_key UNIQUE (num);

ALTER TABLE ONLY public.pipeline_runs
    ADD CONSTRAINT pipeline_runs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.posting_runs
    ADD CONSTRAINT posting_runs_pkey PRIMARY KEY (run_num, first_chunk);

ALTER TABLE ONLY public.posting_segments
    ADD CONSTRAINT posting_segments_pkey PRIMARY KEY (num);

ALTER TABLE ONLY public.postings
    ADD CONSTRAINT postings_pkey PRIMARY KEY (segment_num, first_term);

ALTER TABLE ONLY public.processes
    ADD CONSTRAINT processes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.provider_gates
    ADD CONSTRAINT provider_gates_pkey PRIMARY KEY (provider);

ALTER TABLE ONLY public.rate_limits
    ADD CONSTRAINT rate_limits_pkey PRIMARY KEY (caller);

ALTER TABLE ONLY public.raw_files
    ADD CONSTRAINT raw_files_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.receipt_keys
    ADD CONSTRAINT receipt_keys_pkey PRIMARY KEY (kid);

ALTER TABLE ONLY public.response_contents
    ADD CONSTRAINT response_contents_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.response_events
    ADD CONSTRAINT response_events_pkey PRIMARY KEY (response_id, first_no);

ALTER TABLE ONLY public.response_items
    ADD CONSTRAINT response_items_pkey PRIMARY KEY (organization_id, response_id, is_output, place);

ALTER TABLE ONLY public.response_usage
    ADD CONSTRAINT response_usage_pkey PRIMARY KEY (organization_id, user_id);

ALTER TABLE ONLY public.responses
    ADD CONSTRAINT responses_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.space_members
    ADD CONSTRAINT space_members_pkey PRIMARY KEY (space_id, user_id);

ALTER TABLE ONLY public.spaces
    ADD CONSTRAINT spaces_num_key UNIQUE (num);

ALTER TABLE ONLY public.spaces
    ADD CONSTRAINT spaces_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.superseded_keys
    ADD CONSTRAINT superseded_keys_pkey PRIMARY KEY (hash);

ALTER TABLE ONLY public.text_blocks
    ADD CONSTRAINT text_blocks_pkey PRIMARY KEY (run_num, first_index);

ALTER TABLE ONLY public.turn_calls
    ADD CONSTRAINT turn_calls_pkey PRIMARY KEY (turn_id, call_no);

ALTER TABLE ONLY public.turns
    ADD CONSTRAINT turns_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.upload_intents
    ADD CONSTRAINT upload_intents_pkey PRIMARY KEY (object_key);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.vector_indexes
    ADD CONSTRAINT vector_indexes_pkey PRIMARY KEY (space_num, model_num);

ALTER TABLE ONLY public.vector_store_batches
    ADD CONSTRAINT vector_store_batches_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.vector_store_files
    ADD CONSTRAINT vector_store_files_pkey PRIMARY KEY (document_id);

ALTER TABLE ONLY public.vector_stores
    ADD CONSTRAINT vector_stores_pkey PRIMARY KEY (folder_id);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_id_key UNIQUE (id);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (num);

ALTER TABLE ONLY public.webhook_replays
    ADD CONSTRAINT webhook_replays_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (id);

ALTER TABLE ONLY vectors.embeddings_0
    ADD CONSTRAINT embeddings_0_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_10
    ADD CONSTRAINT embeddings_10_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_11
    ADD CONSTRAINT embeddings_11_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_12
    ADD CONSTRAINT embeddings_12_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_13
    ADD CONSTRAINT embeddings_13_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_14
    ADD CONSTRAINT embeddings_14_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_15
    ADD CONSTRAINT embeddings_15_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_16
    ADD CONSTRAINT embeddings_16_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_17
    ADD CONSTRAINT embeddings_17_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_18
    ADD CONSTRAINT embeddings_18_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_19
    ADD CONSTRAINT embeddings_19_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_1
    ADD CONSTRAINT embeddings_1_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_20
    ADD CONSTRAINT embeddings_20_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_21
    ADD CONSTRAINT embeddings_21_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_22
    ADD CONSTRAINT embeddings_22_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_23
    ADD CONSTRAINT embeddings_23_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_24
    ADD CONSTRAINT embeddings_24_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_25
    ADD CONSTRAINT embeddings_25_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_26
    ADD CONSTRAINT embeddings_26_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_27
    ADD CONSTRAINT embeddings_27_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_28
    ADD CONSTRAINT embeddings_28_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_29
    ADD CONSTRAINT embeddings_29_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_2
    ADD CONSTRAINT embeddings_2_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_30
    ADD CONSTRAINT embeddings_30_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_31
    ADD CONSTRAINT embeddings_31_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_32
    ADD CONSTRAINT embeddings_32_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_33
    ADD CONSTRAINT embeddings_33_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_34
    ADD CONSTRAINT embeddings_34_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_35
    ADD CONSTRAINT embeddings_35_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_36
    ADD CONSTRAINT embeddings_36_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_37
    ADD CONSTRAINT embeddings_37_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_38
    ADD CONSTRAINT embeddings_38_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_39
    ADD CONSTRAINT embeddings_39_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_3
    ADD CONSTRAINT embeddings_3_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_40
    ADD CONSTRAINT embeddings_40_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_41
    ADD CONSTRAINT embeddings_41_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_42
    ADD CONSTRAINT embeddings_42_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_43
    ADD CONSTRAINT embeddings_43_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_44
    ADD CONSTRAINT embeddings_44_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_45
    ADD CONSTRAINT embeddings_45_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_46
    ADD CONSTRAINT embeddings_46_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_47
    ADD CONSTRAINT embeddings_47_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_48
    ADD CONSTRAINT embeddings_48_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_49
    ADD CONSTRAINT embeddings_49_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_4
    ADD CONSTRAINT embeddings_4_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_50
    ADD CONSTRAINT embeddings_50_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_51
    ADD CONSTRAINT embeddings_51_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_52
    ADD CONSTRAINT embeddings_52_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_53
    ADD CONSTRAINT embeddings_53_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_54
    ADD CONSTRAINT embeddings_54_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_55
    ADD CONSTRAINT embeddings_55_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_56
    ADD CONSTRAINT embeddings_56_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_57
    ADD CONSTRAINT embeddings_57_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_58
    ADD CONSTRAINT embeddings_58_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_59
    ADD CONSTRAINT embeddings_59_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_5
    ADD CONSTRAINT embeddings_5_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_60
    ADD CONSTRAINT embeddings_60_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_61
    ADD CONSTRAINT embeddings_61_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_62
    ADD CONSTRAINT embeddings_62_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_63
    ADD CONSTRAINT embeddings_63_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_6
    ADD CONSTRAINT embeddings_6_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_7
    ADD CONSTRAINT embeddings_7_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_8
    ADD CONSTRAINT embeddings_8_pkey PRIMARY KEY (space_num, run_num, chunk_index);

ALTER TABLE ONLY vectors.embeddings_9
    ADD CONSTRAINT embeddings_9_pkey PRIMARY KEY (space_num, run_num, chunk_index);

CREATE INDEX agent_changes_actor_id_idx ON public.agent_changes USING btree (actor_id);

CREATE INDEX agent_changes_agent_id_num_idx ON public.agent_changes USING btree (agent_id, num);

CREATE INDEX agent_changes_organization_id_idx ON public.agent_changes USING btree (organization_id);

CREATE INDEX agents_organization_id_idx ON public.agents USING btree (organization_id) WHERE (deleted_at IS NULL);

CREATE UNIQUE INDEX agents_space_id_lower_idx ON public.agents USING btree (space_id, lower(name)) WHERE (deleted_at IS NULL);

CREATE INDEX api_key_spaces_space_id_idx ON public.api_key_spaces USING btree (space_id);

CREATE INDEX api_keys_organization_id_user_id_idx ON public.api_keys USING btree (organization_id, user_id);

CREATE INDEX audit_log_at_idx ON public.audit_log USING brin (at);

CREATE UNIQUE INDEX audit_log_chain ON public.audit_log USING btree (organization_id, chain_seq) WHERE (chain_seq IS NOT NULL);

CREATE INDEX audit_log_organization_id_at_id_idx ON public.audit_log USING btree (organization_id, at DESC, id DESC);

CREATE INDEX audit_log_unchained ON public.audit_log USING btree (organization_id, at, id) WHERE (chain_seq IS NULL);

CREATE INDEX batches_created_at_idx ON public.batches USING btree (created_at) WHERE (completed_at IS NULL);

CREATE INDEX batches_under_way ON public.batches USING btree (organization_id) WHERE ((completed_at IS NULL) AND ((started_at IS NOT NULL) OR (leased_until IS NOT NULL)));

CREATE INDEX batches_waiting ON public.batches USING btree (organization_id, created_at) WHERE (completed_at IS NULL);

CREATE INDEX chunks_document_id_idx ON public.chunks USING btree (document_id);

CREATE INDEX claims_closed_at_idx ON public.claims USING btree (closed_at) WHERE (closed_at IS NOT NULL);

CREATE INDEX claims_id_idx ON public.claims USING btree (id) WHERE (isolated AND (closed_at IS NULL));

CREATE INDEX claims_leased_until_idx ON public.claims USING btree (leased_until) WHERE (closed_at IS NULL);

CREATE INDEX claims_organization_id_priority_idx ON public.claims USING btree (organization_id, priority) WHERE (closed_at IS NULL);

CREATE INDEX deletions_completed_at_idx ON public.deletions USING btree (completed_at) WHERE (completed_at IS NOT NULL);

CREATE INDEX deletions_created_at_idx ON public.deletions USING btree (created_at) WHERE (completed_at IS NULL);

CREATE INDEX deletions_under_way ON public.deletions USING btree (organization_id) WHERE ((completed_at IS NULL) AND ((started_at IS NOT NULL) OR (leased_until IS NOT NULL)));

CREATE INDEX deletions_waiting ON public.deletions USING btree (organization_id, created_at) WHERE (completed_at IS NULL);

CREATE INDEX documents_folder_id_idx ON public.documents USING btree (folder_id) WHERE (folder_id IS NOT NULL);

CREATE INDEX documents_latest_run_num_idx ON public.documents USING btree (latest_run_num);

CREATE INDEX documents_long_history ON public.documents USING btree (organization_id) WHERE (run_count > 50);

CREATE INDEX documents_published_run_num_idx ON public.documents USING btree (published_run_num);

CREATE INDEX documents_space_id_created_at_id_idx ON public.documents USING btree (space_id, created_at DESC, id DESC) WHERE (deleted_at IS NULL);

CREATE INDEX documents_space_id_file_type_idx ON public.documents USING btree (space_id, file_type) WHERE (deleted_at IS NULL);

CREATE INDEX documents_space_id_idx ON public.documents USING btree (space_id) WHERE (deleted_at IS NOT NULL);

CREATE INDEX embedding_cache_last_used_at_idx ON public.embedding_cache USING brin (last_used_at);

CREATE INDEX embedding_cache_references_organization_id_content_hash_idx ON public.embedding_cache_references USING btree (organization_id, content_hash);

CREATE INDEX events_age ON public.events USING brin (occurred_at);

CREATE INDEX events_of_resource ON public.events USING btree (organization_id, resource_id, "position") WHERE ("position" IS NOT NULL);

CREATE UNIQUE INDEX events_order ON public.events USING btree (organization_id, "position") WHERE ("position" IS NOT NULL);

CREATE INDEX events_unplaced ON public.events USING btree (organization_id, num) WHERE ("position" IS NULL);

CREATE INDEX folders_parent_folder_id_idx ON public.folders USING btree (parent_folder_id);

CREATE INDEX folders_space_id_idx ON public.folders USING btree (space_id) WHERE (deleted_at IS NOT NULL);

CREATE INDEX folders_space_id_parent_folder_id_idx ON public.folders USING btree (space_id, parent_folder_id);

CREATE INDEX idempotency_keys_claimed_at_idx ON public.idempotency_keys USING btree (claimed_at);

CREATE INDEX kept_turns_created_at_idx ON public.kept_turns USING btree (created_at);

CREATE INDEX mcp_answers_created_at_idx ON public.mcp_answers USING btree (created_at);

CREATE INDEX mcp_answers_session_id_request_id_idx ON public.mcp_answers USING btree (session_id, request_id);

CREATE INDEX mcp_sessions_used_at_idx ON public.mcp_sessions USING btree (used_at);

CREATE INDEX mcp_sessions_user_id_created_at_idx ON public.mcp_sessions USING btree (user_id, created_at);

CREATE INDEX openai_files_expiry ON public.openai_files USING btree (organization_id, expires_at) WHERE (expires_at IS NOT NULL);

CREATE INDEX openai_files_object ON public.openai_files USING btree (object_key);

CREATE INDEX openai_files_user ON public.openai_files USING btree (user_id, created_at, id);

CREATE UNIQUE INDEX organization_keys_organization_id_idx ON public.organization_keys USING btree (organization_id) WHERE is_current;

CREATE UNIQUE INDEX pipeline_runs_active ON public.pipeline_runs USING btree (document_id) WHERE (status = ANY (ARRAY['queued'::text, 'parsing'::text, 'chunking'::text, 'embedding'::text]));

CREATE INDEX pipeline_runs_batch ON public.pipeline_runs USING btree (batch_id, num) WHERE (batch_id IS NOT NULL);

CREATE INDEX pipeline_runs_claim_id_idx ON public.pipeline_runs USING btree (claim_id) WHERE ((claim_id IS NOT NULL) AND (status = ANY (ARRAY['queued'::text, 'parsing'::text, 'chunking'::text, 'embedding'::text])));

CREATE INDEX pipeline_runs_held ON public.pipeline_runs USING btree (batch_id, num) WHERE (held AND (status = 'queued'::text));

CREATE INDEX pipeline_runs_lanes ON public.pipeline_runs USING btree (organization_id, priority, public.run_lane(file_type, file_size), public.run_user(created_by), num) WHERE ((status = 'queued'::text) AND (claim_id IS NULL) AND (NOT held));

CREATE INDEX pipeline_runs_object ON public.pipeline_runs USING btree (object_key);

CREATE INDEX pipeline_runs_object_left ON public.pipeline_runs USING btree (organization_id) WHERE (text_purged AND (NOT object_purged));

CREATE INDEX pipeline_runs_queue ON public.pipeline_runs USING btree (priority, organization_id, num) WHERE ((status = 'queued'::text) AND (claim_id IS NULL) AND (NOT held));

CREATE INDEX pipeline_runs_released ON public.pipeline_runs USING btree (batch_id) WHERE ((batch_id IS NOT NULL) AND (NOT held) AND (status = ANY (ARRAY['queued'::text, 'parsing'::text, 'chunking'::text, 'embedding'::text])));

CREATE INDEX pipeline_runs_unpurged ON public.pipeline_runs USING btree (organization_id, document_id, num) WHERE ((NOT text_purged) AND (status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])));

CREATE UNIQUE INDEX pipeline_runs_version ON public.pipeline_runs USING btree (document_id, version);

CREATE INDEX posting_runs_segment_num_idx ON public.posting_runs USING btree (segment_num);

CREATE INDEX posting_segments_space_num_terms_idx ON public.posting_segments USING btree (space_num, terms);

CREATE INDEX raw_files_document_id_idx ON public.raw_files USING btree (document_id);

CREATE INDEX raw_files_object ON public.raw_files USING btree (object_key);

CREATE UNIQUE INDEX raw_files_path ON public.raw_files USING btree (space_id, path COLLATE "C") WHERE (deleted_at IS NULL);

CREATE UNIQUE INDEX receipt_keys_active ON public.receipt_keys USING btree (organization_id) WHERE (retired_at IS NULL);

CREATE INDEX receipt_keys_organization_id_created_at_idx ON public.receipt_keys USING btree (organization_id, created_at);

CREATE INDEX response_contents_organization_id_before_id_idx ON public.response_contents USING btree (organization_id, before_id);

CREATE INDEX responses_expires_at_idx ON public.responses USING btree (expires_at);

CREATE INDEX responses_organization_id_idx ON public.responses USING btree (organization_id);

CREATE INDEX responses_under_way ON public.responses USING btree (api_process_id) WHERE (is_background AND (status = ANY (ARRAY['queued'::text, 'in_progress'::text])));

CREATE INDEX responses_with_item ON public.responses USING gin (item_ids);

CREATE INDEX space_members_user_id_idx ON public.space_members USING btree (user_id);

CREATE INDEX space_statistics_space_num_chunks_terms_embedding_model_idx ON public.space_statistics USING btree (space_num) INCLUDE (chunks, terms, embedding_model);

CREATE UNIQUE INDEX spaces_organization_id_lower_idx ON public.spaces USING btree (organization_id, lower(name)) WHERE ((NOT is_private) AND (deleted_at IS NULL));

CREATE UNIQUE INDEX spaces_owner_id_idx ON public.spaces USING btree (owner_id) WHERE (is_private AND (deleted_at IS NULL));

CREATE INDEX superseded_keys_api_key_id_created_at_idx ON public.superseded_keys USING btree (api_key_id, created_at);

CREATE INDEX superseded_keys_api_key_id_valid_until_idx ON public.superseded_keys USING btree (api_key_id, valid_until);

CREATE INDEX turn_calls_at_idx ON public.turn_calls USING brin (at);

CREATE INDEX turn_calls_organization_id_at_idx ON public.turn_calls USING btree (organization_id, at);

CREATE INDEX turns_api_process_id_idx ON public.turns USING btree (api_process_id) WHERE (status = ANY (ARRAY['open'::text, 'lost'::text]));

CREATE INDEX turns_of_user ON public.turns USING btree (organization_id, user_id, started_at);

CREATE INDEX turns_organization_id_started_at_idx ON public.turns USING btree (organization_id, started_at);

CREATE INDEX turns_started_at_idx ON public.turns USING brin (started_at);

CREATE INDEX users_email ON public.users USING btree (lower(email)) WHERE (removed_at IS NULL);

CREATE UNIQUE INDEX users_lower_idx ON public.users USING btree (organization_id, lower(email)) WHERE (removed_at IS NULL);

CREATE INDEX users_organization_id_idx ON public.users USING btree (organization_id);

CREATE UNIQUE INDEX users_subject_idx ON public.users USING btree (subject) WHERE (removed_at IS NULL);

CREATE INDEX vector_store_batches_folder ON public.vector_store_batches USING btree (folder_id);

CREATE INDEX vector_store_files_file ON public.vector_store_files USING btree (file_id);

CREATE INDEX vector_stores_expiry ON public.vector_stores USING btree (organization_id) WHERE ((expires_after_days IS NOT NULL) AND (expired_at IS NULL));

CREATE INDEX vector_stores_listed ON public.vector_stores USING btree (organization_id, created_at, folder_id);

CREATE INDEX webhook_deliveries_age ON public.webhook_deliveries USING brin (created_at);

CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (webhook_id, next_attempt_at, num) WHERE (status = 'pending'::text);

CREATE UNIQUE INDEX webhook_deliveries_event ON public.webhook_deliveries USING btree (webhook_id, event_num);

CREATE INDEX webhook_deliveries_list ON public.webhook_deliveries USING btree (webhook_id, num DESC);

CREATE INDEX webhook_replays_webhook_id_idx ON public.webhook_replays USING btree (webhook_id) WHERE (completed_at IS NULL);

CREATE INDEX webhooks_at_rest ON public.webhooks USING btree (organization_id, "position") WHERE ((status = 'active'::text) AND is_resting);

CREATE INDEX webhooks_created_by_idx ON public.webhooks USING btree (created_by);

CREATE INDEX webhooks_deleted ON public.webhooks USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);

CREATE INDEX webhooks_organization_id_created_at_idx ON public.webhooks USING btree (organization_id, created_at);

CREATE INDEX webhooks_space_id_idx ON public.webhooks USING btree (space_id);

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_0_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_10_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_11_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_12_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_13_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_14_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_15_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_16_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_17_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_18_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_19_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_1_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_20_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_21_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_22_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_23_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_24_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_25_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_26_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_27_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_28_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_29_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_2_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_30_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_31_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_32_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_33_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_34_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_35_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_36_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_37_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_38_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_39_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_3_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_40_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_41_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_42_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_43_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_44_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_45_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_46_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_47_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_48_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_49_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_4_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_50_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_51_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_52_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_53_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_54_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_55_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_56_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_57_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_58_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_59_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_5_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_60_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_61_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_62_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_63_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_6_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_7_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_8_pkey;

ALTER INDEX public.embeddings_pkey ATTACH PARTITION vectors.embeddings_9_pkey;

CREATE TRIGGER count_response_bytes AFTER INSERT OR DELETE OR UPDATE OF bytes ON public.response_contents FOR EACH ROW EXECUTE FUNCTION public.count_response_bytes();

CREATE TRIGGER count_response_bytes AFTER INSERT OR DELETE OR UPDATE OF sealed_request, sealed_response, event_bytes ON public.responses FOR EACH ROW EXECUTE FUNCTION public.count_response_bytes();

CREATE TRIGGER forget_vectors AFTER DELETE ON public.spaces FOR EACH ROW EXECUTE FUNCTION public.forget_vectors();

CREATE TRIGGER note_agent_change AFTER UPDATE ON public.agents FOR EACH ROW WHEN ((new.conversation_count = old.conversation_count)) EXECUTE FUNCTION public.note_agent_change();

CREATE TRIGGER note_agent_creation AFTER INSERT ON public.agents FOR EACH ROW EXECUTE FUNCTION public.note_agent_change();

CREATE TRIGGER note_attempt BEFORE UPDATE ON public.pipeline_runs FOR EACH ROW WHEN (((new.attempt_id IS DISTINCT FROM old.attempt_id) OR ((new.status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])) AND (new.status <> old.status)))) EXECUTE FUNCTION public.note_attempt();

CREATE TRIGGER note_batch_event AFTER UPDATE ON public.batches FOR EACH ROW WHEN (((new.completed_at IS NOT NULL) AND (old.completed_at IS NULL))) EXECUTE FUNCTION public.note_batch_event();

CREATE TRIGGER note_batch_key AFTER INSERT ON public.audit_log FOR EACH ROW WHEN (((new.resource_type = 'batch'::text) AND (new.outcome = 'success'::text) AND (new.api_key_id IS NOT NULL))) EXECUTE FUNCTION public.note_batch_key();

CREATE TRIGGER note_key_creator AFTER INSERT ON public.audit_log FOR EACH ROW WHEN (((new.action = 'api_keys:create'::text) AND (new.resource_type = 'api_key'::text) AND (new.outcome = 'success'::text) AND (new.actor_id IS NOT NULL))) EXECUTE FUNCTION public.note_key_creator();

CREATE TRIGGER note_run_event AFTER UPDATE ON public.pipeline_runs FOR EACH ROW WHEN ((((new.status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])) AND (new.status <> old.status)) OR ((new.waiting_for IS NOT NULL) AND (new.waiting_for IS DISTINCT FROM old.waiting_for)))) EXECUTE FUNCTION public.note_run_event();

CREATE TRIGGER note_run_progress AFTER UPDATE ON public.pipeline_runs FOR EACH ROW WHEN (((new.status = ANY (ARRAY['parsing'::text, 'chunking'::text, 'embedding'::text])) AND (new.status <> old.status))) EXECUTE FUNCTION public.note_run_progress();

CREATE TRIGGER note_turn_ends AFTER INSERT ON public.turns REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION public.note_turn_events();

CREATE TRIGGER note_turn_ends_later AFTER UPDATE ON public.turns REFERENCING OLD TABLE AS overwritten NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION public.note_turn_events();

CREATE TRIGGER release_response_contents AFTER DELETE ON public.responses FOR EACH ROW EXECUTE FUNCTION public.release_response_contents();

CREATE TRIGGER tell_agents_changed AFTER UPDATE ON public.agents FOR EACH ROW WHEN ((new.conversation_count = old.conversation_count)) EXECUTE FUNCTION public.tell_agents_changed();

CREATE TRIGGER tell_agents_changed AFTER UPDATE ON public.spaces FOR EACH ROW WHEN ((new.deleted_at IS DISTINCT FROM old.deleted_at)) EXECUTE FUNCTION public.tell_agents_changed();

ALTER TABLE ONLY public.agent_changes
    ADD CONSTRAINT agent_changes_actor_id_fkey FOREIGN KEY (actor_id) REFERENCES public.users(id);

ALTER TABLE ONLY public.agent_changes
    ADD CONSTRAINT agent_changes_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES public.agents(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.agent_changes
    ADD CONSTRAINT agent_changes_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(id);

ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_last_edited_by_fkey FOREIGN KEY (last_edited_by) REFERENCES public.users(id);

ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_space_id_fkey FOREIGN KEY (space_id) REFERENCES public.spaces(id);

ALTER TABLE ONLY public.api_key_spaces
    ADD CONSTRAINT api_key_spaces_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES public.api_keys(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.api_key_spaces
    ADD CONSTRAINT api_key_spaces_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.api_key_spaces
    ADD CONSTRAINT api_key_spaces_space_id_fkey FOREIGN KEY (space_id) REFERENCES public.spaces(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);

ALTER TABLE ONLY public.audit_chains
    ADD CONSTRAINT audit_chains_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.batches
    ADD CONSTRAINT batches_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(id);

ALTER TABLE ONLY public.batches
    ADD CONSTRAINT batches_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.budgets_reached
    ADD CONSTRAINT budgets_reached_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.claim_turns
    ADD CONSTRAINT claim_turns_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.claims
    ADD CONSTRAINT claims_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.deletions
    ADD CONSTRAINT deletions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.documents
    ADD CONSTRAINT documents_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(id);

ALTER TABLE ONLY public.documents
    ADD CONSTRAINT documents_folder_id_fkey FOREIGN KEY (folder_id) REFERENCES public.folders(id);

ALTER TABLE ONLY public.documents
    ADD CONSTRAINT documents_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.documents
    ADD CONSTRAINT documents_space_id_fkey FOREIGN KEY (space_id) REFERENCES public.spaces(id);

ALTER TABLE ONLY public.event_positions
    ADD CONSTRAINT event_positions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.folders
    ADD CONSTRAINT folders_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(id);

ALTER TABLE ONLY public.folders
    ADD CONSTRAINT folders_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.folders
    ADD CONSTRAINT folders_parent_folder_id_fkey FOREIGN KEY (parent_folder_id) REFERENCES public.folders(id);

ALTER TABLE ONLY public.folders
    ADD CONSTRAINT folders_space_id_fkey FOREIGN KEY (space_id) REFERENCES public.spaces(id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.kept_turn_pieces
    ADD CONSTRAINT kept_turn_pieces_turn_id_fkey FOREIGN KEY (turn_id) REFERENCES public.kept_turns(turn_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.kept_turns
    ADD CONSTRAINT kept_turns_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.language_fits
    ADD CONSTRAINT language_fits_space_num_fkey FOREIGN KEY (space_num) REFERENCES public.spaces(num) ON DELETE CASCADE;

ALTER TABLE ONLY public.mcp_answer_messages
    ADD CONSTRAINT mcp_answer_messages_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES public.mcp_answers(stream_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.mcp_answers
    ADD CONSTRAINT mcp_answers_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.mcp_sessions(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.mcp_sessions
    ADD CONSTRAINT mcp_sessions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.openai_files
    ADD CONSTRAINT openai_files_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.openai_files
    ADD CONSTRAINT openai_files_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);

ALTER TABLE ONLY public.organization_keys
    ADD CONSTRAINT organization_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.pipeline_runs
    ADD CONSTRAINT pipeline_runs_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.pipeline_runs
    ADD CONSTRAINT pipeline_runs_space_id_fkey FOREIGN KEY (space_id) REFERENCES public.spaces(id);

ALTER TABLE ONLY public.raw_files
    ADD CONSTRAINT raw_files_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(id);

ALTER TABLE ONLY public.raw_files
    ADD CONSTRAINT raw_files_document_id_fkey FOREIGN KEY (document_id) REFERENCES public.documents(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.raw_files
    ADD CONSTRAINT raw_files_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.raw_files
    ADD CONSTRAINT raw_files_space_id_fkey FOREIGN KEY (space_id) REFERENCES public.spaces(id);

ALTER TABLE ONLY public.receipt_keys
    ADD CONSTRAINT receipt_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.response_contents
    ADD CONSTRAINT response_contents_organization_id_before_id_fkey FOREIGN KEY (organization_id, before_id) REFERENCES public.response_contents(organization_id, id);

ALTER TABLE ONLY public.response_contents
    ADD CONSTRAINT response_contents_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.response_events
    ADD CONSTRAINT response_events_response_id_fkey FOREIGN KEY (response_id) REFERENCES public.responses(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.response_items
    ADD CONSTRAINT response_items_organization_id_response_id_fkey FOREIGN KEY (organization_id, response_id) REFERENCES public.response_contents(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.response_usage
    ADD CONSTRAINT response_usage_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.responses
    ADD CONSTRAINT responses_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.space_members
    ADD CONSTRAINT space_members_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.space_members
    ADD CONSTRAINT space_members_space_id_fkey FOREIGN KEY (space_id) REFERENCES public.spaces(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.space_members
    ADD CONSTRAINT space_members_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);

ALTER TABLE ONLY public.spaces
    ADD CONSTRAINT spaces_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.spaces
    ADD CONSTRAINT spaces_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.users(id);

ALTER TABLE ONLY public.superseded_keys
    ADD CONSTRAINT superseded_keys_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES public.api_keys(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.superseded_keys
    ADD CONSTRAINT superseded_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.turn_calls
    ADD CONSTRAINT turn_calls_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.turns
    ADD CONSTRAINT turns_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.upload_intents
    ADD CONSTRAINT upload_intents_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.vector_store_batches
    ADD CONSTRAINT vector_store_batches_folder_id_fkey FOREIGN KEY (folder_id) REFERENCES public.folders(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.vector_store_batches
    ADD CONSTRAINT vector_store_batches_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.vector_store_files
    ADD CONSTRAINT vector_store_files_document_id_fkey FOREIGN KEY (document_id) REFERENCES public.documents(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.vector_store_files
    ADD CONSTRAINT vector_store_files_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.vector_stores
    ADD CONSTRAINT vector_stores_folder_id_fkey FOREIGN KEY (folder_id) REFERENCES public.folders(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.vector_stores
    ADD CONSTRAINT vector_stores_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES public.webhooks(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhook_replays
    ADD CONSTRAINT webhook_replays_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.webhook_replays
    ADD CONSTRAINT webhook_replays_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES public.webhooks(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_created_by_fkey FOREIGN KEY (created_by) REFERENCES public.users(id);

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_space_id_fkey FOREIGN KEY (space_id) REFERENCES public.spaces(id);

ALTER TABLE public.agent_changes ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.agents ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.api_key_spaces ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.api_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.audit_chains ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.audit_log ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.batches ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.budgets_reached ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.chunks ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.claim_turns ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.claims ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.deletions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.documents ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.embedding_cache ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.embedding_cache_references ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.embeddings ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.event_positions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.events ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.folders ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.hidden_runs ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.idempotency_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.kept_turn_pieces ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.kept_turns ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.language_fits ENABLE ROW LEVEL SECURITY;

CREATE POLICY maintenance ON public.agents TO holdfast_maintenance USING (true) WITH CHECK (true);

CREATE POLICY maintenance ON public.api_key_spaces TO holdfast_maintenance USING (true) WITH CHECK (true);

CREATE POLICY maintenance ON public.api_keys TO holdfast_maintenance USING (true) WITH CHECK (true);

CREATE POLICY maintenance ON public.audit_chains TO holdfast_maintenance USING (true) WITH CHECK (true);

CREATE POLICY maintenance ON public.embeddings TO holdfast_maintenance USING (true) WITH CHECK (false);

CREATE POLICY maintenance ON public.organization_keys TO holdfast_maintenance USING (true) WITH CHECK (true);

CREATE POLICY maintenance ON public.organizations TO holdfast_maintenance USING (true) WITH CHECK (true);

CREATE POLICY maintenance ON public.space_members TO holdfast_maintenance USING (true) WITH CHECK (true);

CREATE POLICY maintenance ON public.spaces TO holdfast_maintenance USING (true) WITH CHECK (true);

CREATE POLICY maintenance ON public.superseded_keys TO holdfast_maintenance USING (true) WITH CHECK (true);

CREATE POLICY maintenance ON public.users TO holdfast_maintenance USING (true) WITH CHECK (true);

CREATE POLICY maintenance ON public.vector_indexes TO holdfast_maintenance USING (true) WITH CHECK (true);

CREATE POLICY maintenance_deletes ON public.organizations AS RESTRICTIVE FOR DELETE TO holdfast_maintenance USING ((deleted_at IS NOT NULL));

CREATE POLICY maintenance_deletes ON public.spaces AS RESTRICTIVE FOR DELETE TO holdfast_maintenance USING ((EXISTS ( SELECT
   FROM public.organizations o
  WHERE ((o.id = spaces.organization_id) AND (o.deleted_at IS NOT NULL)))));

CREATE POLICY maintenance_expires ON public.audit_log FOR DELETE TO holdfast_maintenance USING (((chain_seq IS NOT NULL) AND (at < (now() - '399 days'::interval))));

CREATE POLICY maintenance_links ON public.audit_log FOR UPDATE TO holdfast_maintenance USING (true) WITH CHECK (true);

CREATE POLICY maintenance_reads ON public.audit_log FOR SELECT TO holdfast_maintenance USING (true);

ALTER TABLE public.mcp_answer_messages ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.mcp_answers ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.mcp_sessions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.openai_files ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.organization_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.organizations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.pipeline_runs ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.posting_runs ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.posting_segments ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.postings ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.raw_files ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.receipt_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.response_contents ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.response_events ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.response_items ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.response_usage ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.responses ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.space_members ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.space_statistics ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.spaces ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.superseded_keys ENABLE ROW LEVEL SECURITY;

CREATE POLICY system ON public.agents TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.batches TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.budgets_reached TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.claim_turns TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.claims TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.deletions TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.event_positions TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.events TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.hidden_runs TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.idempotency_keys TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.kept_turns TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.language_fits TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.mcp_answers TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.mcp_sessions TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.organizations TO holdfast_system USING (true);

CREATE POLICY system ON public.pipeline_runs TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.posting_runs TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.posting_segments TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.response_contents TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.response_usage TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.responses TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.space_statistics TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.turn_calls TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.turns TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.upload_intents TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.vector_indexes TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.webhook_deliveries TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY system ON public.webhooks TO holdfast_system USING (true) WITH CHECK (true);

CREATE POLICY tenant ON public.agent_changes TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.agents TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.api_key_spaces TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.api_keys TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.audit_chains TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.audit_log TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.batches TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.budgets_reached TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.chunks TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.claim_turns TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.claims TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.deletions TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.documents TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.embedding_cache TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.embedding_cache_references TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.embeddings TO holdfast_app USING ((organization_num = ( SELECT public.current_organization_num() AS current_organization_num))) WITH CHECK ((organization_num = ( SELECT public.current_organization_num() AS current_organization_num)));

CREATE POLICY tenant ON public.event_positions TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.events TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.folders TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.hidden_runs TO holdfast_app USING ((organization_num = ( SELECT public.current_organization_num() AS current_organization_num))) WITH CHECK ((organization_num = ( SELECT public.current_organization_num() AS current_organization_num)));

CREATE POLICY tenant ON public.idempotency_keys TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.kept_turn_pieces TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.kept_turns TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.language_fits TO holdfast_app USING ((organization_num = ( SELECT public.current_organization_num() AS current_organization_num))) WITH CHECK ((organization_num = ( SELECT public.current_organization_num() AS current_organization_num)));

CREATE POLICY tenant ON public.mcp_answer_messages TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.mcp_answers TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.mcp_sessions TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.openai_files TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.organization_keys TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.organizations TO holdfast_app USING ((id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.pipeline_runs TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.posting_runs TO holdfast_app USING ((organization_num = ( SELECT public.current_organization_num() AS current_organization_num))) WITH CHECK ((organization_num = ( SELECT public.current_organization_num() AS current_organization_num)));

CREATE POLICY tenant ON public.posting_segments TO holdfast_app USING ((organization_num = ( SELECT public.current_organization_num() AS current_organization_num))) WITH CHECK ((organization_num = ( SELECT public.current_organization_num() AS current_organization_num)));

CREATE POLICY tenant ON public.postings TO holdfast_app USING ((organization_num = ( SELECT public.current_organization_num() AS current_organization_num))) WITH CHECK ((organization_num = ( SELECT public.current_organization_num() AS current_organization_num)));

CREATE POLICY tenant ON public.raw_files TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.receipt_keys TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.response_contents TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.response_events TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.response_items TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.response_usage TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.responses TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.space_members TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.space_statistics TO holdfast_app USING ((organization_num = ( SELECT public.current_organization_num() AS current_organization_num))) WITH CHECK ((organization_num = ( SELECT public.current_organization_num() AS current_organization_num)));

CREATE POLICY tenant ON public.spaces TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.superseded_keys TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.text_blocks TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.turn_calls TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.turns TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.upload_intents TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.users TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.vector_indexes TO holdfast_app USING ((organization_num = ( SELECT public.current_organization_num() AS current_organization_num))) WITH CHECK ((organization_num = ( SELECT public.current_organization_num() AS current_organization_num)));

CREATE POLICY tenant ON public.vector_store_batches TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.vector_store_files TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.vector_stores TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.webhook_deliveries TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.webhook_replays TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

CREATE POLICY tenant ON public.webhooks TO holdfast_app USING ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id))) WITH CHECK ((organization_id = ( SELECT public.current_organization_id() AS current_organization_id)));

ALTER TABLE public.text_blocks ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.turn_calls ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.turns ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.upload_intents ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.users ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.vector_indexes ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.vector_store_batches ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.vector_store_files ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.vector_stores ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.webhook_deliveries ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.webhook_replays ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.webhooks ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_0 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_1 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_10 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_11 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_12 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_13 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_14 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_15 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_16 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_17 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_18 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_19 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_2 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_20 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_21 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_22 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_23 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_24 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_25 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_26 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_27 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_28 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_29 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_3 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_30 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_31 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_32 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_33 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_34 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_35 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_36 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_37 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_38 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_39 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_4 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_40 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_41 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_42 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_43 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_44 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_45 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_46 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_47 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_48 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_49 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_5 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_50 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_51 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_52 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_53 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_54 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_55 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_56 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_57 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_58 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_59 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_6 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_60 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_61 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_62 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_63 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_7 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_8 ENABLE ROW LEVEL SECURITY;

ALTER TABLE vectors.embeddings_9 ENABLE ROW LEVEL SECURITY;

GRANT USAGE ON SCHEMA public TO holdfast_app;
GRANT USAGE ON SCHEMA public TO holdfast_system;
GRANT USAGE ON SCHEMA public TO holdfast_maintenance;

GRANT ALL ON SCHEMA vectors TO holdfast_maintenance;

REVOKE ALL ON FUNCTION public.append_audit_rows(entries jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.append_audit_rows(entries jsonb) TO holdfast_app;
GRANT ALL ON FUNCTION public.append_audit_rows(entries jsonb) TO holdfast_maintenance;

REVOKE ALL ON FUNCTION public.audience_of_event(type text) FROM PUBLIC;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.spaces TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.spaces TO holdfast_maintenance;

REVOKE ALL ON FUNCTION public.has_private_space(of_user uuid) FROM PUBLIC;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.api_key_spaces TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.api_key_spaces TO holdfast_maintenance;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.api_keys TO holdfast_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.api_keys TO holdfast_maintenance;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.space_members TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.space_members TO holdfast_maintenance;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.users TO holdfast_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.users TO holdfast_maintenance;

REVOKE ALL ON FUNCTION public.reach_of(of_user uuid, of_key uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.reach_of(of_user uuid, of_key uuid) TO holdfast_app;

GRANT SELECT ON TABLE public.organizations TO holdfast_app;
GRANT SELECT ON TABLE public.organizations TO holdfast_system;
GRANT SELECT,DELETE ON TABLE public.organizations TO holdfast_maintenance;

GRANT INSERT(id) ON TABLE public.organizations TO holdfast_maintenance;

GRANT INSERT(name),UPDATE(name) ON TABLE public.organizations TO holdfast_maintenance;

GRANT UPDATE(max_key_lifetime_seconds) ON TABLE public.organizations TO holdfast_app;
GRANT INSERT(max_key_lifetime_seconds),UPDATE(max_key_lifetime_seconds) ON TABLE public.organizations TO holdfast_maintenance;

GRANT UPDATE(default_key_lifetime_seconds) ON TABLE public.organizations TO holdfast_app;
GRANT INSERT(default_key_lifetime_seconds),UPDATE(default_key_lifetime_seconds) ON TABLE public.organizations TO holdfast_maintenance;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.superseded_keys TO holdfast_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.superseded_keys TO holdfast_maintenance;

REVOKE ALL ON FUNCTION public.authenticate_caller_key(key_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.authenticate_caller_key(key_hash bytea) TO holdfast_app;

REVOKE ALL ON FUNCTION public.authenticate_key(key_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.authenticate_key(key_hash bytea) TO holdfast_app;

REVOKE ALL ON FUNCTION public.authenticate_token(token_subject text, verified_email text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.authenticate_token(token_subject text, verified_email text) TO holdfast_app;

REVOKE ALL ON FUNCTION public.authenticate_subject(token_subject text, verified_email text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.authenticate_subject(token_subject text, verified_email text) TO holdfast_app;

REVOKE ALL ON FUNCTION public.callers_of_space(of_space uuid) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.close_organization(organization uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.close_organization(organization uuid) TO holdfast_maintenance;

REVOKE ALL ON FUNCTION public.closed_organization_num(organization uuid) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.count_faults(run_nums integer[], run_terms bigint[], vector_runs integer[], vector_counts bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_faults(run_nums integer[], run_terms bigint[], vector_runs integer[], vector_counts bigint[]) TO holdfast_app;

REVOKE ALL ON FUNCTION public.count_response_bytes() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.count_rows_of_closed(organization uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_rows_of_closed(organization uuid) TO holdfast_maintenance;

REVOKE ALL ON FUNCTION public.delete_rows_of_closed(organization uuid, from_table regclass, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.delete_rows_of_closed(organization uuid, from_table regclass, at_most integer) TO holdfast_maintenance;

REVOKE ALL ON FUNCTION public.event_of_change(action text, resource_type text) FROM PUBLIC;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.receipt_keys TO holdfast_app;

REVOKE ALL ON FUNCTION public.find_receipt_key(wanted text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_receipt_key(wanted text) TO holdfast_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.folders TO holdfast_app;

REVOKE ALL ON FUNCTION public.forget_vectors() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.note_agent_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.note_attempt() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.note_batch_event() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.note_batch_key() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.note_key_creator() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.note_run_event() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.note_run_progress() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.note_turn_events() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.orphan_runs(vector_spaces integer[], vector_runs integer[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.orphan_runs(vector_spaces integer[], vector_runs integer[]) TO holdfast_app;

REVOKE ALL ON FUNCTION public.place_events(of_organization uuid, at_most integer, OUT placed integer, OUT has_webhooks boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.place_events(of_organization uuid, at_most integer, OUT placed integer, OUT has_webhooks boolean) TO holdfast_system;

REVOKE ALL ON FUNCTION public.release_response_contents() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.removed_users(ids uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.removed_users(ids uuid[]) TO holdfast_system;

REVOKE ALL ON FUNCTION public.report_leaked_keys(hashes bytea[], at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.report_leaked_keys(hashes bytea[], at_most integer) TO holdfast_app;

REVOKE ALL ON FUNCTION public.revoke_leaked_keys(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.revoke_leaked_keys(at_most integer) TO holdfast_app;

REVOKE ALL ON FUNCTION public.tell_agents_changed() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.tenant_tables() FROM PUBLIC;
GRANT ALL ON FUNCTION public.tenant_tables() TO holdfast_maintenance;

REVOKE ALL ON FUNCTION public.touch_api_keys(key_ids uuid[], used_at timestamp with time zone[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.touch_api_keys(key_ids uuid[], used_at timestamp with time zone[]) TO holdfast_app;

REVOKE ALL ON FUNCTION public.touch_caller_keys(key_ids uuid[], used_at timestamp with time zone[], ips inet[], user_agents text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.touch_caller_keys(key_ids uuid[], used_at timestamp with time zone[], ips inet[], user_agents text[]) TO holdfast_app;

GRANT SELECT,DELETE ON TABLE public.agent_changes TO holdfast_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.agents TO holdfast_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.agents TO holdfast_maintenance;

GRANT SELECT(id) ON TABLE public.agents TO holdfast_system;

GRANT SELECT(conversation_count),UPDATE(conversation_count) ON TABLE public.agents TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.api_processes TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.api_processes TO holdfast_system;

GRANT SELECT ON TABLE public.audit_chains TO holdfast_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.audit_chains TO holdfast_maintenance;

GRANT SELECT ON TABLE public.audit_log TO holdfast_app;
GRANT SELECT,DELETE ON TABLE public.audit_log TO holdfast_maintenance;

GRANT UPDATE(chain_seq) ON TABLE public.audit_log TO holdfast_maintenance;

GRANT UPDATE(chain_hash) ON TABLE public.audit_log TO holdfast_maintenance;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.batches TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.batches TO holdfast_system;

GRANT SELECT,INSERT ON TABLE public.budgets_reached TO holdfast_app;
GRANT SELECT,DELETE ON TABLE public.budgets_reached TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.chunks TO holdfast_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.claim_turns TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.claim_turns TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.claims TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.claims TO holdfast_system;

GRANT SELECT ON TABLE public.cut_overs TO holdfast_system;

GRANT INSERT(name) ON TABLE public.cut_overs TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.deletions TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.deletions TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.documents TO holdfast_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.embedding_cache TO holdfast_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.embedding_cache_references TO holdfast_app;

GRANT SELECT,INSERT ON TABLE public.embedding_models TO holdfast_app;
GRANT SELECT ON TABLE public.embedding_models TO holdfast_system;
GRANT SELECT ON TABLE public.embedding_models TO holdfast_maintenance;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.embeddings TO holdfast_app;
GRANT SELECT,DELETE ON TABLE public.embeddings TO holdfast_maintenance;

GRANT SELECT ON TABLE public.event_positions TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.event_positions TO holdfast_system;

GRANT SELECT,INSERT ON TABLE public.events TO holdfast_app;
GRANT DELETE ON TABLE public.events TO holdfast_system;

GRANT SELECT(num) ON TABLE public.events TO holdfast_system;

GRANT SELECT(organization_id) ON TABLE public.events TO holdfast_system;

GRANT SELECT("position"),UPDATE("position") ON TABLE public.events TO holdfast_system;

GRANT SELECT(type) ON TABLE public.events TO holdfast_system;

GRANT SELECT(occurred_at) ON TABLE public.events TO holdfast_system;

GRANT SELECT(space_id) ON TABLE public.events TO holdfast_system;

GRANT SELECT(resource_id) ON TABLE public.events TO holdfast_system;

GRANT SELECT(space_ids) ON TABLE public.events TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.hidden_runs TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.hidden_runs TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.idempotency_keys TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.idempotency_keys TO holdfast_system;

GRANT SELECT,INSERT ON TABLE public.instance_secrets TO holdfast_app;
GRANT SELECT,UPDATE ON TABLE public.instance_secrets TO holdfast_maintenance;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.kept_turn_pieces TO holdfast_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.kept_turns TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.kept_turns TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.language_fits TO holdfast_app;
GRANT SELECT ON TABLE public.language_fits TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mcp_answer_messages TO holdfast_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mcp_answers TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mcp_answers TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mcp_sessions TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mcp_sessions TO holdfast_system;

GRANT SELECT ON TABLE public.migrations TO holdfast_app;
GRANT SELECT ON TABLE public.migrations TO holdfast_system;
GRANT SELECT ON TABLE public.migrations TO holdfast_maintenance;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.openai_files TO holdfast_app;

GRANT SELECT,UPDATE ON TABLE public.operations TO holdfast_system;
GRANT SELECT,INSERT,UPDATE ON TABLE public.operations TO holdfast_maintenance;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.organization_keys TO holdfast_app;
GRANT SELECT,DELETE,UPDATE ON TABLE public.organization_keys TO holdfast_maintenance;

GRANT SELECT,UPDATE ON TABLE public.orphan_counts TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.pipeline_runs TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.pipeline_runs TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.posting_runs TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.posting_runs TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.posting_segments TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.posting_segments TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.postings TO holdfast_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.processes TO holdfast_system;

GRANT SELECT,INSERT,UPDATE ON TABLE public.provider_gates TO holdfast_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.provider_gates TO holdfast_system;

GRANT SELECT,INSERT,UPDATE ON TABLE public.rate_limits TO holdfast_app;
GRANT SELECT,DELETE ON TABLE public.rate_limits TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.raw_files TO holdfast_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.response_contents TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.response_contents TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.response_events TO holdfast_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.response_items TO holdfast_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.response_usage TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.response_usage TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.responses TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.responses TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.space_statistics TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.space_statistics TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.text_blocks TO holdfast_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.turn_calls TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.turn_calls TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.turns TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.turns TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.upload_intents TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.upload_intents TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.vector_indexes TO holdfast_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.vector_indexes TO holdfast_system;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.vector_indexes TO holdfast_maintenance;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.vector_store_batches TO holdfast_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.vector_store_files TO holdfast_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.vector_stores TO holdfast_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.webhook_deliveries TO holdfast_app;
GRANT DELETE ON TABLE public.webhook_deliveries TO holdfast_system;

GRANT SELECT(num) ON TABLE public.webhook_deliveries TO holdfast_system;

GRANT SELECT(organization_id) ON TABLE public.webhook_deliveries TO holdfast_system;

GRANT SELECT(webhook_id) ON TABLE public.webhook_deliveries TO holdfast_system;

GRANT SELECT(status) ON TABLE public.webhook_deliveries TO holdfast_system;

GRANT SELECT(attempts) ON TABLE public.webhook_deliveries TO holdfast_system;

GRANT SELECT(next_attempt_at) ON TABLE public.webhook_deliveries TO holdfast_system;

GRANT SELECT(created_at) ON TABLE public.webhook_deliveries TO holdfast_system;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.webhook_replays TO holdfast_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.webhooks TO holdfast_app;
GRANT DELETE ON TABLE public.webhooks TO holdfast_system;

GRANT SELECT(id) ON TABLE public.webhooks TO holdfast_system;

GRANT SELECT(organization_id) ON TABLE public.webhooks TO holdfast_system;

GRANT SELECT(space_id) ON TABLE public.webhooks TO holdfast_system;

GRANT SELECT(types) ON TABLE public.webhooks TO holdfast_system;

GRANT SELECT(status) ON TABLE public.webhooks TO holdfast_system;

GRANT SELECT(status_reason) ON TABLE public.webhooks TO holdfast_system;

GRANT SELECT("position"),UPDATE("position") ON TABLE public.webhooks TO holdfast_system;

GRANT SELECT(failing_since) ON TABLE public.webhooks TO holdfast_system;

GRANT SELECT(failures) ON TABLE public.webhooks TO holdfast_system;

GRANT SELECT(is_resting) ON TABLE public.webhooks TO holdfast_system;

GRANT SELECT(next_attempt_at) ON TABLE public.webhooks TO holdfast_system;

GRANT SELECT(leased_until),UPDATE(leased_until) ON TABLE public.webhooks TO holdfast_system;

GRANT SELECT(deleted_at) ON TABLE public.webhooks TO holdfast_system;

INSERT INTO public.migrations (name) VALUES ('0001_tenancy.sql');
INSERT INTO public.migrations (name) VALUES ('0002_documents.sql');
INSERT INTO public.migrations (name) VALUES ('0003_search.sql');
INSERT INTO public.migrations (name) VALUES ('0004_agents.sql');
INSERT INTO public.migrations (name) VALUES ('0005_maintenance.sql');
INSERT INTO public.migrations (name) VALUES ('0006_kept_turns.sql');
INSERT INTO public.migrations (name) VALUES ('0007_audit_chain.sql');
INSERT INTO public.migrations (name) VALUES ('0008_rate_limits.sql');
INSERT INTO public.migrations (name) VALUES ('0009_operations.sql');
INSERT INTO public.migrations (name) VALUES ('0010_vector_indexes.sql');
INSERT INTO public.migrations (name) VALUES ('0011_lanes_and_waits.sql');
INSERT INTO public.migrations (name) VALUES ('0012_refused_chunks.sql');
INSERT INTO public.migrations (name) VALUES ('0013_turns_of_outboxes.sql');
INSERT INTO public.migrations (name) VALUES ('0014_keys.sql');
INSERT INTO public.migrations (name) VALUES ('0015_cut_overs.sql');
INSERT INTO public.migrations (name) VALUES ('0016_logins.sql');
INSERT INTO public.migrations (name) VALUES ('0017_documents_of_answers.sql');
INSERT INTO public.migrations (name) VALUES ('0018_emails.sql');
INSERT INTO public.migrations (name) VALUES ('0019_turns_of_user.sql');
INSERT INTO public.migrations (name) VALUES ('0020_events.sql');
INSERT INTO public.migrations (name) VALUES ('0021_webhooks.sql');
INSERT INTO public.migrations (name) VALUES ('0022_locations.sql');
INSERT INTO public.migrations (name) VALUES ('0024_require_support.sql');
INSERT INTO public.migrations (name) VALUES ('0025_receipts.sql');
INSERT INTO public.migrations (name) VALUES ('0026_attempts.sql');
INSERT INTO public.migrations (name) VALUES ('0027_agent_history.sql');
INSERT INTO public.migrations (name) VALUES ('0028_processes.sql');
INSERT INTO public.migrations (name) VALUES ('0029_vector_stores.sql');
INSERT INTO public.migrations (name) VALUES ('0030_responses.sql');
INSERT INTO public.migrations (name) VALUES ('0031_mcp.sql');
INSERT INTO public.migrations (name) VALUES ('0032_chunk_headers.sql');
INSERT INTO public.migrations (name) VALUES ('0033_language_fit.sql');
INSERT INTO public.migrations (name) VALUES ('0034_reranks.sql');
INSERT INTO public.migrations (name) VALUES ('0035_response_items.sql');
INSERT INTO public.migrations (name) VALUES ('0040_agents_told.sql');
INSERT INTO public.migrations (name) VALUES ('0041_ownership.sql');
INSERT INTO public.cut_overs (name) VALUES ('bound_payloads'), ('response_items');
INSERT INTO public.orphan_counts DEFAULT VALUES;
