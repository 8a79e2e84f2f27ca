-- Items of kept responses are rows, sealed apart, so that a request opens only those that it answers, and a response
-- that goes on from another refers to its items. Rows of the version before stay as they are; they have no contents.
alter table responses
  add column is_itemized boolean not null default false,
  -- Sealed bytes of its events.
  add column event_bytes bigint not null default 0;

-- The input and the output of a response, under its id. They outlive it for as long as one goes on from it.
create table response_contents (
  organization_id uuid not null references organizations,
  id uuid not null,
  user_id uuid not null,
  -- The contents that come before these.
  before_id uuid,
  -- Sealed bytes of its own items.
  bytes bigint not null,
  -- Lengths of what the model is shown of them and of all that comes before: texts, and the addresses of pictures.
  text_characters bigint not null,
  image_characters bigint not null,
  primary key (organization_id, id),
  foreign key (organization_id, before_id) references response_contents
);
create index on response_contents (organization_id, before_id);
call protect_tenant_table('response_contents');
call open_to_system('response_contents');

create table response_items (
  organization_id uuid not null,
  response_id uuid not null,
  is_output boolean not null,
  -- Counts from 0 in the input, and again in the output.
  place int not null,
  -- Of its id, which clients may choose.
  id_digest bytea not null,
  -- Whether a model that goes on from it is shown it.
  is_shown boolean not null,
  characters int not null,
  image_characters int not null,
  key_id uuid not null,
  sealed bytea not null,
  primary key (organization_id, response_id, is_output, place),
  foreign key (organization_id, response_id) references response_contents on delete cascade
);
-- Nothing that is sealed can be compressed.
alter table response_items alter column sealed set storage external;
call protect_tenant_table('response_items');

-- How many sealed bytes of responses are kept for each user.
create table response_usage (
  organization_id uuid not null references organizations,
  user_id uuid not null,
  bytes bigint not null,
  primary key (organization_id, user_id)
);
call protect_tenant_table('response_usage');
call open_to_system('response_usage');

-- With the rights of who writes. Triggers count, because processes of the version before write and delete too.
create function count_response_bytes() returns trigger language plpgsql set search_path = public, pg_temp as $$
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
revoke execute on function count_response_bytes from public;
create trigger count_response_bytes
  after insert or delete or update of sealed_request, sealed_response, event_bytes on responses
  for each row execute function count_response_bytes();
create trigger count_response_bytes
  after insert or delete or update of bytes on response_contents
  for each row execute function count_response_bytes();

-- Deletes the contents of a response that is gone, and then those before it, up to the first that a response has or
-- goes on from. Each statement sees what was committed before it: who goes on from them holds a lock on their row.
create function release_response_contents() returns trigger language plpgsql set search_path = public, pg_temp as $$
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
revoke execute on function release_response_contents from public;
create trigger release_response_contents after delete on responses
  for each row execute function release_response_contents();

insert into response_usage (organization_id, user_id, bytes)
select organization_id,
       user_id,
       sum(octet_length(sealed_request) + coalesce(octet_length(sealed_response), 0))
from responses
group by 1, 2;

-- Items are written only once no process of the version before runs, which could not read them.
alter table processes add column reads_response_items boolean not null default false;
insert into cut_overs (name)
select 'response_items'
where not exists (select from instance_secrets);
