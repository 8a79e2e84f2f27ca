-- Each process logs in with no more than it needs. `holdfast_maintenance` is the fourth role: bookkeeping across organizations, directories, wrapped keys and
-- indexes of vectors; no text of documents. What else needed the owner's rights goes through the functions below.

-- Roles belong to the whole cluster, and another database of it may be migrated at the same time.
do $$
begin
  begin
    if not exists (select from pg_roles where rolname = 'holdfast_maintenance') then create role holdfast_maintenance nologin; end if;
  exception when duplicate_object or unique_violation then null;
  end;
  if not pg_has_role(current_user, 'holdfast_maintenance', 'set') then execute format('grant holdfast_maintenance to %I', current_user); end if;
end $$;

grant usage on schema public to holdfast_maintenance;
-- Every process looks whether the schema is up to date.
grant select on migrations to holdfast_app, holdfast_system, holdfast_maintenance;

-- An index is built concurrently, which no function can do, and takes the ownership of its table and the right to create in its schema. So the partitions of
-- vectors have a schema of their own: who may create in `public` could plant functions there that the owner's next migration calls.
-- Who owns a table decides what runs when it is read or written: triggers, policies, and the functions in its constraints and in the predicates of its indexes,
-- which the planner calls. So nothing that has the owner's rights reads or writes `embeddings`.
create schema vectors;
grant usage, create on schema vectors to holdfast_maintenance;
do $$
declare
  part regclass;
begin
  for part in select inhrelid::regclass from pg_inherits where inhparent = 'embeddings'::regclass order by inhrelid::regclass::text loop
    execute format('alter table %s set schema vectors', part);
    execute format('alter table %s owner to holdfast_maintenance', part);
  end loop;
end $$;
create policy maintenance on embeddings to holdfast_maintenance using (true) with check (false);
grant select, delete on embeddings to holdfast_maintenance;
grant select on embedding_models to holdfast_maintenance;
create policy maintenance on vector_indexes to holdfast_maintenance using (true) with check (true);
grant select, insert, update, delete on vector_indexes to holdfast_maintenance;

-- A space takes its vectors with it: workers of the version before look for them in the schema `public` alone. With the rights of who deletes the space: a role
-- that the function belonged to could be made, by what is planted on these tables, to change the function.
create function forget_vectors() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  delete from public.embeddings where space_num = old.num;
  return null;
end $$;
create trigger forget_vectors after delete on spaces for each row execute function forget_vectors();
revoke execute on function forget_vectors from public;

-- What provisioning, the command line, imports and the rotation of keys read and write across organizations. Keys are stored hashed or wrapped.
do $$
declare
  directory text;
begin
  foreach directory in array array['organizations', 'organization_keys', 'users', 'spaces', 'space_members', 'agents', 'api_keys', 'api_key_spaces', 'superseded_keys', 'audit_chains'] loop
    execute format('create policy maintenance on %I to holdfast_maintenance using (true) with check (true)', directory);
  end loop;
end $$;
grant select, insert, update on users, spaces, agents, api_keys to holdfast_maintenance;
-- The trigger of a space that is deleted goes to its vectors, so that no function with the owner's rights deletes one.
create policy maintenance_deletes on spaces as restrictive for delete to holdfast_maintenance
  using (exists (select from organizations o where o.id = organization_id and o.deleted_at is not null));
grant delete on spaces to holdfast_maintenance;
-- An organization is closed by a function alone, for good: one that was emptied must not look as if nothing had been.
create policy maintenance_deletes on organizations as restrictive for delete to holdfast_maintenance using (deleted_at is not null);
grant select, delete, insert (id, name, max_key_lifetime_seconds, default_key_lifetime_seconds), update (name, max_key_lifetime_seconds, default_key_lifetime_seconds)
  on organizations to holdfast_maintenance;
