-- The wall between organizations. Roles, policies and rights are declared in src/db/access/declared.ts, which
-- `migrate` makes true after these files.

create extension if not exists vector;

-- The organization of the running transaction; null (and so no row) where none was set.
create function current_organization_id() returns uuid language sql stable parallel safe
  return nullif(current_setting('app.organization_id', true), '')::uuid;

create function current_organization_num() returns int language sql stable parallel safe
  return nullif(current_setting('app.organization_num', true), '')::int;

-- For a migration that adds a tenant table: `app` sees and writes only its organization's rows.
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

-- For a migration that adds bookkeeping read across organizations: ids and states, no content.
create procedure open_to_system(bookkeeping_table regclass) language plpgsql as $$
begin
  execute format('create policy system on %s to holdfast_system using (true) with check (true)', bookkeeping_table);
  execute format('grant select, insert, update, delete on %s to holdfast_system', bookkeeping_table);
end $$;
