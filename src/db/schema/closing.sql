-- How the rows of an organization that was closed are deleted.

-- Nobody gets into the organization from here on, and nothing opens it again. Idempotent: one that is closed
-- keeps its time.
create function close_organization(organization uuid) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update public.organizations set deleted_at = now() where id = organization and deleted_at is null;
end $$;

-- The tables that hold rows of organizations, as the catalogue names them. Their keys and the organizations
-- themselves, which go last, are left out, and vectors, which maintenance deletes itself, and their spaces.
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

-- Deletes at most `at_most` rows of one table of a closed organization. @returns how many; null if other rows
-- still refer to some.
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