grant select, insert, update on superseded_keys to holdfast_maintenance;
grant select, insert, update, delete on space_members, api_key_spaces to holdfast_maintenance;
grant select, update, delete on organization_keys to holdfast_maintenance;
grant select, update on instance_secrets to holdfast_maintenance;
grant select, insert, update on operations to holdfast_maintenance;
-- Rows are appended by the function; the chain's job links them and deletes those that are over their 400 days, to which clocks may add one.
create policy maintenance_reads on audit_log for select to holdfast_maintenance using (true);
create policy maintenance_links on audit_log for update to holdfast_maintenance using (true) with check (true);
create policy maintenance_expires on audit_log for delete to holdfast_maintenance using (chain_seq is not null and at < now() - interval '399 days');
grant execute on function append_audit_rows to holdfast_maintenance;
grant select, delete on audit_log to holdfast_maintenance;
grant update (chain_seq, chain_hash) on audit_log to holdfast_maintenance;
grant select, insert, update on audit_chains to holdfast_maintenance;

-- Nobody gets into the organization from here on, and nothing opens it again. Idempotent: one that is closed keeps its time.
create function close_organization(organization uuid) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update public.organizations set deleted_at = now() where id = organization and deleted_at is null;
end $$;

-- The tables that hold rows of organizations, as the catalogue names them. Their keys and the organizations themselves, which go last, are left out, and vectors,
-- which maintenance deletes itself, and their spaces.
create function tenant_tables() returns table (tenant_table regclass, by_column name) language sql stable set search_path = pg_catalog, pg_temp as $$
  select distinct on (c.oid) c.oid::regclass, a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid and not a.attisdropped
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attname in ('organization_id', 'organization_num')
    and c.relname not in ('organizations', 'organization_keys', 'spaces')
  order by c.oid, a.attname
$$;

-- @returns the number of an organization that was closed; null where there is no such organization any more.
create function closed_organization_num(organization uuid) returns int language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  found record;
begin
  select o.num, o.deleted_at into found from public.organizations o where o.id = organization;
  if found.num is not null and found.deleted_at is null then raise exception 'the organization is not closed' using errcode = 'insufficient_privilege'; end if;
  return found.num;
end $$;

-- Deletes at most `at_most` rows of one table, of an organization that was closed before. @returns how many; null where other rows still refer to some.
create function delete_rows_of_closed(organization uuid, from_table regclass, at_most int) returns int
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
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
end $$;

-- Rows of a closed organization in all tables but those of vectors, its keys and spaces included.
create function count_rows_of_closed(organization uuid) returns bigint language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
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

revoke execute on function close_organization, tenant_tables, closed_organization_num, delete_rows_of_closed, count_rows_of_closed from public;
grant execute on function close_organization, tenant_tables, delete_rows_of_closed, count_rows_of_closed to holdfast_maintenance;

-- Run numbers of the transaction's organization that left something behind: whose row is gone, or whose search entries no version serves. The tables are
-- indexed by run over all organizations, so the steps through an index see every run; rows of no other organization come out. Which runs have vectors in which
-- spaces is what the caller sees of its own.
create function orphan_runs(vector_spaces int[], vector_runs int[]) returns table (run_num int, space_num int, kind text) language plpgsql stable security definer set search_path = public, pg_temp as $$
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

-- How much of the transaction's organization is not as it should be; `run_nums` and `run_terms` are what its postings were counted to hold, `vector_runs`
-- and `vector_counts` how many chunks of a run have a vector or are refused one. Each count must be 0.
create function count_faults(run_nums int[], run_terms bigint[], vector_runs int[], vector_counts bigint[])
  returns table (published_incomplete int, published_hidden int, runs_without_claim int, documents_without_file int, statistics_wrong int)
  language plpgsql stable security definer set search_path = public, pg_temp as $$
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

revoke execute on function orphan_runs, count_faults from public;
grant execute on function orphan_runs, count_faults to holdfast_app;
